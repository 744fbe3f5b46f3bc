"""Exceptions of a settle call without a known settlement.

Unsettled              no settlement that we know of
├── NotSent            the call never left: nothing can have been charged
├── Declined           the facilitator refused for good, as far as this one call tells
└── Undecided          anything else: the payment may have been made
    ├── Failing        because the facilitator itself fails: no answer, or none that makes sense
    └── NoEvidence     this facilitator does not say what became of earlier payments
"""

import msgspec

from shared.x402.wire import Settlement


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


class Failing(Undecided):
    """The facilitator itself fails: it would fail with any other payment."""


class NoEvidence(Undecided):
    """This facilitator does not say what became of earlier payments."""
