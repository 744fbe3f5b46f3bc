"""What a signer does: it says what an offer costs, and signs a payment of it. There is one for each network."""

from __future__ import annotations

from typing import Any, Protocol

from shared.money import Price
from shared.x402.networks import Rail
from shared.x402.wire import Offer


class Unpayable(Exception):
    """This signer does not pay the offer. The text says why."""


class Signer(Protocol):
    """An account on one network."""

    @property
    def rail(self) -> Rail:
        """The rail that it pays on."""

    @property
    def network(self) -> str:
        """CAIP-2."""

    @property
    def asset(self) -> str:
        """The symbol of the token that it pays with."""

    @property
    def address(self) -> str:
        """The account."""

    def quote(self, offer: Offer) -> Price:
        """The price of the offer, after every check that must precede the signature. Raises Unpayable."""

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """The `payload` of a payment for this offer, valid from now (Unix seconds). Call `quote` first."""
