"""The settings of one rail. The field `pay_to` of the rail `solana` is COINSLOT_SOLANA_PAY_TO."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from shared.settings.rules import (
    above_zero,
    anything,
    evm_address,
    evm_addresses,
    http_address,
    http_addresses,
    matching,
    setting,
    within,
)
from shared.settings.setting import PREFIX, InvalidSetting

_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_MAX_FEE = above_zero(1_000_000, "(0, 1000000] gwei")
_NO_FILE = Path()
_LOW_BALANCE = within(0, 1_000_000, "[0, 1000000] ETH")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RailSettings:
    """What every rail has. An address that may hold a password or a key is not in repr()."""

    network: str = setting("", anything)
    """CAIP-2 network."""
    pay_to: str = setting("", anything)
    """Recipient of the payments. Empty: the rail is not offered."""
    facilitator_url: str = setting("http://127.0.0.1:4021", http_address, repr=False)
    """x402 facilitator of this rail: ours, or any other that speaks the standard API."""
    facilitator_headers_file: str = setting("", anything)
    """File of headers that this facilitator wants on every call, an API key for instance: lines of ``Name: value``. Secret."""
    facilitator_cdp_key_file: str = setting("", anything, init=False)
    """Coinbase's facilitator settles on some EVM networks and on Solana. The others have no such setting."""
    rpc_url: str = setting("", http_address, repr=False)
    """JSON-RPC node that our facilitator settles through. Empty: our facilitator does not settle on this network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvmRailSettings(RailSettings):
    """USDC on Base, or on another EVM network that has it."""

    network: str = setting("eip155:8453", matching("eip155:[1-9][0-9]{0,17}", "eip155:<chain id>"))
    pay_to: str = setting("", evm_address)
    facilitator_cdp_key_file: str = setting("", anything)
    """API key of Coinbase Developer Platform, the JSON file of its portal, where the facilitator is Coinbase's. Secret."""
    listing_facilitator_url: str = setting("", http_address, repr=False)
    """Facilitator that lists in a catalogue what it settles, such as Coinbase's. It gets one payment for each endpoint in 25
    days, and `facilitator_url` all others. Empty: there is none."""
    listing_facilitator_headers_file: str = setting("", anything)
    """File of headers that it wants on every call. Secret."""
    listing_facilitator_cdp_key_file: str = setting("", anything)
    """API key of Coinbase Developer Platform, where it is Coinbase's. Secret."""
    settler_key_file: Path = Path("var/settler.key")
    """Private key in hex of the account that sends settlements and pays their gas. Only the facilitator reads it."""
    max_fee_gwei: float = setting(0.4, _MAX_FEE)
    """Highest fee for one unit of gas that is offered: twice the base fee and the tip. Above it nothing is sent. With 0.4 no
    settlement takes more than half a dollar of gas at 3,000 USDC for an ether, not even a contract wallet's of 400,000 gas."""
    wallet_factories: tuple[str, ...] = setting((), evm_addresses, variable="6492_FACTORIES")
    """Contracts that may be called, at the settler's cost, to deploy a wallet with its first payment (ERC-6492), with commas
    between them. Empty: wallets that are not deployed yet are refused."""
    low_balance_eth: float = setting(0.001, _LOW_BALANCE)
    """Balance of that account below which the log warns."""
    batch: int = setting(50, within(1, 100, "[1, 100]"))
    """Payments that one transaction may settle together, through Multicall3. 1: each has a transaction of its own."""
    spacing_ms: int = setting(100, within(0, 5_000, "[0, 5000] milliseconds"))
    """Milliseconds between two transactions: 0 where every transaction is a block, 100 where a block takes 2 s."""
    finality: str = setting(
        "included",
        matching("preconfirmed|included|[1-9][0-9]?", "preconfirmed, included, or a number of blocks from 1 to 99"),
    )
    """What is waited for before a payment counts as settled: ``preconfirmed``, ``included`` in a block, or a number of blocks
    on top of that."""
    journal_file: str = setting("", anything)
    """File of what was sent and is in no block yet. Empty: beside the settler's key, with the chain's id in its name."""

    channels: str = setting("off", matching("on|off", "on or off"))
    """Whether calls are also sold by channels: scheme `batch-settlement` (docs/channels.md)."""
    authorizer_key_file: Path = Path("var/evm-authorizer.key")
    """Private key in hex that signs claims and refunds of channels. Only the claimer reads it. It holds no money, and is
    another one than the settler's."""
    withdraw_delay_s: int = setting(86_400, within(900, 2_592_000, "[900, 2592000] seconds"))
    """How long a payer who withdraws from a channel has to wait. Until then what he owes has to be claimed. It is part of the
    offer: another value makes other channels."""
    min_deposit: int = setting(100_000, within(1, 100_000_000, "[1, 100000000] atomic units"))
    """Least deposit into a channel, in atomic units of the token. The offer of a dear endpoint has ten times its price."""
    claim_value: int = setting(1_000_000, within(1, 100_000_000, "[1, 100000000] atomic units"))
    """When a channel owes so many atomic units, it is claimed at once."""
    claim_after_s: int = setting(3_600, within(1, 648_000, "[1, 648000] seconds"))
    """And when its oldest charge is so old. A quarter of the delay, where that is less."""
    ether_price: float = setting(3_000.0, above_zero(1_000_000, "(0, 1000000] USDC"))
    """What an ether costs in USDC: with it the gas of a settlement is compared with its price, and that of a claim with what it
    brings. On a network with another currency, that one's."""
    channels_stale_s: int = setting(60, within(5, 225, "[5, 225] seconds"))
    """No voucher is taken while the claimer has not looked at the chain for so long: a withdrawal could be under way, and the
    shortest takes 900 s."""

    @property
    def factories(self) -> frozenset[str]:
        """`wallet_factories` in lower case."""
        return frozenset(address.lower() for address in self.wallet_factories)

    @property
    def has_channels(self) -> bool:
        """Whether calls are also sold by channels."""
        return self.channels == "on"

    @property
    def claim_within_s(self) -> float:
        """How old a charge may be that is not claimed."""
        return min(self.claim_after_s, self.withdraw_delay_s / 4)

    @property
    def journal_path(self) -> Path:
        """Where that file is."""
        return Path(self.journal_file or f"{self.settler_key_file}.{self.network.partition(':')[2]}.journal")


