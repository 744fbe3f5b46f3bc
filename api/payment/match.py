"""A payment beside the offer of ours that it pays."""

from dataclasses import dataclass

import msgspec

from api.causes import Cause
from api.errors import Problem, problem_of
from api.payment.rails import ConfiguredRail
from shared.x402.authorization import Authorization
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer, Payment


@dataclass(frozen=True, slots=True)
class Match:
    """The match.

    Attributes:
        offer: ours, never the client's copy of it; with the client's token, where the rail has tokens.
        payment: in v2 shape, around our offer.
        token: binds the payment to a request. The admission checks whether to this one.
        is_current: False for an outdated price or recipient: only a payment that the ledger already knows is completed.
    """

    offer: Offer
    rail: ConfiguredRail
    payment: Payment
    token: str = ""
    is_current: bool = True

    def check(self) -> Authorization:
        """Check the signature offline. Raises PaymentRefused."""
        try:
            return self.rail.check(self.offer, self.payment.payload)
        except PaymentRefused:
            if self.is_current:
                raise
            raise PaymentRefused("no_matching_offer") from None

    def refusal(self) -> PaymentRefused | Problem:
        """Why it is not taken where it pays no offer of now. A process that has just started may not know its facilitator's
        terms yet, with which another one has made the offer: then the payment may come again."""
        if self.rail.verifier.completed(self.offer, self.rail.health.terms) is None:
            return problem_of(Cause.RAIL_DOWN, retry_after_s=self.rail.health.retry_after_s)
        return PaymentRefused("no_matching_offer")


def matched(offer: Offer, rail: ConfiguredRail, presented: Payment, *, is_current: bool) -> Match:
    """The match of a payment whose `accepted` is this offer. Raises PaymentRefused when its token is missing."""
    token = ""
    if key := rail.verifier.TOKEN_KEY:
        said = presented.accepted.extra.get(key)
        if not isinstance(said, str) or not said:
            raise PaymentRefused(rail.verifier.TOKEN_REASON)
        token = said
        offer = msgspec.structs.replace(offer, extra={**offer.extra, key: token})
    return Match(offer, rail, msgspec.structs.replace(presented, accepted=offer), token, is_current)
