"""A client of the standard x402 facilitator API, for our own facilitator and any other.

It decides nothing. It returns what is known of a settlement, or raises why nothing is known (unsettled.py).
"""

import asyncio
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import quote

import aiohttp
import msgspec

from api.payment import answers
from api.payment.answers import BazaarStatus
from api.payment.circuit import Circuit
from api.payment.unsettled import Failing, NoEvidence, NotSent, Undecided, Unsettled
from shared.observability.logs import call_ids
from shared.settings.cdp_key import CdpKey
from shared.x402.wire import Evidence, FacilitatorCall, Offer, Payment, Settlement, Supported, Verification

MAX_ANSWER_BYTES = 64 * 1024
EVIDENCE_TIMEOUT_S = 5.0
_QUESTION_TIMEOUT_S = 5.0
_CONNECT_TIMEOUT_S = 2.0
_IDLE_S = 4.0
"""A connection that was idle for longer is not used again. Node's servers close theirs after 5 s, and nobody knows what becomes
of a payment that is sent into a closing connection."""

# Calls that are under way at a time: a slow facilitator must not take connections without bound, nor be made slower.
SETTLES_AT_ONCE = 256
_VERIFIES_AT_ONCE = 32
_LOOK_UPS_AT_ONCE = 64
_WAIT_SHARE = 1 / 8
"""Part of a call's time limit that it may wait until fewer calls are under way."""
_NO_EVIDENCE = (403, 404, 405, 410, 501)
"""HTTP statuses of a facilitator without evidence. Some gateways answer 403 for paths that they do not know."""


class _Answer(NamedTuple):
    status: int
    body: bytes
    extension_responses: str


