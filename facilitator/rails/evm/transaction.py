"""Payments on their way to the chain, the transactions that make them, and what these offer for each unit of gas (EIP-1559)."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from facilitator.settling import PaymentKey, payment_key
from shared.x402.evm import EvmAuthorization, keccak256
from shared.x402.wire import Settlement


@dataclass(frozen=True, slots=True)
class Bid:
    """What a transaction offers for one unit of gas, in wei.

    Attributes:
        max_fee: the most that it pays in all.
        tip: the part of it that goes to the builder of the block.
    """

    max_fee: int
    tip: int


@dataclass(frozen=True, slots=True)
class Quote:
    """What the chain asks for one unit of gas, in wei."""

    base_fee: int
    tip: int

    def bid(self, *, over: Bid | None = None) -> Bid:
        """A bid that is enough for the next six blocks, even if all of them are full.

        Args:
            over: the bid that it is to replace. Nodes want both parts raised by a tenth, some by an eighth.
        """
        tip = max(self.tip, _raised(over.tip)) if over else self.tip
        max_fee = 2 * self.base_fee + tip
        return Bid(max(max_fee, _raised(over.max_fee)) if over else max_fee, tip)

    def meets(self, bid: Bid) -> bool:
        """Whether the bid is enough for the next block."""
        return bid.max_fee >= self.base_fee + self.tip


@dataclass(frozen=True, slots=True)
class Form:
    """One signature of a transaction. A transaction that is replaced for a higher fee has several forms."""

    bid: Bid
    raw: bytes
    hash: str
    signed_at: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, bid: Bid, raw: bytes) -> "Form":
        """A form, with the name that its transaction has on the chain."""
        return cls(bid, raw, "0x" + keccak256(raw).hex())

    @property
    def age_s(self) -> float:
        """Seconds since it was signed."""
        return time.monotonic() - self.signed_at


@dataclass(eq=False, slots=True)
class Payment:
    """One authorization that is to be settled.

    Attributes:
        ended: gets the settlement, or why there is none. Nobody may be waiting for it.
        sent: the transaction that it is in; None before it was signed.
        gas: what its transaction may take when it makes no other payment.
        estimated: the gas that the node says it takes, where its payer's code decides that, or it is a deposit; else 0.
        balance: what its payer had of the token when it was checked, in atomic units.
        is_isolated: it is in no group, because its payer's code decides how much gas it takes, or because it failed in one.
        failures: transactions that it was in and that paid nobody.
        was_sent: it was in a transaction that has not made it.
        is_withdrawn: nobody waits for it, and it is not to be sent.
        key: what distinguishes it from all others, by its authorization as it came.
    """

    authorization: EvmAuthorization
    ended: asyncio.Future[Settlement] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    sent: "Sent | None" = None
    gas: int = 0
    estimated: int = 0
    balance: int = 0
    is_isolated: bool = False
    failures: int = 0
    was_sent: bool = False
    is_withdrawn: bool = False
    key: PaymentKey = field(init=False)

    def __post_init__(self) -> None:
        self.key = payment_key(self.authorization)

    def end(self, settlement: Settlement) -> None:
        """Set the result for those who wait. The first one counts."""
        if not self.ended.done():
            self.ended.set_result(settlement)


@dataclass(eq=False, slots=True)
class Operation:
    """A call that pays nobody by itself: a claim, a payout or a refund of channels. To make it twice does no harm.

    Attributes:
        gas: the limit of its transaction.
        ended: gets the receipt of its transaction; None when that never gets into a block.
        sent: the transaction; None before it was signed.
    """

    to: str
    data: bytes
    gas: int
    ended: asyncio.Future[dict[str, Any] | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    sent: "Sent | None" = None

    def end(self, receipt: dict[str, Any] | None) -> None:
        """Tell whoever waits. The first end counts."""
        if not self.ended.done():
            self.ended.set_result(receipt)


@dataclass(eq=False, slots=True)
class Sent:
    """One call under one number of the account.

    Attributes:
        valid_before: Unix seconds from which the call can only fail; 0 when it never expires.
        offered: the bid of the form that the node is known to have.
        members: the payments that it makes, in the order of its calls; none for a cancellation and for an operation.
        operation: what it is sent for, where it makes no payments.
        forms: every form that a node may have, oldest first. Each of them may get into a block.
    """

    number: int
    to: str
    data: bytes
    gas: int
    valid_before: int
    offered: Bid
    members: tuple[Payment, ...] = ()
    operation: Operation | None = None
    forms: list[Form] = field(default_factory=list)

    @property
    def newest(self) -> Form:
        """The form that was sent last."""
        return self.forms[-1]

    @property
    def cost(self) -> int:
        """The most wei that it may cost."""
        return self.gas * self.newest.bid.max_fee

    @property
    def hash(self) -> str:
        """The hash of the newest form."""
        return self.newest.hash

    @property
    def is_expired(self) -> bool:
        """Whether the call can only fail."""
        return 0 < self.valid_before <= time.time()


def _raised(wei: int) -> int:
    return wei * 9 // 8 + 1
