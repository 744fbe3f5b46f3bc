"""Canonical tokens of Ethereum and Base: USDC as Circle names it, and the lists of the Superchain, of Aave and of Beefy.

MetaMask's list has many tokens that died long ago, so only those of well_known_tokens.txt are taken from it.
"""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compose.data.header import npm_source, with_header
from shared.x402.networks import EVM_USDC

CHAINS = {1: "ethereum", 8453: "base"}
METAMASK = "@metamask/contract-metadata"
SUPERCHAIN = "@eth-optimism/tokenlist"
AAVE = "@aave-dao/aave-address-book"
BEEFY = "@beefyfinance/blockchain-addressbook"
HERE = Path(__file__).parent
WELL_KNOWN, IMITATED = HERE / "well_known_tokens.txt", HERE / "imitated_tokens.txt"
REVIEWED = "2026-11-24"
"""When somebody last read these two files and looked for newer versions of the lists."""

Key = tuple[int, str]
Row = tuple[int, str, str]


def generate(packages: Path, lock: Path) -> bytes:
    """The file: chain id, address in lower case, decimals, symbol, name and what a copy imitates in lines, sorted."""
    rows = canonical(packages)
    imitated = {(int(chain_id), address): by for chain_id, address, by in _written(IMITATED)}
    if unknown := imitated.keys() - rows.keys():
        raise ValueError(f"no list has {sorted(unknown)}")
    lines = [
        "\t".join((str(key[0]), key[1], str(decimals), _plain(symbol), _plain(name), imitated.get(key, "")))
        for key, (decimals, symbol, name) in sorted(rows.items())
    ]
    sources = [npm_source(lock, each) for each in (SUPERCHAIN, AAVE, BEEFY, METAMASK)]
    sources += [_own(path) for path in (WELL_KNOWN, IMITATED)]
    body = "".join(line + "\n" for line in lines).encode()
    return with_header(body, records=len(lines), sources=sources, reviewed=REVIEWED)


def canonical(packages: Path) -> dict[Key, Row]:
    """Decimals, symbol and name by chain id and address. The first list that has a token describes it."""
    rows: dict[Key, Row] = {}
    for usdc in EVM_USDC.values():
        rows[usdc.chain_id, usdc.address.lower()] = (usdc.decimals, "USDC", usdc.name)
    script = "process.stdout.write(JSON.stringify(require(process.argv[1]).default.tokens))"
    rows = _of_list(_evaluated(script, packages / SUPERCHAIN)) | rows
    rows = _of_list(json.loads((packages / AAVE / "tokenlist.json").read_bytes())["tokens"]) | rows
    for chain_id, name in CHAINS.items():
        script = "process.stdout.write(JSON.stringify(Object.values(require(process.argv[1]).tokens)))"
        beefy = packages / BEEFY / "dist" / "address-book" / name / "tokens" / "tokens.cjs"
        rows = _of_list({**each, "chainId": chain_id} for each in _evaluated(script, beefy)) | rows
    return {key: row for key, row in (_well_known(packages) | rows).items() if key[0] in CHAINS}


def others(packages: Path) -> bytes:
    """MetaMask's tokens that are not canonical, to count those that are taken for copies."""
    known = canonical(packages)
    rest = sorted((key, row) for key, row in _metamask(packages).items() if key not in known)
    lines = [f"{chain}\t{address}\t{_plain(symbol)}\t{_plain(name)}\n" for (chain, address), (_, symbol, name) in rest]
    return "".join([f"# Tokens of {METAMASK} (ISC) that are not canonical, made by scripts/data.\n", *lines]).encode()


def _well_known(packages: Path) -> dict[Key, Row]:
    listed = _metamask(packages)
    found: dict[Key, Row] = {}
    for chain_id, address, *described in _written(WELL_KNOWN):
        key = int(chain_id), address
        found[key] = (int(described[0]), described[1], " ".join(described[2:])) if described else listed[key]
    return found


def _metamask(packages: Path) -> dict[Key, Row]:
    listed = json.loads((packages / METAMASK / "contract-map.json").read_bytes())
    return _of_list({**each, "address": at, "chainId": 1} for at, each in listed.items() if each.get("erc20"))


def _of_list(tokens: Any) -> dict[Key, Row]:
    return {
        (token["chainId"], token["address"].lower()): (token["decimals"], token["symbol"], token["name"])
        for token in tokens
    }


def _evaluated(script: str, module: Path) -> list[dict[str, Any]]:
    """Some lists are JavaScript, so node reads them."""
    done = subprocess.run(["node", "-e", script, str(module.resolve())], capture_output=True, check=True)  # noqa: S607
    tokens: list[dict[str, Any]] = json.loads(done.stdout)
    return tokens


def _written(path: Path) -> Iterator[list[str]]:
    lines = (line.partition(" #")[0].split() for line in path.read_text().splitlines() if not line.startswith("#"))
    return (line for line in lines if line)


def _own(path: Path) -> dict[str, str]:
    digest = "sha256-" + hashlib.sha256(path.read_bytes()).hexdigest()
    return {"name": f"compose/data/{path.name}", "version": REVIEWED, "licence": "MIT", "digest": digest}


def _plain(text: str) -> str:
    return " ".join(text.split())
