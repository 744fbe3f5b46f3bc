"""Foundry's anvil: where it is, and how the sandbox runs it.

It comes from npm, pinned in package.json and package-lock.json beside this file, and is a plain binary that needs no Node:

    mkdir -p var/node
    cp compose/sandbox/package.json compose/sandbox/package-lock.json var/node/
    npm ci --ignore-scripts --prefix var/node

The lock pins the binary for 64-bit Linux on x86. On another machine, ARM for instance, install Foundry: an anvil on PATH is
found, and COINSLOT_ANVIL names one elsewhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from compose.sandbox import fixtures
from shared.nodes.json_rpc import JsonRpc

_OPTIONS = (
    *("--host", "127.0.0.1", "--no-cors", "--silent", "--accounts", "0"),
    # What Base speaks: EIP-7702 is in it, so an account with a key may have code.
    *("--hardfork", "prague"),
    # A block for every transaction at once, and one every so often, as on the real chain. Without the latter the newest
    # block, and with it the time that eth_call sees, stays behind the clock: a fresh authorization would be "not yet valid".
    "--mixed-mining",
    # The states of old blocks go to the disk, up to 3,600 of them, without this option. The newest few must stay
    # (--prune-history would drop them too): "latest" is looked up first and read afterwards, and may be old by then.
    *("--max-persisted-states", "1"),
    # No --state: with a block every 2 s the file would grow by some 75 MB a day. Every start is a fresh chain.
)
_BLOCK_TIME_S = {fixtures.BASE: "2", fixtures.ETHEREUM: "12", fixtures.TESTNET: "2"}
# The contract that remembers the last 8,191 block hashes (EIP-2935).
_BLOCK_HASHES = "0x0000F90827F1C53a10cb7A02335B175320002935"
_STOP = "0x00"


def find_anvil(folders: Iterable[Path]) -> Path | None:
    """The anvil binary: COINSLOT_ANVIL, else npm's in one of `folders` (npm prefixes, such as ``var/node``), else PATH.

    Raises:
        FileNotFoundError: COINSLOT_ANVIL names a file that is not there.
    """
    named = os.environ.get("COINSLOT_ANVIL")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(f"COINSLOT_ANVIL names {named}, which does not exist")
        return Path(named)
    for folder in folders:
        # npm installs the package of this platform only, whatever it is called.
        for binary in sorted(folder.glob("node_modules/@foundry-rs/anvil-*/bin/anvil*")):
            return binary
    on_path = shutil.which("anvil")
    return Path(on_path) if on_path else None


def command(binary: Path, port: int, chain_id: int, var: Path, first_block: Mapping[str, Any]) -> list[str]:
    """The command line of the sandbox's node.

    Args:
        first_block: geth's genesis.json.
    """
    folder = var.resolve() / "sandbox" / f"anvil-{chain_id}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "genesis.json").write_bytes(msgspec.json.encode(first_block))
    place = ("--port", str(port), "--chain-id", str(chain_id), "--cache-path", str(folder))
    pace = ("--init", str(folder / "genesis.json"), "--block-time", _BLOCK_TIME_S[chain_id])
    return [str(binary.resolve()), *place, *pace, *_OPTIONS]


def forget_block_hashes(rpc: JsonRpc) -> None:
    """Stop the one part of the state that grows with every block: a copy of it is kept per block, and after some hours each
    copy is 4 MB. Nothing in the sandbox asks for old block hashes."""
    rpc("anvil_setCode", _BLOCK_HASHES, _STOP)