@dataclass(frozen=True, slots=True, kw_only=True)
class EthereumRailSettings(EvmRailSettings):
    """USDC on Ethereum itself, beside the EVM rail. One settler key may serve both networks."""

    network: str = setting("eip155:1", anything, init=False)
    facilitator_cdp_key_file: str = setting("", anything, init=False)
    listing_facilitator_url: str = setting("", anything, init=False)
    listing_facilitator_headers_file: str = setting("", anything, init=False)
    listing_facilitator_cdp_key_file: str = setting("", anything, init=False)
    low_balance_eth: float = setting(0.05, _LOW_BALANCE)
    channels: str = setting("off", anything, init=False)
    authorizer_key_file: Path = setting(_NO_FILE, anything, init=False)  # noqa: RUF009  # it makes a field
    withdraw_delay_s: int = setting(86_400, anything, init=False)
    min_deposit: int = setting(0, anything, init=False)
    claim_value: int = setting(0, anything, init=False)
    claim_after_s: int = setting(0, anything, init=False)
    channels_stale_s: int = setting(60, anything, init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SolanaRailSettings(RailSettings):
    """USDC on Solana. The recipient is a wallet's address, whose token account for USDC exists."""

    network: str = setting(
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        matching(f"solana:{_BASE58}{{32}}", "solana:<first 32 characters of the genesis hash>"),
    )
    pay_to: str = setting("", matching(f"{_BASE58}{{32,44}}", "a base58 address"))
    facilitator_cdp_key_file: str = setting("", anything)
    """API key of Coinbase Developer Platform, the JSON file of its portal, where the facilitator is Coinbase's. Secret."""
    settler_key_file: Path = Path("var/solana-settler.key")
    """Key of the fee payer: a 32-byte seed in hex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StellarRailSettings(RailSettings):
    """USDC on Stellar. The recipient has a trust line for it. No Stellar RPC is public for everybody."""

    network: str = setting("stellar:pubnet", matching("stellar:(pubnet|testnet)", "stellar:pubnet or stellar:testnet"))
    pay_to: str = setting("", matching("[GMC][A-Z2-7]{55,68}", "a G..., M... or C... address"))
    settler_key_file: Path = Path("var/stellar-settler.key")
    """Secret key ``S...`` of the account that sends settlements and pays their fees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class XrplRailSettings(RailSettings):
    """USDC and RLUSD on the XRP Ledger. The recipient has a trust line for each. Payers pay the fees, so no key is needed."""

    network: str = setting("xrpl:0", matching("xrpl:(0|[1-9][0-9]{0,9})", "xrpl:<network id>"))
    pay_to: str = setting("", matching(f"r{_BASE58}{{24,34}}", "a classic r... address"))
    tokens: str = setting("usdc,rlusd", matching("usdc|rlusd|usdc,rlusd|rlusd,usdc", "usdc, rlusd or usdc,rlusd"))
    """Which of the two."""
    read_urls: tuple[str, ...] = setting((), http_addresses, repr=False)
    """JSON-RPC servers that endpoints read from, in this order. Not set: `rpc_url`, if that is set."""

    def __post_init__(self) -> None:
        if not self.read_urls and self.rpc_url:
            object.__setattr__(self, "read_urls", (self.rpc_url,))


def configured_token(tokens: Mapping[str, T], network: str, prefix: str) -> T:
    """The token that is known on a network.

    Args:
        prefix: of the setting that names the network: ``solana`` for COINSLOT_SOLANA_NETWORK.

    Raises:
        InvalidSetting: no token is known there.
    """
    try:
        return tokens[network]
    except KeyError:
        raise InvalidSetting(f"{PREFIX}{prefix.upper()}_NETWORK: no token is known on {network}") from None
