"""The terms of a server at its first use: network, asset, issuer, recipient, and the price of each endpoint.

A server that was taken over, or someone on the way to it, can change its challenges. What they ask for later is compared with
the first use, and the owner decides. There is one file for each server and rail, which only its owner can read.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from coinslot.errors import OfferDrifted
from coinslot.state_folder import write_file
from shared.money import Price
from shared.x402.wire import Offer


class Pins(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The file.

    Attributes:
        asset: as the challenge names it: contract, mint or currency code.
        issuer: `extra.issuer` of the offer; empty without one.
        prices: most that an endpoint may cost, in dollars, by its name.
    """

    server: str
    network: str
    asset: str
    issuer: str
    pay_to: str
    prices: dict[str, str]


class ShopPins:
    """The pins of one server.

    Args:
        folder: of the file. Made when needed.
        server: base address.
        rail: name of the wallet's rail: the owner may change it, which is no drift.
    """

    def __init__(self, folder: Path, server: str, rail: str) -> None:
        self._server = server
        digest = hashlib.sha256(server.encode()).hexdigest()[:16]
        self.path = folder / f"pins-{digest}-{rail}.json"

    def check(self, endpoint: str, offer: Offer, price: Price) -> None:
        """Compare an offer with the pins. Raises OfferDrifted."""
        with self._locked():
            self._checked(endpoint, offer, price)

    def record(self, endpoint: str, offer: Offer, price: Price) -> None:
        """Pin what has no pin yet. Raises OfferDrifted, also when the pins cannot be written."""
        with self._locked():
            pins = self._checked(endpoint, offer, price)
            if endpoint not in pins.prices:
                pins = msgspec.structs.replace(pins, prices={**pins.prices, endpoint: price.text()})
                write_file(self.path, msgspec.json.format(msgspec.json.encode(pins), indent=2) + b"\n")

    def _checked(self, endpoint: str, offer: Offer, price: Price) -> Pins:
        seen = Pins(self._server, offer.network, offer.asset, str(offer.extra.get("issuer", "")), offer.pay_to, {})
        pins = self._read() or seen
        for name in ("server", "network", "asset", "issuer", "pay_to"):
            was, now = getattr(pins, name), getattr(seen, name)
            if was != now:
                raise self._drifted(f"the {name.replace('pay_to', 'recipient')} is {now[:100]!r}, and was {was!r}")
        pinned = pins.prices.get(endpoint)
        if pinned is not None and price > Price.of(pinned):
            raise self._drifted(f"{endpoint} costs {price.text()}, and cost {pinned}")
        return pins

    def _read(self) -> Pins | None:
        try:
            pins = msgspec.json.decode(self.path.read_bytes(), type=Pins)
            for price in pins.prices.values():
                Price.of(price)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
            raise self._drifted("the pins cannot be read") from None
        return pins

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """The lock is on the folder, because the file is replaced."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._drifted(f"the pins cannot be kept ({error.strerror or type(error).__name__})") from None

    def _drifted(self, why: str) -> OfferDrifted:
        return OfferDrifted(
            f"{self._server} does not ask for what it asked for at its first use, so nothing is signed: {why}",
            hint=f"If its operator confirms the change, the owner of the wallet removes {self.path}.",
        )
