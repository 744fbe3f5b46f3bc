"""Canonical tokens: those that a symbol stands for (jobs/engines/evm/data/tokens.tsv)."""

from functools import cache
from typing import NamedTuple

from jobs.engines.evm import data_file
from jobs.ports.chains import CHAIN_IDS, Chain

WRAPPED_ETHER: dict[Chain, str] = {
    "ethereum": "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
    "base": "0x4200000000000000000000000000000000000006",
}


class KnownToken(NamedTuple):
    """A canonical token.

    Attributes:
        address: in lower case.
        imitated: how swindlers imitate it: `symbol`, or `both` when other live tokens have its symbol, so that a copy has its
            name as well. "" when they seldom do.
    """

    address: str
    decimals: int
    symbol: str
    name: str
    imitated: str = ""


def known_tokens(chain: Chain) -> dict[str, KnownToken]:
    """The canonical tokens of a chain, by address."""
    return _by_chain()[CHAIN_IDS[chain]]


@cache
def _by_chain() -> dict[int, dict[str, KnownToken]]:
    found: dict[int, dict[str, KnownToken]] = {chain_id: {} for chain_id in CHAIN_IDS.values()}
    for chain_id, address, decimals, symbol, name, imitated in data_file.lines("tokens.tsv"):
        found[int(chain_id)][address] = KnownToken(address, int(decimals), symbol, name, imitated)
    return found
