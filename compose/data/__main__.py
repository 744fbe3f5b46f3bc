"""`python -m compose.data`: fetches the pinned npm packages and writes the files anew. The same sources give the same bytes."""

from pathlib import Path

from compose.data import addresses, contracts, signatures, tokens
from compose.data.rdap import generate as rdap
from compose.sandbox.npm import install
from jobs.engines.evm.data_file import FOLDER

HERE = Path(__file__).parent
SIGNATURES = ("signatures.txt", "published_signatures.txt")
ROOT = HERE.parent.parent


def main() -> None:
    """Write all files, and the tokens and top-level domains that tests/quality measures with."""
    fetched = ROOT / "var" / "data"
    install(HERE, fetched)
    packages = fetched / "node_modules"
    lock = HERE / "package-lock.json"
    written = {
        "addresses.bin": addresses.generate(HERE / "malicious_addresses.csv"),
        "contracts.tsv": contracts.generate(HERE / "contracts.txt"),
        "tokens.tsv": tokens.generate(packages, lock),
        "signatures.tsv": signatures.generate(packages, lock, *(HERE / name for name in SIGNATURES)),
    }
    for name, content in written.items():
        (FOLDER / name).write_bytes(content)
        print(f"{name}: {len(content)} bytes")
    (ROOT / "tests" / "quality" / "other_tokens.tsv").write_bytes(tokens.others(packages))
    rdap.main(fetched / "rdap")


if __name__ == "__main__":
    main()
