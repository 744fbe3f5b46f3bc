"""`python -m compose.data`: fetches the pinned npm packages and writes the files anew. The same sources give the same bytes."""

from __future__ import annotations

from pathlib import Path

from compose.data import addresses, signatures, tokens
from compose.data.rdap import generate as rdap
from compose.sandbox.npm import install
from jobs.engines.evm.data_file import FOLDER

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def main() -> None:
    """Write all files."""
    fetched = ROOT / "var" / "data"
    install(HERE, fetched)
    packages = fetched / "node_modules"
    lock = HERE / "package-lock.json"
    written = {
        "addresses.bin": addresses.generate(HERE / "malicious_addresses.csv"),
        "tokens.tsv": tokens.generate(packages, lock),
        "signatures.tsv": signatures.generate(packages, lock, HERE / "signatures.txt"),
    }
    for name, content in written.items():
        (FOLDER / name).write_bytes(content)
        print(f"{name}: {len(content)} bytes")
    rdap.main(fetched / "rdap")


if __name__ == "__main__":
    main()
