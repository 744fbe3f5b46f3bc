"""Contracts with a name, from contracts.txt."""

import hashlib
from pathlib import Path

from compose.data.header import with_header


def generate(table: Path) -> bytes:
    """The file: chain id, address, whether wallets approve it, and name in lines, sorted."""
    lines = []
    for line in table.read_text().splitlines():
        if line and not line.startswith("#"):
            chain_id, address, kind, name = line.split("\t")
            lines += [
                f"{each}\t{address}\t{kind}\t{name}\n" for each in (("1", "8453") if chain_id == "*" else (chain_id,))
            ]
    digest = "sha256-" + hashlib.sha256(table.read_bytes()).hexdigest()
    source = {"name": f"compose/data/{table.name}", "version": "2026-11-24", "licence": "MIT", "digest": digest}
    return with_header("".join(sorted(lines)).encode(), records=len(lines), sources=[source], reviewed="2026-11-24")
