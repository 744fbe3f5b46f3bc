"""What is asked of the ledger (ledger.py) and what it says: claims, look-ups, verdicts."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from api.payment.limits import NO_LIMIT, Limit, Quota
from shared.x402.authorization import ANY_TIME, LastClaim


class Verdict(enum.StrEnum):
    """What the caller that looked up a payment has to do."""

    ABSENT = "absent"
    """Nobody has presented this payment."""
    LATE = "late"
    """Nobody has, and another copy may have been refused as too late."""
    LIMITED = "limited"
    """Nobody has, and this payer is to wait for `wait_ms`."""
    IDENTIFIED = "identified"
    """Nobody has, and the client's own identifier of the call belongs to the payment `other`."""
    SETTLE = "settle"
    """You drive it: settle, then run. `attempts` counts settle calls, this one included."""
    RUN = "run"
    """You drive it: it is settled and nobody runs the job."""
    WAIT = "wait"
    """Another copy of this request drives it."""
    ANSWER = "answer"
    """Here is the stored answer, or the last failure of a job that is not run again for `wait_ms`."""
    EXPIRED = "expired"
    """It was answered too long ago."""
    REJECTED = "rejected"
    """It could not be settled, for `reason`."""
    FAILED = "failed"
    """It was charged and could not be answered: the operator can refund it, or has, with `refund`."""
    IDLE = "idle"
    """It is this request's, and nobody drives it. Only `peek` and `resume` say so: the others make you the driver."""
    CLAIMED = "claimed"
    """Another request has claimed it, and nobody knows yet whether that one is paid."""
    CONFLICT = "conflict"
    """It paid for another request, or was refused with another request."""
    UNKNOWN = "unknown"
    """A voucher of a channel that the ledger does not know. The verdicts below are of vouchers, too, with the `channel`."""
    MISMATCH = "mismatch"
    """It is not above what was charged and reserved before, or it pays another call."""
    EXCEEDS = "exceeds"
    """It is above what the channel holds."""
    BUSY = "busy"
    """The channel is being refunded."""


class Recorded(enum.IntEnum):
    """What the ledger did with a proven settlement."""

    NOT = 0
    """Nothing: the payment is DONE or FAILED, or not known."""
    AGAIN = 1
    """It was settled before, without an answer."""
    NEW = 2
    """The payment became SETTLED, with a line in the journal."""


class LookUp(enum.StrEnum):
    """How a payment is looked up: in which states the caller becomes its driver."""

    PEEK = "peek"
    """The caller never becomes the driver."""
    RESUME = "resume"
    """The caller becomes the driver of a payment that is settled and has none."""
    FIND = "find"
    """When it is known and has no driver."""
    CLAIM = "claim"
    """When it is absent, or known and without a driver."""


class NewPayment(enum.Enum):
    """What the checks say of a payment, were it a new one."""

    ADMITTED = enum.auto()
    PAYMENT_REFUSED = enum.auto()
    """Something is wrong with the payment itself, e.g. it has expired."""
    RAIL_DOWN = enum.auto()
    """Its rail cannot settle now."""
    CALL_REFUSED = enum.auto()
    """The service cannot take the call now, or the request is not valid."""


LOOK_UPS: Mapping[tuple[NewPayment, bool], LookUp] = {
    (NewPayment.ADMITTED, True): LookUp.CLAIM,
    # It may have been settled in time, before it expired: that can be found out, and the job be run.
    (NewPayment.PAYMENT_REFUSED, True): LookUp.FIND,
    # A settled payment needs its rail no more.
    (NewPayment.RAIL_DOWN, True): LookUp.RESUME,
    (NewPayment.CALL_REFUSED, True): LookUp.PEEK,
    # Without a slot in the pool, nothing can be run, and so nothing is settled.
    (NewPayment.PAYMENT_REFUSED, False): LookUp.PEEK,
    (NewPayment.RAIL_DOWN, False): LookUp.PEEK,
    (NewPayment.CALL_REFUSED, False): LookUp.PEEK,
}
"""How to look up a payment, by what the checks say and by whether its call has a slot. A call without one is never admitted."""


