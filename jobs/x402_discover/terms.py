"""Reads the payment terms in a JSON object, under many names of keys: x402's own offers, prices beside them, and defaults.

An `amount` that is a whole number is in atomic units; one with a fraction is in whole units. A `price` is in whole units, but
for a whole number of at least 100 beside `decimals` or the address of USDC. Keys such as `priceMicroUsdc` name their unit.
Terms with the amount zero mean a free call. An amount with six decimals whose asset has no name is one of USDC.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any

from jobs.x402_discover import figures
from jobs.x402_discover.assets import has_decimal_amounts, network_id, usdc_decimals
from jobs.x402_discover.document import MAX_FIELD, Offer, clean
from jobs.x402_discover.figures import Price

MAX_OFFERS = 10
"""Limit for one call."""
_MAX_KEY = 40
_MAX_DIGITS = 28
"""More digits than any amount of USDC has."""
_LEAST_ATOMIC = 100
"""The least price that is in atomic units where decimals are stated: nobody charges a hundred dollars a call."""
_LEAST_ADDRESS = 32
"""Characters of a token's address, which says as much as stated decimals."""
_USDC_DECIMALS = "6"
"""Decimals of an amount without the name of its asset: x402's own asset is USDC."""
_MAX_LEVELS = 3
"""Levels of objects in objects, and then of objects in lists."""
_NO_LETTERS = re.compile(r"[_\-\s.]+")

# Keys, without punctuation and in lower case, and their meaning.
_FIELDS: Mapping[str, str] = {
    "scheme": "scheme",
    **dict.fromkeys(("network", "networkid", "chain", "chainid", "caip2", "blockchain"), "network"),
    **dict.fromkeys(("asset", "token", "assetaddress", "tokenaddress", "assetid", "mint"), "asset"),
    **dict.fromkeys(("assetsymbol", "tokensymbol", "symbol", "currency", "unit"), "symbol"),
    **dict.fromkeys(
        ("payto", "recipient", "payee", "receiver", "wallet", "walletaddress", "paymentaddress", "paytoaddress"),
        "pay_to",
    ),
    **dict.fromkeys(
        ("amount", "maxamountrequired", "maxamount", "amountrequired", "amountatomic", "atomicamount", "priceatomic"),
        "amount",
    ),
    **dict.fromkeys(
        ("price", "cost", "fee", "pricepercall", "percall", "perrequest", "costpercall", "priceperrequest", "pricing"),
        "price",
    ),
    **dict.fromkeys(
        ("priceusd", "priceusdc", "usd", "usdc", "amountusd", "amountusdc", "costusd", "costusdc", "pricepercallusd"),
        "price_usd",
    ),
    **dict.fromkeys(("min", "minprice", "minamount"), "least"),
    **dict.fromkeys(("maxtimeoutseconds", "timeoutseconds"), "timeout"),
    **dict.fromkeys(("decimals", "assetdecimals", "tokendecimals"), "decimals"),
    "issuer": "issuer",
}
_PARTS_OF_USD = re.compile(
    r"(?:price|amount|cost|fee)?(?:in)?"
    r"(?:(?P<millionths>micros?(?:usdc?)?|usdc?(?:micros?|atomic|baseunits)|atomicusdc?)|(?:usdc?)?cents)(?:per(?:call|request))?"
)
"""Keys of prices in millionths of a dollar, and in cents."""
_LISTS = frozenset({"accepts", "paymentrequirements", "paymentoptions", "paymentmethods", "payments", "offers"})
_NESTED = _LISTS | {
    *("price", "pricing", "cost", "payment", "paymentinfo", "x402", "xpaymentinfo", "paymentrequired", "protocols"),
    *("extra", "terms", "paymentterms", "defaults"),
}
_NETWORKS = frozenset({"networks", "supportednetworks", "acceptednetworks", "chains"})
"""The networks on which one price may be paid: names, objects, or objects by name."""
_IN_WHOLE_UNITS = frozenset({"currency", "mode"})
"""An amount beside one of these keys is not in atomic units."""
_NAMES = ("id", "name", "key")
_PRICES = ("amount", "price", "price_usd", "least")
_FREE = {
    "free": True,
    "isfree": True,
    "paid": False,
    "ispaid": False,
    "requirespayment": False,
    "paymentrequired": False,
}


