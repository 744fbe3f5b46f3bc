"""The listing facilitator: one that lists in a catalogue what it settles. Now and then it gets a payment of each call, and the
rail's own facilitator gets all others.

Which of the two a payment goes to is decided once, before it is sent to any, and is in its record: a repeated settle call goes
to the same one. The listing facilitator verifies a payment before it gets it: one that it would refuse goes the usual way. What
the chain shows of its settlements, the rail's own facilitator says.
"""

import asyncio
import time
from dataclasses import dataclass

from api.payment.answers import shown
from api.payment.facilitator import Facilitator
from api.payment.ledger_terms import Claim
from api.payment.listing_ledger import ListingLedger
from api.payment.unsettled import NotSent, Unsettled
from shared.ledger.listing import LISTING, host_of, listing_key
from shared.x402.authorization import Authorization
from shared.x402.evm import SETTLE_MARGIN_S
from shared.x402.exact import SCHEME
from shared.x402.wire import X402_VERSION, Payment

PREPARE_S = 3.0
"""How long it may take to say that it would settle a payment. After that the rail's own facilitator gets the payment."""


@dataclass(frozen=True, slots=True)
class ListingFacilitator:
    """The listing facilitator of one network."""

    facilitator: Facilitator
    network: str

    def key(self, resource: str) -> str:
        """The ledger's key of a call at this facilitator.

        Args:
            resource: address of the call.
        """
        return listing_key(host_of(self.facilitator.url), resource)

    async def gets(
        self, payment: Payment, authorization: Authorization, claim: Claim, resource: str, ledger: ListingLedger
    ) -> bool:
        """Decide whether a payment that was sent to nobody goes here, and record that it does.

        Args:
            payment: as it would be sent here.
            authorization: of it.
            resource: address of the call that it pays.

        Raises:
            NotSent: it is sent to nobody, because somebody else drives it now.
            RedisLost, RedisRefused: it may be recorded, and must not be sent.
        """
        # A signature that only the chain can check may have a form that this facilitator does not know.
        is_in_time = claim.valid_before >= time.time() + PREPARE_S + SETTLE_MARGIN_S
        if not (authorization.signature_checked and is_in_time):
            return False
        key = self.key(resource)
        if not await ledger.take(key, claim.payment_id):
            return False
        if trouble := await self._refusal(payment):
            await ledger.failed(key, claim.payment_id, trouble)
        if not await ledger.route(claim.payment_id, "" if trouble else LISTING, claim.settle_lease_ms):
            raise NotSent("another copy of the call drives the payment")
        return not trouble

    async def _refusal(self, payment: Payment) -> str:
        """Why it would not settle the payment, or nothing."""
        try:
            async with asyncio.timeout(PREPARE_S):
                supported = await self.facilitator.supported()
                ours = (X402_VERSION, SCHEME, self.network)
                if ours not in [(kind.x402_version, kind.scheme, kind.network) for kind in supported.kinds]:
                    return f"/supported does not list {SCHEME} on {self.network}"
                verification = await self.facilitator.verify(payment)
        except TimeoutError:
            return f"no answer within {PREPARE_S:g} s"
        except Unsettled as unanswered:
            return f"no verdict: {unanswered}"
        return "" if verification.is_valid else f"not valid: {shown(verification.invalid_reason or '')}"
