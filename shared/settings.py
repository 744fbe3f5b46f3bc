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
SECP256K1_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""Private keys of EVM accounts lie below it; the sealing key is held to the same, which costs nothing."""
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)
_HEADER_VALUE = re.compile(r"[\x20-\x7e]+", re.ASCII)
_OUR_HEADERS = {"connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding"}
"""A call's own: another value would make it another call."""
_MAX_HEADERS_BYTES = 8 * 1024


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
    """Longest wait for one settlement. After it the outcome is unknown: 503, and the same payment is to be repeated."""
    rate_limits: str = ""
    """How often one payer may call, by pool, ``fast=10/20,render=0.3/3`` (calls a second, and at once after a rest) instead of
    the defaults in api/payment/limits.py; ``off`` for none, and for no bound on a payer's calls at a time."""
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
        if not re.fullmatch(r"eip155:[1-9][0-9]{0,17}", self.evm_network):
            raise InvalidSetting(f"{PREFIX}EVM_NETWORK must be eip155:<chain id>, not {self.evm_network!r}")
        if self.evm_pay_to and not re.fullmatch(r"0x[0-9a-fA-F]{40}", self.evm_pay_to):
            raise InvalidSetting(f"{PREFIX}EVM_PAY_TO must be a 0x address of 40 hex digits")
        if self.evm_pay_to and int(self.evm_pay_to, 16) == 0:
            raise InvalidSetting(f"{PREFIX}EVM_PAY_TO is the zero address: what it is paid is lost")
        for name in ("base_url", "evm_facilitator_url", "evm_rpc_url", "youtube_url"):
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
        if not 0 < self.evm_max_fee_gwei <= 1_000_000:
            raise InvalidSetting(f"{PREFIX}EVM_MAX_FEE_GWEI must be within (0, 1000000] gwei")
        if not 0 <= self.evm_low_balance_eth <= 1_000_000:
            raise InvalidSetting(f"{PREFIX}EVM_LOW_BALANCE_ETH must be within [0, 1000000] ETH")
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


def read_key(path: Path) -> bytes:
    """A 32-byte key from a file of 64 hex digits, with or without 0x.

    Raises:
        InvalidSetting: the file is missing or has another form. Its content is never shown.
    """
    try:
        text = path.read_text("ascii").strip().removeprefix("0x")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"cannot read the key file {path}: {type(error).__name__}") from None
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise InvalidSetting(f"the key file {path} must hold 64 hex digits")
    key = bytes.fromhex(text)
    if not 0 < int.from_bytes(key, "big") < SECP256K1_ORDER:
        raise InvalidSetting(f"the key file {path} does not hold a usable key")
    return key


def read_headers(path: str) -> dict[str, str]:
    """Headers from a file of lines ``Name: value``; empty lines and lines that begin with ``#`` do not count.

    Args:
        path: empty: there are none.

    Raises:
        InvalidSetting: the file is missing or has another form. Its content is never shown.
    """
    if not path:
        return {}
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MAX_HEADERS_BYTES + 1)
        text = content.decode("ascii")
    except (OSError, ValueError) as error:  # a path may hold a NUL, the file another encoding
        raise InvalidSetting(f"cannot read the headers file {path!r}: {type(error).__name__}") from None
    if len(content) > _MAX_HEADERS_BYTES:
        raise InvalidSetting(f"the headers file {path} is over {_MAX_HEADERS_BYTES} bytes")
    headers: dict[str, str] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip(" \t")
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise InvalidSetting(f"line {number} of the headers file {path} is not of the form `Name: value`")
        if name in _OUR_HEADERS or name in headers:
            raise InvalidSetting(f"line {number} of the headers file {path} names a header that is set already")
        headers[name] = value
    return headers