@functools.lru_cache(4096)
def key_of(text: str) -> str:
    """A key without punctuation, in lower case. Empty when it is too long to be a known key."""
    return _NO_LETTERS.sub("", text).lower() if len(text) <= _MAX_KEY else ""


def is_terms_key(key: str) -> bool:
    """Whether a key (from `key_of`) contains payment terms."""
    return key in _NESTED or key in _NETWORKS


@dataclass(frozen=True, slots=True)
class Stated:
    """The payment terms that an object states, not interpreted yet.

    Attributes:
        offers: the entries of its `accepts` or the like.
        is_free: it states that nothing is to be paid.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)
    offers: tuple[Mapping[str, Any], ...] = ()
    is_free: bool = False

    @property
    def has_price(self) -> bool:
        """Whether a price is stated."""
        return any(name in part for part in (self.fields, *self.offers) for name in _PRICES)

    @property
    def is_evidence(self) -> bool:
        """Whether the terms show that something costs money: they state an amount or a payee."""
        return not self.is_free and (self.has_price or any("pay_to" in part for part in (self.fields, *self.offers)))

    @property
    def names_x402(self) -> bool:
        """Whether these are terms of x402, and not only a price."""
        parts = (self.fields, *self.offers)
        return any("pay_to" in part or "scheme" in part or "network" in part for part in parts)

    def or_else(self, defaults: "Stated") -> "Stated":
        """Fill gaps with the defaults. A price that is stated here is never combined with the default's amount."""
        inherited, offers = defaults.fields, defaults.offers
        if self.has_price:
            inherited, offers = _without_prices(inherited), tuple(map(_without_prices, offers))
        if "network" in self.fields:
            own = network_id(self.fields["network"])
            offers = tuple(offer for offer in offers if network_id(offer.get("network", own)) == own)
        is_free = self.is_free or (defaults.is_free and not self.is_evidence)
        return Stated({**inherited, **self.fields}, self.offers or offers, is_free)


NOTHING = Stated()


@dataclass(frozen=True, slots=True)
class Terms:
    """The interpreted terms.

    Attributes:
        price_usdc: of the first offer in USDC; else the stated price, if it is in dollars and no offer is in another asset.
    """

    offers: tuple[Offer, ...]
    price_usdc: Decimal | None
    is_free: bool


def stated(node: Mapping[str, Any], *, is_offer: bool = False, level: int = 0) -> Stated:
    """The terms of an object itself and of its keys such as `accepts`, `pricing` and `x-payment-info`.

    Args:
        is_offer: the object is in a list of offers, so its `address` is the payee's.
        level: number of enclosing lists.
    """
    if not node:
        return NOTHING
    found: dict[str, Any] = {}
    offers: list[Mapping[str, Any]] = []
    networks: list[Mapping[str, Any]] = []
    says_free = has_no_offers = False
    for part, in_whole_units in _objects(node):
        for text, value in part.items():
            key = key_of(text)
            if isinstance(value, bool):
                says_free = says_free or _FREE.get(key) is value
            elif key in _NETWORKS and level < _MAX_LEVELS:
                networks.extend(_on_networks(value, level + 1))
            elif isinstance(value, list) and key in _NESTED:
                has_no_offers = has_no_offers or (key == "accepts" and not value)
                if level < _MAX_LEVELS:
                    offers.extend(_offers(value[:MAX_OFFERS], level + 1))
            else:
                name = "pay_to" if key == "address" and (is_offer or part is not node) else _FIELDS.get(key)
                if name is None and (unit := _PARTS_OF_USD.fullmatch(key)):
                    name, value = "price_usd", _in_usd(value, 6 if unit["millionths"] else 2)
                scalar = None if name is None else _scalar(name, value)
                if name is not None and scalar is not None:
                    found.setdefault("price" if name == "amount" and in_whole_units else name, scalar)
                says_free = says_free or (name in _PRICES and isinstance(value, str) and value.lower() == "free")
    said = Stated(found, tuple((offers or networks)[:MAX_OFFERS]))
    return Stated(found, said.offers, is_free=says_free or (has_no_offers and not said.has_price))


