"""Every setting, read once from the environment: the field `ledger_url` is COINSLOT_LEDGER_URL.

Secrets are never in the environment, which leaks into process lists and crash reports: they are files, named here.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlsplit

from shared import failpoints
from shared.endpoint import Readable
from shared.ledger import BUCKETS
from shared.ledger_place import place_of
from shared.rail_settings import (
    FORMS,
    EthereumRailSettings,
    EvmRailSettings,
    RailSettings,
    SolanaRailSettings,
    StellarRailSettings,
    XrplRailSettings,
)
from shared.setting import PREFIX as PREFIX  # settings are read with both, from here
from shared.setting import InvalidSetting as InvalidSetting

T = TypeVar("T")

_REDIS = frozenset({"LEDGER_URL", "QUEUE_URL"})
_REDIS_SCHEMES = ("redis", "rediss", "unix")
_MAILTO = r"mailto:[A-Za-z0-9.!#$&'*+/=^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+"
_HOST = r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
_PORTS = frozenset({"PORT", "FACILITATOR_PORT", "WHOIS_PORT", "METRICS_PORT", "DASHBOARD_PORT"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of all processes. Each reads what it needs."""

    host: str = "127.0.0.1"
    """Address that the API listens on."""
    port: int = 4020
    """Port that the API listens on."""
    base_url: str = "http://127.0.0.1:4020"
    """Public address of the API, as callers see it: it is part of every challenge and discovery document."""
    extra_hosts: str = ""
    """Names of hosts that callers reach the API by beside the one of BASE_URL, ``api.example.com,...``. A payment whose
    ``resource.url`` names another host is refused: it is meant for another service."""
    contact: str = ""
    """Where people write to about this installation, ``mailto:shop@example.com`` or an https address. It is public."""
    contact_expires: str = ""
    """Until when it is certain to be read, ``2027-06-30``. With a contact there is a /.well-known/security.txt (RFC 9116)."""
    ledger_url: str = "redis://127.0.0.1:4022/0"
    """Redis that keeps payments and answers. Needs `appendonly yes`, `appendfsync always`, `maxmemory-policy noeviction`.
    Several addresses with commas between them are primaries that share the payers, 64 at most: in the same order everywhere and
    for good (docs/scaling.md). A comma in a password is ``%2C``."""
    ledger_replicas: int = 0
    """How many replicas of the ledger have to have what is told to a caller or sent to a facilitator. 0: nothing waits for any.
    With more, a failover loses nothing that anybody was told (docs/operations.md)."""
    redis_ca_file: str = ""
    """PEM file of certificate authorities that ``rediss://`` servers are checked with, beside the public ones."""
    queue_url: str = "redis://127.0.0.1:4023/0"
    """Redis that carries jobs and replies. Needs no persistence."""
    key_file: Path = Path("var/coinslot.key")
    """32 random bytes in hex, shared by the API and the workers: seals job arguments and answers, keys request fingerprints."""
    previous_key_file: str = ""
    """The key before it, which opens what it sealed. Empty: ``<name of the key file>.previous`` beside it, if there is one."""
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

    evm: EvmRailSettings = dataclasses.field(default_factory=EvmRailSettings)
    ethereum: EthereumRailSettings = dataclasses.field(default_factory=EthereumRailSettings)
    solana: SolanaRailSettings = dataclasses.field(default_factory=SolanaRailSettings)
    stellar: StellarRailSettings = dataclasses.field(default_factory=StellarRailSettings)
    xrpl: XrplRailSettings = dataclasses.field(default_factory=XrplRailSettings)

    rpc_ethereum_urls: tuple[str, ...] = ()
    """JSON-RPC nodes of Ethereum that endpoints read from, in this order. They may hold keys: they are shown nowhere."""
    rpc_base_urls: tuple[str, ...] = ()
    """The same of Base."""
    rpc_hedge: bool = False
    """Whether a slow node's question is put to the next one too, before the first has answered. It costs calls of your plan."""

    user: str = ""
    """User of the API and the workers when root starts the service: a name, or a number without an entry in /etc/passwd."""
    facilitator_user: str = ""
    """The same of our facilitator, the only process that reads the settlers' keys. Empty: as COINSLOT_USER."""

    production: bool = False
    """Real money and the real internet: local servers and a fixed time are refused (shared/egress.py)."""
    dns_server: str = ""
    """Name server that is asked, ``address:port``. Empty: those of /etc/resolv.conf."""
    dns_probe: str = "."
    """A name whose name servers are asked for every few seconds, to see whether the name server answers."""
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
    chromium: str = ""
    """Program of the browser that pages are rendered in. Empty: Debian's chromium-headless-shell, or another that is found."""
    dashboard_redis_url: str = ""
    """Redis that keeps what the dashboard shows: a server, or a database, of its own. Empty: there is no dashboard."""
    dashboard_host: str = "127.0.0.1"
    """Address that the dashboard listens on."""
    dashboard_port: int = 4025
    """Port that the dashboard listens on."""
    dashboard_password_file: Path = Path("var/dashboard.password")
    """Password of the dashboard, on one line. Its user is ``coinslot``."""
    log: str = "text"
    """How log lines are written: ``text``, or ``json``, one object a line."""
    log_calls: bool = False
    """Whether the API logs a line for each paid call that was answered, too."""
    otel: bool = False
    """Whether paid calls are traced with OpenTelemetry, whose own variables say where to (shared/tracing.py)."""
    metrics_dir: str = ""
    """Folder in which the processes of this machine count for the exporter. Empty: nothing is counted."""
    metrics_host: str = "127.0.0.1"
    """Address that the exporter listens on. Keep it private."""
    metrics_port: int = 4024
    """Port that the exporter listens on."""
    failpoint: str = ""
    """Where a process is to kill itself, ``settled`` or ``settled@3`` (shared/failpoints.py). Not in production."""
    now: str = ""
    """A fixed time, ``2026-11-20T15:04:05Z``, for answers that depend on the date. Not in production."""

    def __post_init__(self) -> None:
        for variable, value in self.variables().items():
            _check(variable.removeprefix(PREFIX), value)
        if "@" in self.base_url:
            raise InvalidSetting(f"{PREFIX}BASE_URL is shown to every caller: it must not hold a password")

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read the settings that are set and not empty.

        Raises:
            InvalidSetting: a value has the wrong form.
        """
        settings = _from_env(cls, PREFIX, env)
        for rail in ("evm", "ethereum", "solana", "stellar", "xrpl"):
            if not env.get(f"{PREFIX}{rail.upper()}_FACILITATOR_URL", "").strip():
                own = dataclasses.replace(
                    getattr(settings, rail), facilitator_url=f"http://127.0.0.1:{settings.facilitator_port}"
                )
                settings = dataclasses.replace(settings, **{rail: own})
        if env.get(f"{PREFIX}BASE_URL", "").strip():
            return dataclasses.replace(settings, base_url=settings.base_url.rstrip("/"))
        return dataclasses.replace(settings, base_url=f"http://127.0.0.1:{settings.port}")

    def variables(self) -> dict[str, object]:
        """Every setting's value by the name of its variable. Some are secrets."""
        return dict(_variables(self, PREFIX))

    @property
    def host_names(self) -> frozenset[str]:
        """The names of `extra_hosts`, in lower case."""
        return frozenset(name.strip().lower() for name in self.extra_hosts.split(",") if name.strip())

    @property
    def readable(self) -> frozenset[Readable]:
        """The ledgers that have a node to read from."""
        nodes: dict[Readable, tuple[str, ...]] = {
            "ethereum": self.rpc_ethereum_urls,
            "base": self.rpc_base_urls,
            "xrpl": self.xrpl.read_urls,
        }
        return frozenset(ledger for ledger, urls in nodes.items() if urls)

    @property
    def ledger_urls(self) -> tuple[str, ...]:
        """The primaries of the ledger in their order, as `redis_url` has them."""
        return tuple(self.redis_url(url.strip()) for url in self.ledger_url.split(","))

    @property
    def ledger_places(self) -> tuple[tuple[str, str], ...]:
        """The same, each with its place (shared/ledger_place.py)."""
        urls = self.ledger_urls
        return tuple((url, place_of(number, len(urls))) for number, url in enumerate(urls))

    def redis_url(self, url: str) -> str:
        """The address of a Redis server with the authorities of `redis_ca_file`, as redis-py takes them (``ssl_ca_certs``)."""
        if not self.redis_ca_file or not url.startswith("rediss:"):
            return url
        return f"{url}{'&' if urlsplit(url).query else '?'}ssl_ca_certs={quote(self.redis_ca_file, safe='/')}"

    def __repr__(self) -> str:
        """All but addresses, which may hold a password or a key."""
        named = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        shown = (f"{name}={value!r}" for name, value in named if not name.endswith(("_url", "_urls")))
        return f"Settings({', '.join(shown)})"


