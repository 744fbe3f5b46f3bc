"""Which payments go to the facilitator that lists them, as the API writes it to the ledger."""

import contextlib
import logging
import time

import msgspec

from api.payment import transitions
from api.payment.answers import BazaarStatus
from api.redis_client import Commands, RedisLost, RedisRefused, Script
from shared.ledger.keys import payment_keys
from shared.ledger.listing import DAYS_BETWEEN

log = logging.getLogger(__name__)

_DAY_MS = 24 * 3600 * 1000
LISTED_MS = DAYS_BETWEEN * _DAY_MS
REJECTED_MS = _DAY_MS
"""How long after a settlement that the catalogue did not take the next one goes there."""
HOLD_MS = 3600 * 1000
"""How long after any other try the next payment goes there. One of its refusals can meet a caller at most that often."""
ASK_AGAIN_S = 60.0
"""How long a process remembers that a turn is taken. Meanwhile its calls send nothing to the ledger for it."""
NOTE_AGAIN_S = 3600.0
"""How long a process remembers what it noted of the rail's own facilitator."""


class ListingLedger:
    """The turns of all calls. Of all API processes, one payment of each call gets a turn.

    Args:
        replicated: as in api/payment/ledger.py.
    """

    def __init__(self, redis: Commands, replicated: Commands) -> None:
        self._taken = Script(redis, transitions.LISTING_TAKEN)
        self._noted = Script(redis, transitions.LISTING_NOTED)
        self._routed = Script(replicated, transitions.ROUTED, is_repeatable=True)
        self._not_before: dict[str, float] = {}
        self._turns: dict[str, str] = {}
        """The payment that this process gave the turn of a call last."""

    async def take(self, key: str, payment_id: str) -> bool:
        """Take the turn of a call. False when another payment has it, or when the ledger does not say.

        Args:
            key: of `listing_key`.
        """
        if not self._is_due(key, ASK_AGAIN_S):
            return False
        with contextlib.suppress(RedisLost, RedisRefused):
            if int(await self._taken(listing=key, id=payment_id, hold_ms=HOLD_MS)) == 0:
                self._turns[key] = payment_id
                return True
        return False

    async def give_back(self, key: str, payment_id: str) -> None:
        """Let the next payment have the turn that this one may have had: nobody would settle it. Otherwise a wallet without
        money would take every turn. Raises nothing."""
        if self._turns.get(key) == payment_id:
            self._not_before.pop(key, None)
            await self._note(key, payment_id, "", None, "", 1)

    async def route(self, payment_id: str, facilitator: str, settle_lease_ms: int) -> bool:
        """Record the facilitator of a payment that was sent to none. False when somebody else has become the driver.

        Raises RedisLost and RedisRefused: then it may be recorded, and the payment must not be sent.
        """
        keys = payment_keys(payment_id)
        routed = await self._routed(**keys, id=payment_id, facilitator=facilitator, settle_lease_ms=settle_lease_ms)
        return bool(routed)

    async def settled(self, key: str, payment_id: str, transaction: str, status: BazaarStatus | None) -> None:
        """Note a settlement by the listing facilitator. Raises nothing: without the note, the next one comes sooner."""
        is_rejected = status is not None and status.status == "rejected"
        await self._note(key, payment_id, transaction, status, "", REJECTED_MS if is_rejected else LISTED_MS)

    async def failed(self, key: str, payment_id: str, trouble: str) -> None:
        """Note why a payment was not settled by the listing facilitator, as far as is known. Raises nothing."""
        await self._note(key, payment_id, "", None, trouble, 0)

    async def settled_elsewhere(self, key: str, payment_id: str, transaction: str, status: BazaarStatus) -> None:
        """Note that the rail's own facilitator lists a call, too: once in a while. Raises nothing."""
        if self._is_due(key, NOTE_AGAIN_S):
            await self._note(key, payment_id, transaction, status, "", 0)

    async def _note(
        self, key: str, payment_id: str, transaction: str, status: BazaarStatus | None, trouble: str, pause_ms: int
    ) -> None:
        if trouble:
            log.warning("%s was not settled by the listing facilitator: %s", payment_id, trouble)
        try:
            await self._noted(
                listing=key,
                id=payment_id,
                transaction=transaction,
                status=msgspec.json.encode(status) if status else b"",
                trouble=trouble,
                pause_ms=pause_ms,
            )
        except (RedisLost, RedisRefused) as error:
            log.warning("the ledger did not note what became of a listing: %s", error)

    def _is_due(self, key: str, pause_s: float) -> bool:
        """Whether this process has not asked for so long. From now on it has."""
        now = time.monotonic()
        if now < self._not_before.get(key, 0.0):
            return False
        self._not_before[key] = now + pause_s
        return True