def _objects(node: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The object and its nested objects, each with whether its amounts are in whole units."""
    waiting = [(node, False, 0)]
    for current, in_whole_units, level in waiting:
        yield current, in_whole_units
        if level == _MAX_LEVELS:
            continue
        for text, value in current.items():
            key = key_of(text)
            if key in _NESTED and isinstance(value, dict):
                keys = {key_of(name) for name in value}
                has_unit = not keys.isdisjoint(_IN_WHOLE_UNITS) and "decimals" not in {
                    _FIELDS.get(name) for name in keys
                }
                waiting.append((value, key not in ("x402", "extra") and (in_whole_units or has_unit), level + 1))


def _offers(entries: list[Any], level: int) -> Iterator[Mapping[str, Any]]:
    """The entries of `accepts`; or those of `protocols`, where an offer is under the protocol's name."""
    for entry in entries:
        if isinstance(entry, dict):
            inner = entry.get("x402")
            fields = stated(inner if isinstance(inner, dict) else entry, is_offer=True, level=level).fields
            if fields:
                yield fields


def _on_networks(value: Any, level: int) -> Iterator[Mapping[str, Any]]:
    """The terms on each network: `["base"]`, `[{"name": "base", "payTo": ...}]`, `{"base": {"payTo": ...}}`."""
    entries = (
        value.items() if isinstance(value, dict) else (("", one) for one in value) if isinstance(value, list) else ()
    )
    for name, entry in islice(entries, MAX_OFFERS):
        if isinstance(entry, str) and not name:
            yield {"network": entry}
        elif isinstance(entry, dict):
            fields = stated(entry, is_offer=True, level=level).fields
            named = (
                fields.get("network")
                or name
                or next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), None)
            )
            if named:
                yield {**fields, "network": named}
        elif name and isinstance(entry, str):
            yield {"network": name, "pay_to": entry}


def _scalar(name: str, value: Any) -> str | None:
    """The text or number of a field. None for anything else."""
    if name == "asset" and isinstance(value, dict):
        value = value.get("address") or value.get("symbol")
    if not isinstance(value, str) or not value:
        return None
    if name in _PRICES and figures.atomic(value) is None and figures.price(value) is None:
        return None
    if name == "decimals" and not (len(value) <= 2 and value.isascii() and value.isdigit()):
        return None
    return value


def _in_usd(value: Any, decimals: int) -> str | None:
    """A price in parts of a dollar, in dollars."""
    number = figures.decimal(value)
    return None if number is None else figures.plain_text(number.scaleb(-decimals))


def _without_prices(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in fields.items() if name not in _PRICES}


def read(said: Stated) -> Terms:
    """Interpret the offers and the price."""
    if said.offers:
        parts = [
            {**(_without_prices(said.fields) if Stated(offer).has_price else said.fields), **offer}
            for offer in said.offers
        ]
    else:
        parts = [dict(said.fields)] if {"network", "asset", "pay_to"} & said.fields.keys() else []
    found = [_offer(part) for part in parts]
    positive = [(offer, value) for offer, value in found if offer.amount is None or offer.amount.strip("0.")]
    price = _price(said.fields)
    is_priced = "least" in said.fields or (price is not None and price.value > 0)
    says_zero = len(positive) < len(found) or (price is not None and not price.value)
    in_usdc = next((value for _, value in positive if value), None)
    if in_usdc is None and price is not None and price.is_usd and not any(_is_other(*pair) for pair in positive):
        in_usdc = price.value or None
    return Terms(
        offers=tuple(dict.fromkeys(offer for offer, _ in positive)),
        price_usdc=in_usdc,
        is_free=said.is_free or (says_zero and not is_priced and not any(offer.amount for offer, _ in positive)),
    )


