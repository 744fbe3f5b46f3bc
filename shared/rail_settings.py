"""The settings of one rail. The field `pay_to` of the rail `solana` is COINSLOT_SOLANA_PAY_TO."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RailSettings:
    """What every rail has. An address that may hold a password or a key is not in repr()."""

    network: str
    """CAIP-2 network."""
    pay_to: str = ""
    """Recipient of the payments. Empty: the rail is not offered."""
    facilitator_url: str = field(default="http://127.0.0.1:4021", repr=False)
    """x402 facilitator of this rail: ours, or any other that speaks the standard API."""
    facilitator_headers_file: str = ""
    """File of headers that this facilitator wants on every call, an API key for instance: lines of ``Name: value``. Secret."""
    facilitator_cdp_key_file: str = field(default="", init=False)
    """Coinbase's facilitator settles on some EVM networks and on Solana. The others have no such setting."""
    rpc_url: str = field(default="", repr=False)
    """JSON-RPC node that our facilitator settles through. Empty: our facilitator does not settle on this network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvmRailSettings(RailSettings):
    """USDC on Base, or on another EVM network that has it."""

    network: str = "eip155:8453"
    facilitator_cdp_key_file: str = ""
    """API key of Coinbase Developer Platform, the JSON file of its portal, where the facilitator is Coinbase's. Secret."""
    settler_key_file: Path = Path("var/settler.key")
    """Private key in hex of the account that sends settlements and pays their gas. Only the facilitator reads it."""
    max_fee_gwei: float = 5.0
    """Highest fee for one unit of gas that is offered: twice the base fee and the tip. Above it nothing is sent."""
    low_balance_eth: float = 0.001
    """Balance of that account below which the log warns."""
    batch: int = 50
    """Payments that one transaction may settle together, through Multicall3. 1: each has a transaction of its own."""
    spacing_ms: int = 100
    """Milliseconds between two transactions: 0 where every transaction is a block, 100 where a block takes 2 s."""
    finality: str = "included"
    """What is waited for before a payment counts as settled: ``preconfirmed``, ``included`` in a block, or a number of blocks
    on top of that."""
    journal_file: str = ""
    """File of what was sent and is in no block yet. Empty: beside the settler's key, with the chain's id in its name."""

    @property
    def journal_path(self) -> Path:
        """Where that file is."""
        return Path(self.journal_file or f"{self.settler_key_file}.{self.network.partition(':')[2]}.journal")


@dataclass(frozen=True, slots=True, kw_only=True)
class EthereumRailSettings(EvmRailSettings):
    """USDC on Ethereum itself, beside the EVM rail. One settler key may serve both networks."""

    network: str = field(default="eip155:1", init=False)
    facilitator_cdp_key_file: str = field(default="", init=False)
    max_fee_gwei: float = 20.0
    low_balance_eth: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class SolanaRailSettings(RailSettings):
    """USDC on Solana. The recipient is a wallet's address, whose token account for USDC exists."""

    network: str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
    facilitator_cdp_key_file: str = ""
    """API key of Coinbase Developer Platform, the JSON file of its portal, where the facilitator is Coinbase's. Secret."""
    settler_key_file: Path = Path("var/solana-settler.key")
    """Key of the fee payer: a 32-byte seed in hex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StellarRailSettings(RailSettings):
    """USDC on Stellar. The recipient has a trust line for it. No Stellar RPC is public for everybody."""

    network: str = "stellar:pubnet"
    settler_key_file: Path = Path("var/stellar-settler.key")
    """Secret key ``S...`` of the account that sends settlements and pays their fees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class XrplRailSettings(RailSettings):
    """USDC and RLUSD on the XRP Ledger. The recipient has a trust line for each. Payers pay the fees, so no key is needed."""

    network: str = "xrpl:0"
    tokens: str = "usdc,rlusd"
    """Which of the two."""
    read_urls: tuple[str, ...] = field(default=(), repr=False)
    """JSON-RPC servers that endpoints read from, in this order. Not set: `rpc_url`, if that is set."""

    def __post_init__(self) -> None:
        if not self.read_urls and self.rpc_url:
            object.__setattr__(self, "read_urls", (self.rpc_url,))


_EVM_ADDRESS = ("0x[0-9a-fA-F]{40}", "a 0x address of 40 hex digits")
_FINALITY = "preconfirmed, included, or a number of blocks from 1 to 99"
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"

FORMS = {
    **{f"{rail}_FINALITY": ("preconfirmed|included|[1-9][0-9]?", _FINALITY) for rail in ("EVM", "ETHEREUM")},
    "EVM_NETWORK": ("eip155:[1-9][0-9]{0,17}", "eip155:<chain id>"),
    "EVM_PAY_TO": _EVM_ADDRESS,
    "ETHEREUM_PAY_TO": _EVM_ADDRESS,
    "SOLANA_NETWORK": (f"solana:{_BASE58}{{32}}", "solana:<first 32 characters of the genesis hash>"),
    "SOLANA_PAY_TO": (f"{_BASE58}{{32,44}}", "a base58 address"),
    "STELLAR_NETWORK": ("stellar:(pubnet|testnet)", "stellar:pubnet or stellar:testnet"),
    "STELLAR_PAY_TO": ("[GMC][A-Z2-7]{55,68}", "a G..., M... or C... address"),
    "XRPL_NETWORK": ("xrpl:(0|[1-9][0-9]{0,9})", "xrpl:<network id>"),
    "XRPL_PAY_TO": ("r[1-9A-HJ-NP-Za-km-z]{24,34}", "a classic r... address"),
    "XRPL_TOKENS": ("usdc|rlusd|usdc,rlusd|rlusd,usdc", "usdc, rlusd or usdc,rlusd"),
}
"""By name: a regular expression, and the form in words. The rail verifies checksums (api/payment/rails.py)."""