@dataclass(frozen=True, slots=True)
class Channel:
    """What the ledger knows of a channel, in atomic units.

    Attributes:
        charged, inflight: what was charged for answers, and what is reserved for calls under way.
        done_top, top: the highest voucher that was charged, and the highest that was taken.
        signature: of `top`, in hex; empty when there is none.
        withdraw_at: when the payer announced a withdrawal, in Unix milliseconds; 0: he did not.
    """

    balance: int
    claimed: int
    withdraw_at: int
    refund_nonce: int
    charged: int
    inflight: int
    done_top: int
    top: int
    signature: str

    @property
    def floor(self) -> int:
        """What the next voucher has to be above: of calls under way each has its own voucher."""
        return self.top if self.inflight else max(self.charged, self.done_top)


@dataclass(frozen=True, slots=True)
class Reserve:
    """What a voucher reserves in its channel.

    Attributes:
        price, max_claimable: atomic units.
        signature: hex.
    """

    price: int = 0
    max_claimable: int = 0
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger knows of a payment. Only the fields that belong to the verdict are set."""

    verdict: Verdict
    attempts: int = 0
    facilitator: str = ""
    """Which facilitator it was sent to: LISTING (shared/ledger/listing.py), or "" for the rail's own."""
    receipt: bytes = b""
    """The settlement as JSON; empty while it is not known to be settled."""
    answer: bytes = b""
    """An encoded shared.outcome.Outcome."""
    reason: str = ""
    other: str = ""
    wait_ms: int = 0
    refund: str = ""
    """The transaction that has paid back a payment that FAILED; empty while none has."""
    quota: Quota | None = None
    """What is left of the payer's rate after a new claim, or why the claim was refused."""
    channel: Channel | None = None

    @property
    def is_first(self) -> bool:
        """Whether you drive it, and nobody has before. A voucher that was not charged can be so again."""
        return self.verdict in (Verdict.SETTLE, Verdict.RUN) and self.attempts <= 1 and not self.receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What the ledger records of a payment when it is first presented: of the body only its fingerprint.

    Attributes:
        valid_before: Unix seconds from which on the payment can no longer be settled.
        last_claim: until when it may be claimed, by the clock of the ledger's server. A claim may take seconds on its way, and
            meanwhile another copy may be refused as too late: its caller signs a new payment, and this one must not be settled.
        payment: the payment itself, sealed, for a facilitator that has to be asked with it again.
        identifier: what the client calls this call, or "".
        token: what binds the payment to its request (api/payment/binding.py), or "". It pays once.
        previous_fingerprint: by the previous key, or "". A known payment may have either.
        undelivered_ms: how long the payer's next payment for the same request gets the answer of this one, when that could not
            be delivered; 0: not at all.
        reserve: of a voucher.
    """

    payment_id: str
    fingerprint: str
    endpoint: str
    payer: str
    offer: bytes
    settle_lease_ms: int
    run_lease_ms: int
    valid_before: int = 0
    last_claim: LastClaim = ANY_TIME
    payment: bytes = b""
    identifier: str = ""
    token: str = ""
    limit: Limit = NO_LIMIT
    previous_fingerprint: str = ""
    undelivered_ms: int = 0
    reserve: Reserve = Reserve()


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A payment that nobody drives and whose settlement is not known, or was refused and is looked for once more."""

    payment_id: str
    state: str
    attempts: int
    valid_before: int
    offer: bytes
    payer: str
    payment: bytes
    endpoint: str
    facilitator: str = ""
    """As of Entry."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A payment that was settled a while ago.

    Attributes:
        at_ms: when, in Unix milliseconds.
    """

    payment_id: str
    offer: bytes
    payer: str
    at_ms: int
