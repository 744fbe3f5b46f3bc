"""Addresses that took part in exploits and phishing, as sorted binary records.

malicious_addresses.csv holds `revoke`: RevokeCash/approval-exploit-list at 27310109 (MIT), chains 1 and 8453; and `forta`:
forta-network/labelled-datasets at 40a9c2f2 (MIT), chain 1, data of January 2023. `revoke` lists attackers, who hacked a site or
a library, and contracts that were exploited: the kind of these is `exploited_contract`.

A record has 23 bytes: the address, the chain id in 2 bytes, and the place of its label in the header's `labels`, each a list of
kind, source and note.
"""

import csv
import hashlib
from pathlib import Path

from compose.data.header import with_header


def generate(table: Path) -> bytes:
    """The file. Raises ValueError when an address is none."""
    raw = table.read_bytes()
    rows = list(csv.DictReader(raw.decode().splitlines()))
    labels = sorted({(row["kind"], row["source"], row["note"]) for row in rows})
    records = sorted({_record(row, labels) for row in rows})
    source = {
        "name": "RevokeCash/approval-exploit-list, forta-network/labelled-datasets",
        "version": "27310109, 40a9c2f2",
        "licence": "MIT",
        "digest": "sha256-" + hashlib.sha256(raw).hexdigest(),
    }
    return with_header(
        b"".join(records), records=len(records), sources=[source], labels=[list(label) for label in labels]
    )


def _record(row: dict[str, str], labels: list[tuple[str, str, str]]) -> bytes:
    address = bytes.fromhex(row["address"].removeprefix("0x"))
    if len(address) != 20:
        raise ValueError(f"no address: {row['address']}")
    label = labels.index((row["kind"], row["source"], row["note"]))
    return address + int(row["chain_id"]).to_bytes(2, "big") + label.to_bytes(1, "big")
