"""Reads numbers and prices in other sites' documents. A number's length is checked first: `1e999999999` is very short."""

import re
from decimal import Decimal
from typing import NamedTuple

_ATOMIC = re.compile(r"[0-9]{1,78}", re.ASCII)  # as many digits as 2**256 has
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_PRICE = re.compile(
    r"\s*(?P<before>US\$|\$|USDC?\b)?\s*"
    r"(?P<number>(?:[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,12}|(?=\.[0-9]))(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,2})?)"
    r"(?![.,]?[0-9])"
    r"\s*(?P<after>\$|[A-Za-z€£µμ]{1,16})?\s*(?P<rest>.{0,24})",
    re.ASCII | re.DOTALL,
)
_MICRO = re.compile(r"\s*(?:micro|\u00b5|\u03bc|u)[ -]?USDC?\b", re.IGNORECASE)
_OTHER_UNIT = re.compile(
    r"(/|per|a|for|each)?\s*(?:(?:mo|month|year|yr|week|day|hour|h|minute|min|second|sec|s)\b"
    r"|[0-9][0-9,]{2,}|[0-9]+ ?[km]\b|thousand|million|billion|[km]-?tok)",
    re.IGNORECASE | re.ASCII,
)
"""What a price is for that is not one call: a time, or hundreds of calls or more."""
_DOLLARS = frozenset({"$", "us$", "usd", "usdc", "dollar", "dollars"})
_NO_UNIT = frozenset({"per", "each", "a", "an", "for"})


class Number(str):
    """A JSON number, as it was written."""

    __slots__ = ()


class Price(NamedTuple):
    """A price in whole units of some asset.

    Attributes:
        is_usd: whether it is in dollars or USDC; None when it does not name its unit.
    """

    value: Decimal
    is_usd: bool | None


def atomic(value: object) -> str | None:
    """An amount that is a whole number, without leading zeros. None for anything else."""
    if isinstance(value, str) and _ATOMIC.fullmatch(value):
        return value.lstrip("0") or "0"
    return None


def decimal(value: object) -> Decimal | None:
    """A plain decimal of moderate length. None for anything else."""
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        return None
    return Decimal(value)


def price(value: object, *, is_usd: bool | None = None) -> Price | None:
    """A price: `0.01`, `"$0.001"`, `"1,000 USDC"`, `"$0.0003 per call"`, `"500 micro-USDC"`. One per month, or for a thousand
    calls, is none.

    Args:
        is_usd: what the context says about the unit.
    """
    if not isinstance(value, str):
        return None
    if isinstance(value, Number):
        number = decimal(value)
        return None if number is None else Price(number, is_usd)
    found = _PRICE.fullmatch(value[:64])
    if found is None:
        return None
    if _MICRO.match(value, found.end("number")):
        return Price(_number(found).scaleb(-6), True)
    before, after = found["before"], found["after"]
    if after and after.lower() not in _NO_UNIT:
        is_usd = after.lower() in _DOLLARS
    elif before:
        is_usd = True
    tail = found["rest"] if not after or is_usd else f"{after} {found['rest']}"
    if _OTHER_UNIT.match(tail.strip()):
        return None
    return Price(_number(found), is_usd)


def _number(found: re.Match[str]) -> Decimal:
    return Decimal(found["number"].replace(",", ""))


def plain_text(value: Decimal) -> str:
    """Write a decimal without an exponent or trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
