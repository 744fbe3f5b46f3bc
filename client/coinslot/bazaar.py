"""The server's catalogue: /bazaar.json, in the form of a facilitator's discovery answer."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

import msgspec

from coinslot import free_document
from coinslot.address import checked_base
from coinslot.errors import CallFailed
from coinslot.exchange import Exchange
from shared.call_path import PATH_PREFIX
from shared.money import Price
from shared.x402.networks import EVM_USDC
from shared.x402.wire import Offer


@dataclass(frozen=True, slots=True)
class Item:
    """One call of the catalogue.

    Attributes:
        price: in USDC, from the first offer in a USDC that we know; None without such an offer.
    """

    name: str
    price: Price | None
    summary: str
    url: str


class _Entry(msgspec.Struct, frozen=True):
    resource: str
    accepts: tuple[Offer, ...] = ()
    description: str = ""


class _Document(msgspec.Struct, frozen=True):
    items: tuple[_Entry, ...]


async def fetch(exchange: Exchange, base_url: str) -> tuple[Item, ...]:
    """The calls that the server sells, in its order. Entries that are not below ``/v1/cdp/`` are left out.

    Raises:
        CallFailed: the server has no such document, or it has another form.
        Unreachable: the server did not answer.
    """
    url = checked_base(base_url) + "/bazaar.json"
    content = await free_document.fetch(exchange, url)
    try:
        document = msgspec.json.decode(content, type=_Document)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise CallFailed(f"{url} is not a catalogue", status=200) from None
    return tuple(
        Item(path.partition(PATH_PREFIX)[2], _usdc(entry.accepts), entry.description, entry.resource)
        for entry in document.items
        if PATH_PREFIX in (path := _path(entry.resource))
    )


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _usdc(offers: tuple[Offer, ...]) -> Price | None:
    for offer in offers:
        token = EVM_USDC.get(offer.network)
        if token is not None and offer.asset.lower() == token.address.lower():
            try:
                return Price(Decimal(int(offer.amount)).scaleb(-token.decimals))
            except (ValueError, ArithmeticError):
                continue
    return None
