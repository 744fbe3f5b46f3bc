"""Multicall3, which settles several payments in one transaction: its code, which Base, Ethereum and most chains have.

From the constant MULTICALL3_BYTECODE of PyPI's multicall 0.12.3; the hash is that of the code on Ethereum. Its source is MIT
licensed: github.com/mds1/multicall3.
"""

from __future__ import annotations

from pathlib import Path

from shared.x402.evm import keccak256

ADDRESS = "0xcA11bde05977b3631167028862bE2a173976CA11"
_HASH = "d5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891"
_FILE = Path(__file__).with_name("multicall3.hex")


def code() -> bytes:
    """The code at ADDRESS. Raises ValueError when the file is not what it should be."""
    found = bytes.fromhex(_FILE.read_text())
    if keccak256(found).hex() != _HASH:
        raise ValueError(f"{_FILE} is not the code of Multicall3")
    return found
