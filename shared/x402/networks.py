"""Networks and assets that a call can be paid with. Identifiers are exact."""

import enum
from dataclasses import dataclass
from typing import ClassVar


class Rail(enum.StrEnum):
    """One network and asset, in the order of our challenges. The value is its name in `--rail` and in the settings."""

    BASE = "base"
    SOLANA = "solana"
    STELLAR = "stellar"
    XRPL_USDC = "xrpl-usdc"
    XRPL_RLUSD = "xrpl-rlusd"
    ETHEREUM = "ethereum"


@dataclass(frozen=True, slots=True)
class EvmToken:
    """An ERC-20 with EIP-3009.

    Attributes:
        network: CAIP-2 ``eip155:<chain id>``.
        address: checksummed contract address.
        name, version: the token's EIP-712 domain. A wrong name makes signatures invalid, and nothing says why.
        decimals: of the atomic unit.
    """

    symbol: ClassVar[str] = "USDC"
    network: str
    address: str
    name: str
    version: str
    decimals: int

    @property
    def chain_id(self) -> int:
        """The number in the CAIP-2 name."""
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


@dataclass(frozen=True, slots=True)
class SolanaToken:
    """An SPL token.

    Attributes:
        network: CAIP-2 ``solana:<first 32 characters of the genesis hash>``.
        mint: base58.
        decimals: of the atomic unit.
    """

    symbol: ClassVar[str] = "USDC"
    network: str
    mint: str
    decimals: int


# CAIP-2's Solana namespace.
SOLANA_MAINNET = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
SOLANA_DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"

# Circle's list of USDC mints.
SOLANA_USDC: dict[str, SolanaToken] = {
    token.network: token
    for token in (
        SolanaToken(SOLANA_MAINNET, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", 6),
        SolanaToken(SOLANA_DEVNET, "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", 6),
    )
}


@dataclass(frozen=True, slots=True)
class StellarToken:
    """A classic asset's contract (SEP-41).

    Attributes:
        network: CAIP-2.
        contract: ``C...``.
        issuer: ``G...``, of the classic asset ``USDC``.
        decimals: of the atomic unit. They are 7 here, and 6 on other networks.
        passphrase: names the network in everything that is signed.
    """

    symbol: ClassVar[str] = "USDC"
    network: str
    contract: str
    issuer: str
    decimals: int
    passphrase: str


# The contract follows from asset, issuer and passphrase; these are the constants of npm @x402/stellar 2.27.0. Issuers: Circle's
# list of USDC's addresses.
STELLAR_USDC: dict[str, StellarToken] = {
    token.network: token
    for token in (
        StellarToken(
            "stellar:pubnet",
            "CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75",
            "GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN",
            7,
            "Public Global Stellar Network ; September 2015",
        ),
        StellarToken(
            "stellar:testnet",
            "CBIELTK6YBZJU5UP2WWQEUCYKLPU6AUNZ2BQ4WWFEIE3USCIHMXQDAMA",
            "GBBD47IF6LWK7P7MDEVSCWR7DPUWV3NY3DTQEVFL4NAT4AQH3ZLLFLA5",
            7,
            "Test SDF Network ; September 2015",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class XrplToken:
    """A token that an account issues. Amounts are decimal values, not atomic units.

    Attributes:
        network: CAIP-2 ``xrpl:<network id>``.
        currency: 40 hex digits, upper case.
        issuer: classic address. The same currency of another issuer is another token.
        symbol: shown to people.
        decimals: an offer writes whole tokens.
    """

    decimals: ClassVar[int] = 0

    network: str
    currency: str
    issuer: str
    symbol: str


_USDC_CODE = "5553444300000000000000000000000000000000"
_RLUSD_CODE = "524C555344000000000000000000000000000000"

# Issuers: Circle's and Ripple's own announcements of their tokens on the XRP Ledger.
XRPL_USDC: dict[str, XrplToken] = {
    token.network: token
    for token in (
        XrplToken("xrpl:0", _USDC_CODE, "rGm7WCVp9gb4jZHWTEtGUr4dd74z2XuWhE", "USDC"),
        XrplToken("xrpl:1", _USDC_CODE, "rHuGNhqTG32mfmAvWA8hUyWRLV3tCSwKQt", "USDC"),
    )
}
XRPL_RLUSD: dict[str, XrplToken] = {
    token.network: token
    for token in (
        XrplToken("xrpl:0", _RLUSD_CODE, "rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De", "RLUSD"),
        XrplToken("xrpl:1", _RLUSD_CODE, "rQhWct2fv4Vc4KRjRgMrxa8xPN9Zx9iLKV", "RLUSD"),
    )
}

Token = EvmToken | SolanaToken | StellarToken | XrplToken

# x402 v1 called networks by name. We understand the names of those that we can settle on.
V1_NAMES: dict[str, str] = {"base": "eip155:8453", "base-sepolia": "eip155:84532", "ethereum": "eip155:1"}
