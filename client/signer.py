"""The seam of one rail: what it can pay, and how it signs. `client/evm_signer.py` is the first."""

from __future__ import annotations

from typing import Any, Protocol

from shared.money import Price
from shared.x402.networks import Rail
from shared.x402.wire import Offer


class Unpayable(Exception):
    """An offer that this signer does not pay. The text says why, to a person."""


class Signer(Protocol):
    """An account on one network."""

    @property
    def rail(self) -> Rail:
        """What `--rail` calls it."""

    @property
    def network(self) -> str:
        """CAIP-2."""

    @property
    def asset(self) -> str:
        """Symbol of what it pays with, for people."""

    @property
    def address(self) -> str:
        """The account."""

    def quote(self, offer: Offer) -> Price:
        """What the offer costs. Everything that must hold before signing is checked here. Raises Unpayable."""

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """The `payload` of a payment of this offer, valid from now (Unix seconds). Call `quote` first."""
