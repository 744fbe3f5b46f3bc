"""Tokens that pass for others: the name or symbol of a canonical token, at another address."""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

from jobs.engines.evm.known_tokens import KnownToken, known_tokens
from jobs.engines.evm.lookalikes import readings, skeleton
from jobs.ports.chains import Chain

Likeness = Literal["disguised", "name_and_symbol", "symbol", "name"]
NATIVE = KnownToken("", 18, "ETH", "Ether")
"""The chain's own coin is no contract, so whatever is called so is none."""
_SHORT = 3
"""Symbols with fewer letters are shared by honest tokens."""


class Copycat(NamedTuple):
    """What a token passes for.

    Attributes:
        likeness: `disguised` when it is written differently and looks the same.
        original: the canonical token; its address is "" for ether.
    """

    likeness: Likeness
    original: KnownToken


def copycat(chain: Chain, address: str, symbol: str | None, name: str | None) -> Copycat | None:
    """What a token passes for; None when it is canonical itself, or is like none.

    Bridged forms that say so in their symbol (`USDC.e`, `USDbC`) are like none.
    """
    if address in known_tokens(chain):
        return None
    by_symbol, by_name = _skeletons(chain)
    same_symbol = _original(symbol, by_symbol)
    same_name = _original(name, by_name)
    if same_symbol is not None and symbol is not None:
        if symbol.casefold() != same_symbol.symbol.casefold():
            return Copycat("disguised", same_symbol)
        if same_name is not None:
            return Copycat("name_and_symbol", same_symbol)
        if len(skeleton(symbol)) >= _SHORT:
            return Copycat("symbol", same_symbol)
    if same_name is not None and name is not None:
        return Copycat("disguised" if name.casefold() != same_name.name.casefold() else "name", same_name)
    return None


def _original(text: str | None, originals: dict[str, KnownToken]) -> KnownToken | None:
    found = (originals[reading] for reading in sorted(readings(text or "")) if reading in originals)
    return next(found, None)


@cache
def _skeletons(chain: Chain) -> tuple[dict[str, KnownToken], dict[str, KnownToken]]:
    """Canonical tokens by what their symbols and names look like; the first of a list for what several share."""
    by_symbol: dict[str, KnownToken] = {}
    by_name: dict[str, KnownToken] = {}
    for token in (NATIVE, *known_tokens(chain).values()):
        by_symbol.setdefault(skeleton(token.symbol), token)
        by_name.setdefault(skeleton(token.name), token)
    by_symbol.pop("", None)
    by_name.pop("", None)
    return by_symbol, by_name
