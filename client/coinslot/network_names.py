"""The names of networks, as people know them."""

from __future__ import annotations

_NAMES = {"eip155:8453": "Base", "eip155:84532": "Base Sepolia", "eip155:1": "Ethereum"}
_KINDS = {"solana": "Solana", "stellar": "Stellar", "xrpl": "the XRP Ledger"}


def network_name(network: str) -> str:
    """The name of a CAIP-2 network; the identifier itself when we know no name."""
    return _NAMES.get(network) or _KINDS.get(network.partition(":")[0]) or network
