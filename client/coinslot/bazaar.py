"""The server's catalogue: /bazaar.json, in the form of a facilitator's discovery answer."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from urllib.parse import urlsplit

import msgspec

from coinslot import free_document
from coinslot.exchange import Exchange
from shared.call_path import split
from shared.money import Price
from shared.x402.networks import EVM_USDC, XRPL_RLUSD
from shared.x402.wire import Offer

CHANNEL_SCHEME = "batch-settlement"
ASSETS = ("USDC", "RLUSD")
"""Those that an item's prices are in."""


@dataclass(frozen=True, slots=True)
class Item:
    """One call of the catalogue.

    Attributes:
        prices: by asset, USDC before RLUSD; each from the first offer in a token of that name that we know.
        channel_deposit: least deposit in USDC where the call is sold by channels, too.
    """

    name: str
    prices: Mapping[str, Price]
    summary: str
    url: str
    channel_deposit: Price | None = None


class _Entry(msgspec.Struct, frozen=True):
    resource: str
    accepts: tuple[Offer, ...] = ()
    description: str = ""


class _Document(msgspec.Struct, frozen=True):
    items: tuple[_Entry, ...]


async def fetch(exchange: Exchange, base_url: str) -> tuple[Item, ...]:
    """The calls that the server sells, in its order. Entries whose path is no call's are left out.

    Raises:
        CallFailed, Unreachable: as free_document.fetch.
    """
    decode = partial(msgspec.json.decode, type=_Document)
    document = await free_document.fetch(exchange, base_url, "/bazaar.json", decode, kind="a catalogue")
    return tuple(
        Item(
            name,
            _prices(entry.accepts),
            entry.description,
            entry.resource,
            _channel_deposit(entry.accepts),
        )
        for entry in document.items
        if (name := split(_path(entry.resource))[1])
    )


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _channel_deposit(offers: tuple[Offer, ...]) -> Price | None:
    for offer in offers:
        token = EVM_USDC.get(offer.network)
        if offer.scheme == CHANNEL_SCHEME and token is not None:
            with contextlib.suppress(ValueError, ArithmeticError, TypeError):
                return Price(Decimal(int(offer.extra.get("minDeposit", ""))).scaleb(-token.decimals))
    return None


def _prices(offers: tuple[Offer, ...]) -> dict[str, Price]:
    found: dict[str, Price] = {}
    for offer in offers:
        with contextlib.suppress(ValueError, ArithmeticError):
            usdc, rlusd = EVM_USDC.get(offer.network), XRPL_RLUSD.get(offer.network)
            if usdc is not None and offer.asset.lower() == usdc.address.lower():
                found.setdefault("USDC", Price(Decimal(int(offer.amount)).scaleb(-usdc.decimals)))
            elif rlusd is not None and (offer.asset, offer.extra.get("issuer")) == (rlusd.currency, rlusd.issuer):
                found.setdefault(rlusd.symbol, Price.of(offer.amount))
    return {asset: found[asset] for asset in ASSETS if asset in found}
