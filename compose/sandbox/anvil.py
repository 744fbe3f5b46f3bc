"""Foundry's anvil: where it is, and how the sandbox runs it.

It comes from npm, pinned in package.json and package-lock.json beside this file, and is a plain binary that needs no Node:

    mkdir -p var/node
    cp compose/sandbox/package.json compose/sandbox/package-lock.json var/node/
    npm ci --ignore-scripts --prefix var/node

The lock pins the binary for 64-bit Linux on x86; elsewhere npm installs nothing and the sandbox runs the py-evm chain, unless
an anvil is on PATH.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

OPTIONS = (
    *("--host", "127.0.0.1", "--no-cors", "--silent", "--accounts", "0"),
    # What Base speaks: EIP-7702 is in it, so an account with a key may have code.
    *("--hardfork", "prague"),
    # A block for every transaction at once, and one every 2 s as on Base. Without the latter the newest block, and with it
    # the time that eth_call sees, stays behind the clock: a fresh authorization would be "not yet valid".
    *("--mixed-mining", "--block-time", "2"),
    # Otherwise it writes the state of every block to the home folder, some 4 MB each.
    "--prune-history",
)
"""No --state: with a block every 2 s the file would grow by some 75 MB a day. Every start is a fresh chain."""


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