def _variables(part: Settings | RailSettings, prefix: str) -> Iterator[tuple[str, object]]:
    for field in dataclasses.fields(part):
        name, value = prefix + field.name.upper(), getattr(part, field.name)
        if isinstance(value, RailSettings):
            yield from _variables(value, f"{name}_")
        elif field.init:
            yield name, value


def _from_env(kind: type[T], prefix: str, env: Mapping[str, str]) -> T:
    values: dict[str, object] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # Settings, or those of a rail
        name = prefix + field.name.upper()
        if isinstance(field.default_factory, type):  # a rail's
            values[field.name] = _from_env(field.default_factory, f"{name}_", env)
        elif field.init and (text := env.get(name, "").strip()):
            values[field.name] = _read(name, str(field.type), text)
    return kind(**values)


def _check(name: str, value: object) -> None:
    """Raises InvalidSetting. The text of what may hold a secret is never in it."""
    match value:
        case "" if name not in _REDIS:
            return
        case str() if name == "LEDGER_URL":
            urls = [url.strip() for url in value.split(",")]
            are_all = all(_is_address(url, _REDIS_SCHEMES) for url in urls)
            _require(are_all, name, "be redis://, rediss:// or unix:// addresses, separated by commas")
            _require(len(set(urls)) == len(urls) <= BUCKETS, name, f"be different addresses, {BUCKETS} at most")
        case str() if name in ("QUEUE_URL", "OBSERVATION_URL", "DASHBOARD_REDIS_URL"):
            is_one = _is_address(value, _REDIS_SCHEMES)
            _require(is_one, name, "be a redis://, rediss:// or unix:// address")
        case str() if name in FORMS:
            form, like = FORMS[name]
            _require(re.fullmatch(form, value, re.ASCII) is not None, name, f"be {like}")
            if form.startswith("0x") and int(value, 16) == 0:
                raise InvalidSetting(f"{PREFIX}{name} is the zero address: what it is paid is lost")
        case str() if name.endswith("_URL"):
            is_one = _is_address(value, ("http", "https")) and not re.search(r"[?#\\]", value)
            _require(is_one, name, "be an http(s) address without query or fragment")
        case tuple():
            are_all = all(_is_address(url, ("http", "https")) and not re.search(r"[#\\]", url) for url in value)
            _require(are_all, name, "be http(s) addresses without fragment, separated by commas")
        case str() if name == "LOG":
            _require(value in ("text", "json"), name, "be text or json")
        case str() if name == "EXTRA_HOSTS":
            are_all = all(re.fullmatch(_HOST, host.strip(), re.ASCII) for host in value.split(","))
            _require(are_all, name, "be names of hosts without ports, separated by commas")
        case str() if name.endswith("USER"):
            _require(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}", value, re.ASCII) is not None, name, "be a user")
        case str() if name == "CONTACT":
            is_one = re.fullmatch(_MAILTO, value, re.ASCII) is not None or _is_address(value, ("https",))
            _require(is_one, name, "be mailto: and a mail address, or an https address")
        case str() if name == "CONTACT_EXPIRES":
            _require(_is_date(value), name, "be a date like 2027-06-30")
        case str() if name == "FAILPOINT":
            try:
                failpoints.parse(value)
            except ValueError as error:
                raise InvalidSetting(f"{PREFIX}{name} must be {error}") from None
        case int() if name in _PORTS:
            _require(0 < value < 65536, name, "be a port from 1 to 65535")
        case int() | float() if name.endswith("_MAX_FEE_GWEI"):
            _require(0 < value <= 1_000_000, name, "be within (0, 1000000] gwei")
        case int() | float() if name.endswith("_LOW_BALANCE_ETH"):
            _require(0 <= value <= 1_000_000, name, "be within [0, 1000000] ETH")
        case int() if name.endswith("_BATCH"):
            _require(1 <= value <= 100, name, "be within [1, 100]")
        case int() if name.endswith("_SPACING_MS"):
            _require(0 <= value <= 5_000, name, "be within [0, 5000] milliseconds")
        case int() | float() if name == "OBSERVATION_DAYS":
            _require(0 < value <= 3650, name, "be within (0, 3650] days")
        case int() if name == "OBSERVATIONS_PER_PAYER":
            _require(0 < value <= 1_000_000, name, "be within [1, 1000000]")
        case int() if name == "LEDGER_REPLICAS":
            _require(0 <= value <= 9, name, "be within [0, 9]")
        case int() | float() if name == "SETTLE_TIMEOUT_S":
            _require(0 < value <= 20, name, "be within (0, 20] seconds")


def _require(is_met: bool, name: str, rule: str) -> None:
    if not is_met:
        raise InvalidSetting(f"{PREFIX}{name} must {rule}")


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_address(text: str, schemes: tuple[str, ...]) -> bool:
    if not re.fullmatch(r"[\x21-\x7e]+", text):
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
            case "tuple[str, ...]":
                return tuple(part.strip() for part in text.split(","))
            case _:
                return text
    except KeyError:
        raise InvalidSetting(f"{name} must be 1 or 0, not {text!r}") from None
    except ValueError:
        raise InvalidSetting(f"{name} must be a number, not {text!r}") from None