class Facilitator:
    """One facilitator. It keeps nothing of a payment, so any call may be repeated.

    Args:
        url: base address, with or without a path.
        settle_timeout_s: longest wait for one settlement, in seconds.
        headers: sent with every call. Secret.
        cdp_key: signs every call, where the facilitator is Coinbase's.
        circuit: counts the failures of settle calls.
    """

    def __init__(
        self,
        url: str,
        *,
        settle_timeout_s: float,
        headers: Mapping[str, str] | None = None,
        cdp_key: CdpKey | None = None,
        circuit: Circuit | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.circuit = circuit or Circuit()
        self.settle_timeout_s = settle_timeout_s
        self._headers = dict(headers or {})
        self._cdp_key = cdp_key
        self._settles = asyncio.Semaphore(SETTLES_AT_ONCE)
        self._verifies = asyncio.Semaphore(_VERIFIES_AT_ONCE)
        self._look_ups = asyncio.Semaphore(_LOOK_UPS_AT_ONCE)
        self._session: aiohttp.ClientSession | None = None
        self._connector: aiohttp.TCPConnector | None = None

    async def start(self) -> None:
        """Open the connection pool, on the running event loop."""
        self._connector = aiohttp.TCPConnector(
            # No limit here: a wait for a connection would look like a wait for an answer.
            limit=0,
            ttl_dns_cache=60,
            keepalive_timeout=_IDLE_S,
            socket_factory=_forgetful_socket,
        )
        self._session = aiohttp.ClientSession(
            headers=self._headers,
            # No proxy from the environment: a payment goes to the configured address and nowhere else.
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=self._connector,
        )

    async def stop(self) -> None:
        """Close the connection pool."""
        if self._session is not None:
            await self._session.close()

    async def settle(
        self,
        payment: Payment,
        offer: Offer,
        *,
        payer: str,
        on_status: Callable[[BazaarStatus], None] = lambda status: None,
    ) -> Settlement:
        """Settle one payment, on the terms of its `accepted`.

        Args:
            offer: what the chain is to show: of a deposit into a channel its amount and its collector.
            on_status: is called with what the facilitator says of its catalogue, where it says something.

        Returns:
            A settlement that succeeded, on the offer's network, with a transaction, from `payer`.

        Raises:
            NotSent, Declined, Undecided.
        """
        async with _permit(self._settles, self.settle_timeout_s) as left_s:
            openings = self.circuit.openings
            try:
                answer = await self._post("/settle", payment, timeout_s=left_s)
                if status := answers.bazaar_status(answer.extension_responses):
                    on_status(status)
                settlement = answers.settlement(answer.status, answer.body, offer, payer)
            except (NotSent, Failing):
                self.circuit.failed(openings)
                raise
            except Unsettled:
                self.circuit.worked()
                raise
            self.circuit.worked()
            return settlement

    async def verify(self, payment: Payment) -> Verification:
        """Ask about a payment that cannot be checked offline. Raises Unsettled when there is no usable answer."""
        async with _permit(self._verifies, _QUESTION_TIMEOUT_S) as left_s:
            openings = self.circuit.openings
            try:
                answer = await self._post("/verify", payment, timeout_s=left_s)
            except NotSent:
                # Other failures do not count: the payer's contract may be slow, or fail, on purpose.
                self.circuit.failed(openings)
                raise
        return answers.verification(answer.status, answer.body)

    async def evidence(self, payment_id: str) -> Evidence:
        """What the chain shows of a payment. Only our own facilitator answers this.

        Raises:
            NoEvidence: this facilitator never answers it.
            Unsettled: there was no usable answer.
        """
        if self._cdp_key is not None:
            # Nobody says what Coinbase's gateway answers for a path that it does not have.
            raise NoEvidence("Coinbase's facilitator has none")
        async with _permit(self._look_ups, EVIDENCE_TIMEOUT_S) as left_s:
            status, body, _ = await self._exchange(
                "GET", f"/settlements/{quote(payment_id, safe='')}", None, timeout_s=left_s
            )
        if status in _NO_EVIDENCE:
            raise NoEvidence(f"HTTP {status}")
        if status != 200:
            raise Undecided(f"no evidence: HTTP {status}")
        return answers.decode(body, Evidence)

    async def supported(self) -> Supported:
        """What the facilitator says that it can settle.

        Raises:
            NotSent, Failing: it does not answer.
            Undecided: its answer cannot be used.
        """
        status, body, _ = await self._exchange("GET", "/supported", None, timeout_s=_QUESTION_TIMEOUT_S)
        if status >= 500:
            raise Failing(f"HTTP {status}")
        if status != 200:
            raise Undecided(f"HTTP {status}")
        return answers.decode(body, Supported)

    async def _post(self, path: str, payment: Payment, *, timeout_s: float) -> _Answer:
        call = FacilitatorCall(payment_payload=payment, payment_requirements=payment.accepted)
        return await self._exchange("POST", path, msgspec.json.encode(call), timeout_s=timeout_s)

    async def _exchange(self, method: str, path: str, body: bytes | None, *, timeout_s: float) -> _Answer:
        """The answer, whatever its status: some facilitators refuse payments with 4xx and 5xx."""
        assert self._session is not None, "start() comes first"
        assert self._connector is not None, "start() comes first"
        # Nothing was sent when connecting times out. Connecting gets half of a short time limit.
        connect_s = min(_CONNECT_TIMEOUT_S, timeout_s / 2)
        url = self.url + path
        try:
            async with self._session.request(
                method,
                url,
                data=body,
                headers=self._headers_of(method, url, has_body=body is not None),
                timeout=aiohttp.ClientTimeout(total=timeout_s, connect=connect_s),
                allow_redirects=False,
            ) as response:
                answer = await response.content.read(MAX_ANSWER_BYTES + 1)
                while len(answer) <= MAX_ANSWER_BYTES and (more := await response.content.read(MAX_ANSWER_BYTES)):
                    answer += more
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            self._connector.clear_dns_cache()  # a container that was restarted has another address
            raise NotSent(type(error).__name__) from None
        except (OSError, aiohttp.ClientError) as error:  # TimeoutError is an OSError
            raise Failing(type(error).__name__) from None
        if len(answer) > MAX_ANSWER_BYTES:
            raise Failing("the answer is too long")
        return _Answer(response.status, answer, response.headers.get("EXTENSION-RESPONSES", ""))

    def _headers_of(self, method: str, url: str, *, has_body: bool) -> dict[str, str]:
        """The headers of one exchange, with the id of the call's request for the facilitator's log."""
        headers = {"Content-Type": "application/json"} if has_body else {}
        if self._cdp_key is not None:
            headers |= self._cdp_key.headers(method, url)
        ids = call_ids.get()
        return headers if ids is None else {**headers, "X-Request-Id": ids.request_id}


def _forgetful_socket(address: tuple[Any, ...]) -> socket.socket:
    """One that drops what it has not sent when it is closed. By default the kernel would go on: a settle call that was given up
    while the network was down would arrive when it is back, beside the next attempt."""
    family, kind, protocol = address[:3]
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return made


@asynccontextmanager
async def _permit(permits: asyncio.Semaphore, timeout_s: float) -> AsyncIterator[float]:
    """Limit the calls that are under way. Yields what is left of the time limit; raises NotSent when none may start in time."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(timeout_s * _WAIT_SHARE):
            await permits.acquire()
    except TimeoutError:
        raise NotSent("too many calls are under way") from None
    try:
        yield timeout_s - (time.monotonic() - began)
    finally:
        permits.release()
