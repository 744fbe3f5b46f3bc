"""Exact decimal money. A price is a decimal, an amount is a whole number of atomic units, and neither is ever a float."""

import re
from dataclasses import dataclass
from decimal import Decimal

_TEXT = re.compile(r"(0|[1-9][0-9]{0,11})(\.[0-9]{1,18})?", re.ASCII)


class ExcessPrecision(ValueError):
    """A price has more decimals than the asset that pays it."""


@dataclass(frozen=True, slots=True, order=True)
class Price:
    """A price per call in whole units of a dollar-pegged asset (1 = 1 USDC = 1 RLUSD).

    Args:
        value: a positive, finite decimal. Build one from text: ``Price.of("0.001")``.
    """

    value: Decimal

    def __post_init__(self) -> None:
        if not self.value.is_finite() or self.value <= 0:
            raise ValueError(f"a price is positive and finite, not {self.value}")

    @classmethod
    def of(cls, text: str) -> "Price":
        """Read a price from plain decimal text. Raises ValueError on anything else (signs, exponents, spaces)."""
        if not _TEXT.fullmatch(text):
            raise ValueError(f"not a plain decimal: {text!r}")
        return cls(Decimal(text))

    def atomic(self, decimals: int) -> int:
        """The price in atomic units of an asset with this many decimals.

        0.001 is 1000 with the 6 decimals of USDC on EVM and Solana, and 10000 with the 7 of Stellar.

        Raises:
            ExcessPrecision: the asset cannot express the price. Prices are never rounded.
        """
        scaled = self.value.scaleb(decimals)
        whole = int(scaled)
        if whole != scaled:
            raise ExcessPrecision(f"{self.value} has more than {decimals} decimals")
        return whole

    def text(self) -> str:
        """Plain decimal text without trailing zeros: ``0.001``, ``0.08``, ``1``."""
        return format(self.value.normalize(), "f")
