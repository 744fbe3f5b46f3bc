"""Canonical tokens: what MetaMask lists on Ethereum and the Superchain token list on Base, and USDC as Circle names it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compose.data.header import npm_source, with_header
from shared.x402.networks import EVM_USDC

ETHEREUM, BASE = 1, 8453
METAMASK = "@metamask/contract-metadata"
SUPERCHAIN = "@eth-optimism/tokenlist"


def generate(packages: Path, lock: Path) -> bytes:
    """The file: chain id, address in lower case, decimals, symbol and name in lines, sorted."""
    rows = {
        (chain_id, address): (decimals, symbol, name) for chain_id, address, decimals, symbol, name in _rows(packages)
    }
    lines = [
        "\t".join((str(chain_id), address, str(decimals), _plain(symbol), _plain(name)))
        for (chain_id, address), (decimals, symbol, name) in sorted(rows.items())
    ]
    sources = [npm_source(lock, METAMASK), npm_source(lock, SUPERCHAIN)]
    return with_header("".join(line + "\n" for line in lines).encode(), records=len(lines), sources=sources)


def _rows(packages: Path) -> Iterator[tuple[int, str, int, str, str]]:
    for usdc in EVM_USDC.values():
        if usdc.chain_id in (ETHEREUM, BASE):
            yield usdc.chain_id, usdc.address.lower(), usdc.decimals, "USDC", usdc.name
    listed = json.loads((packages / METAMASK / "contract-map.json").read_bytes())
    for address, token in listed.items():
        if token.get("erc20"):
            yield ETHEREUM, address.lower(), token["decimals"], token["symbol"], token["name"]
    for token in _superchain(packages):
        if token["chainId"] == BASE:
            yield BASE, token["address"].lower(), token["decimals"], token["symbol"], token["name"]


def _superchain(packages: Path) -> list[dict[str, Any]]:
    """The list is JavaScript, so node reads it."""
    script = "process.stdout.write(JSON.stringify(require(process.argv[1]).default.tokens))"
    done = subprocess.run(
        ["node", "-e", script, str((packages / SUPERCHAIN).resolve())],  # noqa: S607
        capture_output=True,
        check=True,
    )
    tokens: list[dict[str, Any]] = json.loads(done.stdout)
    return tokens


def _plain(text: str) -> str:
    return " ".join(text.split())
