"""Every setting, read once from the environment: the field `ledger_url` is COINSLOT_LEDGER_URL.

Secrets are never in the environment, which leaks into process lists and crash reports: they are files, named here.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from shared import failpoints

PREFIX = "COINSLOT_"


_EVM_ADDRESS = ("0x[0-9a-fA-F]{40}", "a 0x address of 40 hex digits")
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_FORMS = (
    ("evm_network", "eip155:[1-9][0-9]{0,17}", "eip155:<chain id>"),
    ("evm_pay_to", *_EVM_ADDRESS),
    ("ethereum_pay_to", *_EVM_ADDRESS),
    ("solana_network", f"solana:{_BASE58}{{32}}", "solana:<first 32 characters of the genesis hash>"),
    ("solana_pay_to", f"{_BASE58}{{32,44}}", "a base58 address"),
    ("stellar_network", "stellar:(pubnet|testnet)", "stellar:pubnet or stellar:testnet"),
    ("stellar_pay_to", "[GMC][A-Z2-7]{55,68}", "a G..., M... or C... address"),
    ("xrpl_network", "xrpl:(0|[1-9][0-9]{0,9})", "xrpl:<network id>"),
    ("xrpl_pay_to", "r[1-9A-HJ-NP-Za-km-z]{24,34}", "a classic r... address"),
    ("xrpl_tokens", "usdc|rlusd|usdc,rlusd|rlusd,usdc", "usdc, rlusd or usdc,rlusd"),
)
"""What a setting looks like. Checksums are for its rail to look at (api/payment/rails.py)."""
_RAIL_ADDRESSES = tuple(
    f"{rail}_{what}"
    for rail in ("evm", "ethereum", "solana", "stellar", "xrpl")
    for what in ("facilitator_url", "rpc_url")
)


class InvalidSetting(ValueError):
    """A setting cannot be used as it is. The text names it and says what it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of all processes. Each reads what it needs."""

    host: str = "127.0.0.1"
    """Address that the API listens on."""
    port: int = 4020
    """Port that the API listens on."""
    base_url: str = "http://127.0.0.1:4020"
    """Public address of the API, as callers see it: it is part of every challenge and discovery document."""
    ledger_url: str = "redis://127.0.0.1:4022/0"
    """Redis that keeps payments and answers. Needs `appendonly yes`, `appendfsync always`, `maxmemory-policy noeviction`."""
    queue_url: str = "redis://127.0.0.1:4023/0"
    """Redis that carries jobs and replies. Needs no persistence."""
    key_file: Path = Path("var/coinslot.key")
    """32 random bytes in hex, shared by the API and the workers: seals job arguments and answers, keys request fingerprints."""
    evm_network: str = "eip155:8453"
    """CAIP-2 network of the EVM rail."""
    evm_pay_to: str = ""
    """Recipient of EVM payments. Empty: the rail is not offered."""
    evm_facilitator_url: str = "http://127.0.0.1:4021"
    """x402 facilitator of the EVM rail: ours, or any other that speaks the standard API."""
    evm_facilitator_headers_file: str = ""
    """File of headers that this facilitator wants on every call, an API key for instance: lines of ``Name: value``. Secret."""
    settle_timeout_s: float = 8.0
    """Longest wait for one settlement, and 6 s more on Stellar and the XRP Ledger, which need them for a ledger. After it the
    outcome is unknown: 503, and the same payment is to be repeated."""
    rate_limits: str = ""
    """How often one payer may call, by pool, ``fast=10/20,render=0.3/3`` (calls a second, and at once after a rest) instead of
    the defaults in api/payment/limits.py; ``off`` for none, and for no bound on a payer's calls at a time."""
    observation_url: str = ""
    """Redis that keeps what render-pro, web-diff and xrpl-wallet-watch compare with. It needs no fsync. Empty: the ledger's."""
    observation_days: float = 90.0
    """How long it is kept after it was used last."""
    observations_per_payer: int = 1000
    """How many URLs and addresses of one payer. Beyond that, the one that was not used for the longest time is forgotten."""
    ledger_dir: str = ""
    """Folder of the ledger's files, where this machine has it: no payment is taken while its disk is nearly full."""
    ledger_free_mb: int = 512
    """What has to be free on that disk."""
    facilitator_host: str = "127.0.0.1"
    """Address that our facilitator listens on. Keep it private: it pays gas for whoever may call it."""
    facilitator_port: int = 4021
    """Port that our facilitator listens on."""
    evm_rpc_url: str = ""
    """JSON-RPC node that our facilitator settles through."""
    evm_settler_key_file: Path = Path("var/settler.key")
    """Private key in hex of the account that sends settlements and pays their gas. Read by the facilitator alone."""
    evm_max_fee_gwei: float = 5.0
    """Highest fee for one unit of gas that is offered: twice the base fee and the tip. Above it nothing is sent."""
    evm_low_balance_eth: float = 0.001
    """Balance of that account below which the log warns."""

    ethereum_pay_to: str = ""
    """Recipient of USDC on Ethereum itself, beside the EVM rail. Empty: it is not offered."""
    ethereum_facilitator_url: str = "http://127.0.0.1:4021"
    """Facilitator of this rail."""
    ethereum_facilitator_headers_file: str = ""
    """Its headers."""
    ethereum_rpc_url: str = ""
    """Node that our facilitator settles through."""
    ethereum_settler_key_file: Path = Path("var/settler.key")
    """The account that pays the gas. One key may be used on both networks."""
    ethereum_max_fee_gwei: float = 20.0
    """Highest fee for one unit of gas."""
    ethereum_low_balance_eth: float = 0.05
    """Balance below which the log warns."""

    solana_network: str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
    """CAIP-2 network of the Solana rail."""
    solana_pay_to: str = ""
    """Recipient of USDC on Solana: a wallet's address, whose token account for USDC exists. Empty: it is not offered."""
    solana_facilitator_url: str = "http://127.0.0.1:4021"
    """Facilitator of this rail."""
    solana_facilitator_headers_file: str = ""
    """Its headers."""
    solana_rpc_url: str = ""
    """Node that our facilitator settles through."""
    solana_settler_key_file: Path = Path("var/solana-settler.key")
    """Key of the fee payer: a 32-byte seed in hex."""

    stellar_network: str = "stellar:pubnet"
    """CAIP-2 network of the Stellar rail."""
    stellar_pay_to: str = ""
    """Recipient of USDC on Stellar, with a trust line for it. Empty: it is not offered."""
    stellar_facilitator_url: str = "http://127.0.0.1:4021"
    """Facilitator of this rail."""
    stellar_facilitator_headers_file: str = ""
    """Its headers."""
    stellar_rpc_url: str = ""
    """Stellar RPC that our facilitator settles through. There is no public one for everybody."""
    stellar_settler_key_file: Path = Path("var/stellar-settler.key")
    """Secret key ``S...`` of the account that sends settlements and pays their fees."""

    xrpl_network: str = "xrpl:0"
    """CAIP-2 network of the XRPL rails."""
    xrpl_pay_to: str = ""
    """Recipient of USDC and RLUSD on the XRP Ledger, with a trust line for each. Empty: neither is offered."""
    xrpl_tokens: str = "usdc,rlusd"
    """Which of the two."""
    xrpl_facilitator_url: str = "http://127.0.0.1:4021"
    """Facilitator of these rails."""
    xrpl_facilitator_headers_file: str = ""
    """Its headers."""
    xrpl_rpc_url: str = ""
    """JSON-RPC of a server that our facilitator submits to. Payers pay the ledger's fee, so there is no key."""

    production: bool = False
    """Real money and the real internet: local servers and a fixed time are refused (shared/egress.py)."""
    dns_server: str = ""
    """Name server that is asked, ``address:port``. Empty: those of /etc/resolv.conf."""
    hosts: str = ""
    """Names with an address of your choice, ``name=address,...``. It is checked as any other. Not in production."""
    egress_allow: str = ""
    """Networks that callers' hosts may lie in although they are not public, ``127.7.0.0/16,...``. Not in production."""
    egress_deny: str = ""
    """Networks that are never connected to beside those that are not public: your own addresses, ``198.51.100.7/32,...``."""
    egress_ports: str = ""
    """Ports beside those that URLs and ssl-info may name anyway (jobs/hosts.py), ``8000,...``."""
    ca_file: str = ""
    """PEM file of certificate authorities that are trusted beside the public ones."""
    whois_iana: str = "whois.iana.org:43"
    """WHOIS server that knows the others, ``host:port``."""
    whois_port: int = 43
    """Port of the other WHOIS servers."""
    youtube_url: str = "https://www.youtube.com"
    """Where captions are asked for."""
    failpoint: str = ""
    """Where a process is to kill itself, ``settled`` or ``settled@3`` (shared/failpoints.py). Not in production."""
    now: str = ""
    """A fixed time, ``2026-11-20T15:04:05Z``, for answers that depend on the date. Not in production."""

    def __post_init__(self) -> None:
        for name, form, like in _FORMS:
            text = getattr(self, name)
            if text and not re.fullmatch(form, text, re.ASCII):
                raise InvalidSetting(f"{PREFIX}{name.upper()} must be {like}")
        for name in ("evm_pay_to", "ethereum_pay_to"):
            if (text := getattr(self, name)) and int(text, 16) == 0:
                raise InvalidSetting(f"{PREFIX}{name.upper()} is the zero address: what it is paid is lost")
        for name in ("base_url", "youtube_url", *_RAIL_ADDRESSES):
            text = getattr(self, name)
            if text and not _is_address(text, ("http", "https")):
                raise InvalidSetting(f"{PREFIX}{name.upper()} must be an http(s) address without query or fragment")
        if "@" in self.base_url:
            raise InvalidSetting(f"{PREFIX}BASE_URL is shown to every caller: it must not hold a password")
        for name in ("ledger_url", "queue_url"):
            if not _is_address(getattr(self, name), ("redis", "rediss", "unix")):
                raise InvalidSetting(f"{PREFIX}{name.upper()} must be a redis://, rediss:// or unix:// address")
        for name in ("port", "facilitator_port", "whois_port"):
            if not 0 < getattr(self, name) < 65536:
                raise InvalidSetting(f"{PREFIX}{name.upper()} must be a port from 1 to 65535")
        for chain in ("evm", "ethereum"):
            if not 0 < getattr(self, f"{chain}_max_fee_gwei") <= 1_000_000:
                raise InvalidSetting(f"{PREFIX}{chain.upper()}_MAX_FEE_GWEI must be within (0, 1000000] gwei")
            if not 0 <= getattr(self, f"{chain}_low_balance_eth") <= 1_000_000:
                raise InvalidSetting(f"{PREFIX}{chain.upper()}_LOW_BALANCE_ETH must be within [0, 1000000] ETH")
        if self.observation_url and not _is_address(self.observation_url, ("redis", "rediss", "unix")):
            raise InvalidSetting(f"{PREFIX}OBSERVATION_URL must be a redis://, rediss:// or unix:// address")
        if not 0 < self.observation_days <= 3650:
            raise InvalidSetting(f"{PREFIX}OBSERVATION_DAYS must be within (0, 3650] days")
        if not 0 < self.observations_per_payer <= 1_000_000:
            raise InvalidSetting(f"{PREFIX}OBSERVATIONS_PER_PAYER must be within [1, 1000000]")
        if self.failpoint:
            try:
                failpoints.parse(self.failpoint)
            except ValueError as error:
                raise InvalidSetting(f"{PREFIX}FAILPOINT must be {error}") from None
        if not 0 < self.settle_timeout_s <= 20:
            raise InvalidSetting(f"{PREFIX}SETTLE_TIMEOUT_S must be within (0, 20] seconds")

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read the settings that are set and not empty.

        Raises:
            InvalidSetting: a value has the wrong form.
        """
        values: dict[str, object] = {}
        for field in dataclasses.fields(cls):
            text = env.get(PREFIX + field.name.upper(), "").strip()
            if text:
                values[field.name] = _read(field.name, str(field.type), text)
        settings = cls(**values)  # type: ignore[arg-type]  # each value was read by its field's type
        if "base_url" in values:
            return dataclasses.replace(settings, base_url=settings.base_url.rstrip("/"))
        return dataclasses.replace(settings, base_url=f"http://127.0.0.1:{settings.port}")

    def __repr__(self) -> str:
        """All but the Redis addresses, which may carry a password."""
        shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if not f.name.endswith("_url"))
        return f"Settings({', '.join(shown)})"


def _is_address(text: str, schemes: tuple[str, ...]) -> bool:
    if not re.fullmatch(r"[\x21-\x7e]+", text) or (schemes[0] == "http" and re.search(r"[?#\\]", text)):
        return False
    try:
        url = urlsplit(text)
        _ = url.port  # raises for a port that is none
    except ValueError:
        return False
    return url.scheme in schemes and bool(url.path if url.scheme == "unix" else url.hostname)


def _read(name: str, kind: str, text: str) -> object:
    try:
        match kind:
            case "int":
                if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
                    raise ValueError
                return int(text)
            case "float":
                return float(text)
            case "Path":
                return Path(text)
            case "bool":
                return {"1": True, "true": True, "0": False, "false": False}[text.lower()]
            case _:
                return text
    except KeyError:
        raise InvalidSetting(f"{PREFIX}{name.upper()} must be 1 or 0, not {text!r}") from None
    except ValueError:
        raise InvalidSetting(f"{PREFIX}{name.upper()} must be a number, not {text!r}") from None
