"""A client of the standard x402 facilitator API. It decides nothing: it says what is known of a settlement.

Unsettled              no settlement that we know of
├── NotSent            the call never left: nothing can have been charged
├── Declined           the facilitator refused for good, as far as this one call tells
└── Undecided          anything else: the payment may have been made
    └── NoEvidence     this facilitator does not say what became of earlier payments
"""

from __future__ import annotations

import re
from typing import TypeVar
from urllib.parse import quote

import aiohttp
import msgspec

from shared.x402.wire import Evidence, FacilitatorCall, Offer, Payment, Settlement, Verification

T = TypeVar("T")

MAX_ANSWER_BYTES = 64 * 1024
_VERIFY_TIMEOUT_S = 5.0
EVIDENCE_TIMEOUT_S = 5.0
_OPEN_REASONS = ("settlement_pending", "unexpected_")
REASON = re.compile(r"[a-z0-9_]{1,80}", re.ASCII)
"""The form of a reason in the specification's words. Anything else is not repeated in our headers."""


class Unsettled(Exception):
    """No settlement that we know of."""


class NotSent(Unsettled):
    """The facilitator could not be reached at all."""


class Declined(Unsettled):
    """The facilitator says no.

    Args:
        reason: in the specification's words; it goes into headers.
    """

    def __init__(self, reason: str, settlement: Settlement) -> None:
        super().__init__(reason)
        self.reason = reason
        self.settlement = msgspec.structs.replace(settlement, error_reason=reason, error_message=None)


class Undecided(Unsettled):
    """Timed out, unreadable, pending, or not in agreement with what was asked."""


class NoEvidence(Undecided):
    """This facilitator does not say what became of earlier payments."""


class Facilitator:
    """One facilitator.

    Args:
        url: its base address.
        settle_timeout_s: longest wait for one settlement.
    """

    def __init__(self, url: str, *, settle_timeout_s: float) -> None:
        self.url = url.rstrip("/")
        self._settle_timeout_s = settle_timeout_s
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        """Open the connection pool, on the running event loop."""
        # No proxy from the environment: a payment goes to the configured address and nowhere else.
        self._session = aiohttp.ClientSession(
            trust_env=False, connector=aiohttp.TCPConnector(limit=256, ttl_dns_cache=60)
        )

    async def stop(self) -> None:
        """Close the connection pool."""
        if self._session is not None:
            await self._session.close()

    async def settle(self, payment: Payment, offer: Offer, *, payer: str) -> Settlement:
        """Settle one payment.

        Returns:
            A settlement that succeeded, on the offer's network, with a transaction, from `payer`.

        Raises:
            NotSent, Declined, Undecided.
        """
        status, answer = await self._post("/settle", payment, offer, Settlement, timeout_s=self._settle_timeout_s)
        if answer.success:
            same_payer = answer.payer is None or answer.payer.lower() == payer.lower()
            same_amount = answer.amount in (None, offer.amount)
            if not (answer.transaction and answer.network == offer.network and same_payer and same_amount):
                raise Undecided("the facilitator's success does not describe this payment")
            return msgspec.structs.replace(answer, payer=payer, amount=offer.amount)
        reason = answer.error_reason or ""
        # A facilitator in trouble, or one that names a transaction, has not decided, whatever it says.
        if status >= 500 or answer.transaction or not reason or reason.startswith(_OPEN_REASONS):
            raise Undecided(reason[:80] or "no reason given")
        raise Declined(reason if REASON.fullmatch(reason) else "settlement_failed", answer)

    async def verify(self, payment: Payment, offer: Offer) -> Verification:
        """Ask about a payment that cannot be checked offline. Raises Unsettled when there is no usable answer."""
        _, answer = await self._post("/verify", payment, offer, Verification, timeout_s=_VERIFY_TIMEOUT_S)
        return answer

    async def evidence(self, payment_id: str) -> Evidence:
        """What the chain says of a payment. Only our own facilitator answers this. Raises Unsettled without an answer."""
        status, body = await self._exchange(
            "GET", f"/settlements/{quote(payment_id, safe='')}", None, timeout_s=EVIDENCE_TIMEOUT_S
        )
        if status in (404, 405, 501):
            raise NoEvidence(f"HTTP {status}")
        if status != 200:
            raise Undecided(f"no evidence: HTTP {status}")
        return _decode(body, Evidence)

    async def reachable(self) -> bool:
        """Whether it answers /supported."""
        try:
            status, _ = await self._exchange("GET", "/supported", None, timeout_s=_VERIFY_TIMEOUT_S)
        except Unsettled:
            return False
        return status == 200

    async def _post(
        self, path: str, payment: Payment, offer: Offer, kind: type[T], *, timeout_s: float
    ) -> tuple[int, T]:
        call = FacilitatorCall(payment_payload=payment, payment_requirements=offer)
        # The JSON is read on every status: some facilitators send business failures with 4xx and 5xx.
        status, body = await self._exchange("POST", path, msgspec.json.encode(call), timeout_s=timeout_s)
        return status, _decode(body, kind)

    async def _exchange(self, method: str, path: str, body: bytes | None, *, timeout_s: float) -> tuple[int, bytes]:
        assert self._session is not None, "start() comes first"
        try:
            async with self._session.request(
                method,
                self.url + path,
                data=body,
                headers={"Content-Type": "application/json"} if body else None,
                timeout=aiohttp.ClientTimeout(total=timeout_s),
                allow_redirects=False,
            ) as response:
                answer = await response.content.read(MAX_ANSWER_BYTES + 1)
                while len(answer) <= MAX_ANSWER_BYTES and (more := await response.content.read(MAX_ANSWER_BYTES)):
                    answer += more
        except aiohttp.ClientConnectorError as error:
            raise NotSent(type(error).__name__) from None
        except (TimeoutError, aiohttp.ClientError) as error:
            raise Undecided(type(error).__name__) from None
        if len(answer) > MAX_ANSWER_BYTES:
            raise Undecided("the answer is too long")
        return response.status, answer


def _decode(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError):
        raise Undecided("the answer cannot be read") from None
