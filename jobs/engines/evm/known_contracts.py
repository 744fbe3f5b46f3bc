"""Contracts that many transactions call, so that an answer can call them by name (jobs/engines/evm/data/contracts.tsv).

A name is no proof of safety: behaviour decides.
"""

from functools import cache
from typing import NamedTuple

from jobs.engines.evm import data_file
from jobs.ports.chains import CHAIN_IDS, Chain


class KnownContract(NamedTuple):
    """`is_approved`: whether wallets usually approve it for their tokens."""

    name: str
    is_approved: bool


def known_contract(chain: Chain, address: str) -> KnownContract | None:
    """The contract with this address, in lower case; None for all others."""
    return _table().get((CHAIN_IDS[chain], address))


@cache
def _table() -> dict[tuple[int, str], KnownContract]:
    return {
        (int(chain_id), address): KnownContract(name, kind == "approved")
        for chain_id, address, kind, name in data_file.lines("contracts.tsv")
    }
