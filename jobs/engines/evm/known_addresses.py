"""Addresses that took part in exploits and phishing, of attackers and of victims (jobs/engines/evm/data/addresses.bin)."""

from functools import cache
from typing import NamedTuple

from jobs.engines.evm import data_file

_RECORD = 23
"""20 bytes of address, 2 of chain id, 1 of label."""


class Listing(NamedTuple):
    """Why an address is known. `kind`: ``phishing``. `source`: the list that has it. `note`: the incident, or ""."""

    chain_id: int
    kind: str
    source: str
    note: str

    @property
    def is_attacker(self) -> bool:
        """Whether it belongs to somebody who means harm; a contract that was exploited is a victim."""
        return self.kind != "exploited_contract"


def listings(address: str) -> tuple[Listing, ...]:
    """The listings of an address, on any chain."""
    return _table().get(bytes.fromhex(address[2:]), ())


@cache
def _table() -> dict[bytes, tuple[Listing, ...]]:
    header, body = data_file.load("addresses.bin")
    found: dict[bytes, tuple[Listing, ...]] = {}
    for at in range(0, len(body), _RECORD):
        address = body[at : at + 20]
        listing = Listing(int.from_bytes(body[at + 20 : at + 22], "big"), *header.labels[body[at + 22]])
        found[address] = (*found.get(address, ()), listing)
    return found
