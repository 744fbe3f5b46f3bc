"""What a signer does: it says what an offer costs, and signs a payment of it. There is one for each network."""

from abc import ABC, abstractmethod
from typing import Any

from shared.money import Price
from shared.x402.networks import Rail
from shared.x402.wire import Offer


class Unpayable(Exception):
    """This signer does not pay the offer. The text says why."""


class Signer(ABC):
    """An account on one network.

    Attributes:
        rail: that it pays on.
        network: CAIP-2.
        asset: symbol of the token that it pays with.
        address: of the account.
    """

    def __init__(self, rail: Rail, *, network: str, asset: str, address: str) -> None:
        self.rail = rail
        self.network = network
        self.asset = asset
        self.address = address

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address} on {self.network})"

    @abstractmethod
    def quote(self, offer: Offer) -> Price:
        """The price of the offer. Raises Unpayable unless a signature does nothing but pay that."""

    @abstractmethod
    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """The `payload` of a payment for this offer, valid from now (Unix seconds). Call `quote` first."""
