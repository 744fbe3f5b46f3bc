"""A transaction of ours on its way, and what it offers for a place in a block (EIP-1559)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from hexbytes import HexBytes


@dataclass(frozen=True, slots=True)
class Bid:
    """What a transaction offers for one unit of gas, in wei.

    Attributes:
        max_fee: at most, all in all.
        tip: of that, for whoever builds the block.
    """

    max_fee: int
    tip: int


@dataclass(frozen=True, slots=True)
class Quote:
    """What the chain asks for one unit of gas, in wei."""

    base_fee: int
    tip: int

    def bid(self, *, over: Bid | None = None) -> Bid:
        """An offer that outlasts six full blocks.

        Args:
            over: the offer that it is to replace. Nodes want a tenth more, some an eighth, in both parts.
        """
        tip = max(self.tip, _raised(over.tip)) if over else self.tip
        max_fee = 2 * self.base_fee + tip
        return Bid(max(max_fee, _raised(over.max_fee)) if over else max_fee, tip)

    def meets(self, bid: Bid) -> bool:
        """Whether the offer is enough for the next block."""
        return bid.max_fee >= self.base_fee + self.tip


@dataclass(frozen=True, slots=True)
class Form:
    """A transaction as it was signed once."""

    bid: Bid
    raw: HexBytes
    hash: HexBytes
    signed_at: float = field(default_factory=time.monotonic)

    @property
    def age_s(self) -> float:
        """Since it was signed."""
        return time.monotonic() - self.signed_at


@dataclass(eq=False, slots=True)
class Sent:
    """One call under one number of the account. Replaced for a higher fee it is the same call in another form.

    Attributes:
        valid_before: Unix seconds from which on it can only fail; 0 when it never does.
        offered: by the form that the node is known to have.
        forms: every one that a node may have, oldest first: the receipt of any is its receipt.
    """

    number: int
    to: str
    data: bytes
    gas: int
    valid_before: int
    offered: Bid
    forms: list[Form] = field(default_factory=list)

    @property
    def newest(self) -> Form:
        """The one that was sent last."""
        return self.forms[-1]

    @property
    def cost(self) -> int:
        """Wei that it may take."""
        return self.gas * self.newest.bid.max_fee

    @property
    def is_expired(self) -> bool:
        """Whether it can only fail."""
        return 0 < self.valid_before <= time.time()


def _raised(wei: int) -> int:
    return wei * 9 // 8 + 1
