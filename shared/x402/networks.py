"""Networks and assets that a call can be paid with. Identifiers are exact."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Rail(enum.StrEnum):
    """One network and asset. The value is what `--rail` and the settings call it."""

    BASE = "base"
    SOLANA = "solana"
    STELLAR = "stellar"
    XRPL_USDC = "xrpl-usdc"
    XRPL_RLUSD = "xrpl-rlusd"


@dataclass(frozen=True, slots=True)
class EvmToken:
    """An ERC-20 with EIP-3009.

    Attributes:
        network: CAIP-2 ``eip155:<chain id>``.
        address: checksummed contract address.
        name, version: the token's EIP-712 domain. A wrong name is a silent signature failure.
        decimals: of the atomic unit.
    """

    network: str
    address: str
    name: str
    version: str
    decimals: int

    @property
    def chain_id(self) -> int:
        """The number in the network's name."""
        return int(self.network.partition(":")[2])


# Addresses and domains: Circle's contract list and the token tables of the official x402 SDK (PyPI x402 2.25.0).
EVM_USDC: dict[str, EvmToken] = {
    token.network: token
    for token in (
        EvmToken("eip155:8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin", "2", 6),
        EvmToken("eip155:84532", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC", "2", 6),
        EvmToken("eip155:1", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USD Coin", "2", 6),
    )
}

# x402 v1 called networks by name. Only those that we can be configured to settle are understood.
V1_NAMES: dict[str, str] = {"base": "eip155:8453", "base-sepolia": "eip155:84532", "ethereum": "eip155:1"}
