"""A value that is made of the current offers, and made again only when these have changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from api.payment.gate import PaymentGate

T = TypeVar("T")


class Cached(Generic[T]):
    """What `make` gives, until the offers of one of the gates change.

    Args:
        gates: whose offers the value shows.
    """

    def __init__(self, make: Callable[[], T], gates: Sequence[PaymentGate]) -> None:
        self._make = make
        self._gates = gates
        self._made: tuple[T, list[object]] | None = None

    def get(self) -> T:
        """The value as it is now."""
        offered: list[object] = [gate.offered for gate in self._gates]
        # A gate gives the same object until its offers change.
        if self._made is None or any(one is not other for one, other in zip(offered, self._made[1], strict=True)):
            self._made = self._make(), offered
        return self._made[0]