def _is_other(offer: Offer, in_usdc: Decimal | None) -> bool:
    """Whether an offer is for an asset that is not known to be USDC."""
    return offer.asset is not None and offer.amount is not None and in_usdc is None


def _price(part: Mapping[str, Any]) -> Price | None:
    if "price_usd" in part:
        return figures.price(part["price_usd"], is_usd=True)
    unit = str(part.get("symbol") or part.get("asset") or "").upper()
    is_usd = True if unit in ("USD", "USDC") else None if "symbol" not in part else False
    if "decimals" in part:
        if not unit and part["decimals"] == _USDC_DECIMALS:
            is_usd = True
        for name, least in (("price", _LEAST_ATOMIC), ("amount", 0)):
            whole = figures.atomic(part.get(name))
            if whole is not None and len(whole) <= _MAX_DIGITS and int(whole) >= least:
                return Price(Decimal(whole).scaleb(-int(part["decimals"])), is_usd)
        if "price" not in part and (fraction := figures.decimal(part.get("amount"))) is not None:
            return Price(fraction, is_usd)
    return figures.price(part.get("price"), is_usd=is_usd)


def _offer(part: Mapping[str, Any]) -> tuple[Offer, Decimal | None]:
    """An offer, and its amount in USDC when that is known."""
    named = clean(part.get("network"), MAX_FIELD)
    network = None if named is None else network_id(named)
    symbol = part.get("symbol")
    asset = clean(part.get("asset") or (symbol if symbol != "USD" else None), MAX_FIELD)
    decimals = usdc_decimals(network, asset, part.get("issuer"))
    if decimals is None and network is None and "decimals" in part and str(asset).upper() == "USDC":
        decimals = int(part["decimals"])
    amount, in_usdc = _amount(part, decimals, is_decimal=has_decimal_amounts(network))
    timeout = figures.atomic(part.get("timeout"))
    offer = Offer(
        scheme=clean(part.get("scheme"), MAX_FIELD),
        network=network,
        asset=asset,
        amount=amount,
        pay_to=clean(part.get("pay_to"), MAX_FIELD),
        max_timeout_seconds=int(timeout) if timeout is not None and len(timeout) <= 9 else None,
    )
    return offer, in_usdc


def _amount(part: Mapping[str, Any], decimals: int | None, *, is_decimal: bool) -> tuple[str | None, Decimal | None]:
    """The amount in the form in which it is paid, and the amount in USDC.

    Args:
        decimals: of USDC, when the asset is USDC.
        is_decimal: amounts on this network have no atomic unit.
    """
    whole = figures.atomic(part.get("amount"))
    if whole is None and decimals is not None and len(part.get("asset") or "") >= _LEAST_ADDRESS:
        stated_whole = figures.atomic(part.get("price"))
        whole = stated_whole if stated_whole is not None and int(stated_whole) >= _LEAST_ATOMIC else None
    if whole is not None and not is_decimal:
        return whole, None if decimals is None or len(whole) > _MAX_DIGITS else Decimal(whole).scaleb(-decimals)
    written = figures.decimal(part.get("amount"))
    price = _price(part)
    value = written if written is not None else price.value if price is not None and price.is_usd is not False else None
    if value is None:
        return None, None
    if is_decimal:
        return figures.plain_text(value), value if decimals is not None else None
    if decimals is None:
        return (figures.plain_text(value) if written is not None else None), None
    scaled = value.scaleb(decimals)
    return (str(int(scaled)) if scaled == int(scaled) else None), value
