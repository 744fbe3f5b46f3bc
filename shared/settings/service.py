"""Every setting, read once from the environment: the field `ledger_url` is COINSLOT_LEDGER_URL.

Secrets are never in the environment, which leaks into process lists and crash reports: they are files, named here.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from shared import failpoints
from shared.endpoint import Readable
from shared.ledger.keys import BUCKETS
from shared.settings.rails import (
    EthereumRailSettings,
    EvmRailSettings,
    RailSettings,
    SolanaRailSettings,
    StellarRailSettings,
    XrplRailSettings,
)
from shared.settings.rules import (
    PORT,
    USER,
    above_zero,
    anything,
    check,
    contact_address,
    day,
    host_names,
    http_address,
    http_addresses,
    matching,
    public_address,
    redis_address,
    redis_addresses,
    setting,
    variable_of,
    within,
)
from shared.settings.setting import PREFIX as PREFIX  # settings are read with both, from here
from shared.settings.setting import InvalidSetting as InvalidSetting

T = TypeVar("T")


def _failpoint(value: str) -> None:
    """A place where a process kills itself."""
    try:
        failpoints.parse(value)
    except ValueError as error:
        raise ValueError(f"be {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of all processes. Each reads what it needs."""

    host: str = setting("127.0.0.1", anything)
    """Address that the API listens on."""
    port: int = setting(4020, PORT)
    """Port that the API listens on."""
    base_url: str = setting("http://127.0.0.1:4020", public_address)
    """Public address of the API, as callers see it: it is part of every challenge and discovery document."""
    extra_hosts: str = setting("", host_names)
    """Names of hosts that callers reach the API by beside the one of BASE_URL, ``api.example.com,...``. A payment whose
    ``resource.url`` names another host is refused: it is meant for another service."""
    contact: str = setting("", contact_address)
    """Where people write to about this installation, ``mailto:shop@example.com`` or an https address. It is public."""
    contact_expires: str = setting("", day)
    """Until when it is certain to be read, ``2027-06-30``. With a contact there is a /.well-known/security.txt (RFC 9116)."""
    prices_file: str = setting("", anything)
    """TOML file of prices in place of those that the endpoints declare, ``echo = "0.002"`` (jobs/price_list.py). On SIGHUP the
    API reads it again."""
    sell: str = setting("", anything)
    """What is sold, ``echo,dns,chain/*``, or what is not, ``-youtube,-render-pro``. Empty: everything that can be sold here."""
    ledger_url: str = setting("redis://127.0.0.1:4022/0", redis_addresses(BUCKETS), is_required=True)
    """Redis or Valkey that keeps payments and answers: one plain server, or some nodes of a Valkey Cluster with commas between
    them, in any order (docs/scaling.md). It needs `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction`. A
    comma in a password is ``%2C``."""
    ledger_replicas: int = setting(0, within(0, 9, "[0, 9]"))
    """How many replicas of the ledger must have what a caller or a facilitator is sent. 0: nothing waits for any. With more, a
    failover loses nothing that was sent to anybody (docs/operations.md)."""
    redis_ca_file: str = setting("", anything)
    """PEM file of certificate authorities that ``rediss://`` servers are checked with, beside the public ones."""
    queue_url: str = setting("redis://127.0.0.1:4023/0", redis_address, is_required=True)
    """Redis that carries jobs and replies. Needs no persistence."""
    key_file: Path = Path("var/coinslot.key")
    """32 random bytes in hex, shared by the API and the workers: seals job arguments and answers, keys request fingerprints."""
    previous_key_file: str = setting("", anything)
    """The key before it, which opens what it sealed. Empty: ``<name of the key file>.previous`` beside it, if there is one."""
    receipt_key_file: str = setting("", anything)
    """Key of 64 hex digits that signs offers, and receipts of answered calls (x402's extension ``offer-receipt``), and nothing
    else. Empty: nothing is signed."""
    receipt_former_keys: str = setting(
        "",
        matching(
            "[A-Za-z0-9_-]{43}(,[A-Za-z0-9_-]{43})*", "public keys as did.json has them in `x`, separated by commas"
        ),
    )
    """Public keys that signed before, ``x,...`` of the shop's did.json, which goes on showing them."""
    settle_timeout_s: float = setting(8.0, above_zero(20, "(0, 20] seconds"))
    """Longest wait for one settlement, and 6 s more on Stellar and the XRP Ledger, which need them for a ledger. After it the
    outcome is unknown: 503, and the same payment is to be repeated."""
    undelivered_s: float = setting(60.0, within(0, 600, "[0, 600] seconds"))
    """How long the answer of a charged call whose caller hung up before it was written waits: the same payer's next payment for
    the same request gets it, and is not settled. 0: each payment is settled."""
    rate_limits: str = setting("", anything)
    """How often one payer may call, by pool, ``fast=10/20,render=0.3/3`` (calls a second, and at once after a rest) instead of
    the defaults in api/payment/limits.py; ``off`` for none, and for no bound on a payer's calls at a time."""
    observation_url: str = setting("", redis_address)
    """Redis that keeps what render-pro, web-diff and xrpl-wallet-watch compare with. It needs no fsync. Empty: the ledger's."""
    observation_days: float = setting(90.0, above_zero(3650, "(0, 3650] days"))
    """How long it is kept after it was used last."""
    observations_per_payer: int = setting(1000, within(1, 1_000_000, "[1, 1000000]"))
    """How many URLs and addresses of one payer. Beyond that, the one that was not used for the longest time is forgotten."""
    ledger_dir: str = setting("", anything)
    """Folder of the ledger's files, where this machine has it: no payment is taken while its disk is nearly full."""
    ledger_free_mb: int = setting(512, anything)
    """What has to be free on that disk."""
    facilitator_host: str = setting("127.0.0.1", anything)
    """Address that our facilitator listens on. Keep it private: it pays gas for whoever may call it."""
    facilitator_port: int = setting(4021, PORT)
    """Port that our facilitator listens on."""
    max_cost_share: str = setting("50%", matching("off|[1-9][0-9]{0,2} ?%", "off, or a share like 50%"))
    """How much of a price its settlement may cost us on an EVM network. What would cost more is not offered there, and not
    settled. With half of it, no settlement loses money before an ether costs twice what the settings say. ``off``: any."""

    evm: EvmRailSettings = dataclasses.field(default_factory=EvmRailSettings)
    ethereum: EthereumRailSettings = dataclasses.field(default_factory=EthereumRailSettings)
    solana: SolanaRailSettings = dataclasses.field(default_factory=SolanaRailSettings)
    stellar: StellarRailSettings = dataclasses.field(default_factory=StellarRailSettings)
    xrpl: XrplRailSettings = dataclasses.field(default_factory=XrplRailSettings)

    rpc_ethereum_urls: tuple[str, ...] = setting((), http_addresses)
    """JSON-RPC nodes of Ethereum that endpoints read from, in this order. They may hold keys: they are shown nowhere."""
    rpc_base_urls: tuple[str, ...] = setting((), http_addresses)
    """The same of Base."""
    rpc_hedge: bool = False
    """Whether a slow node's question is put to the next one too, before the first has answered. It costs calls of your plan."""

    user: str = setting("", USER)
    """User of the API and the workers when root starts the service: a name, or a number without an entry in /etc/passwd."""
    facilitator_user: str = setting("", USER)
    """The same of our facilitator, the only process that reads the settlers' keys. Empty: as COINSLOT_USER."""

    production: bool = False
    """Real money and the real internet: local servers and a fixed time are refused (shared/settings/egress.py)."""
    dns_server: str = setting("", anything)
    """Name server that is asked, ``address:port``. Empty: those of /etc/resolv.conf."""
    dns_probe: str = setting(".", anything)
    """A name whose name servers are asked for every few seconds, to see whether the name server answers."""
    hosts: str = setting("", anything)
    """Names with an address of your choice, ``name=address,...``. It is checked as any other. Not in production."""
    egress_allow: str = setting("", anything)
    """Networks that callers' hosts may lie in although they are not public, ``127.7.0.0/16,...``. Not in production."""
    egress_deny: str = setting("", anything)
    """Networks that are never connected to beside those that are not public: your own addresses, ``198.51.100.7/32,...``."""
    egress_ports: str = setting("", anything)
    """Ports beside those that URLs and ssl-info may name anyway (jobs/hosts.py), ``8000,...``."""
    egress_proxy_file: str = setting("", anything)
    """TOML file of the proxies by which the pools youtube, render and net call out (shared/settings/egress_proxies.py). It has
    passwords: keep it readable for the workers alone."""
    ca_file: str = setting("", anything)
    """PEM file of certificate authorities that are trusted beside the public ones."""
    whois_iana: str = setting("whois.iana.org:43", anything)
    """WHOIS server that knows the others, ``host:port``."""
    whois_port: int = setting(43, PORT)
    """Port of the other WHOIS servers."""
    rdap_bootstrap: str = setting("", anything)
    """File of IANA's form that names the RDAP servers, in place of the shipped one."""
    youtube_url: str = setting("https://www.youtube.com", http_address)
    """Where captions are asked for."""
    chromium: str = setting("", anything)
    """Program of the browser that pages are rendered in. Empty: Debian's chromium-headless-shell, or another that is found."""
    dashboard_redis_url: str = setting("", redis_address)
    """Redis that keeps what the dashboard shows: a server, or a database, of its own. Empty: there is no dashboard."""
    dashboard_host: str = setting("127.0.0.1", anything)
    """Address that the dashboard listens on."""
    dashboard_port: int = setting(4025, PORT)
    """Port that the dashboard listens on."""
    dashboard_password_file: Path = Path("var/dashboard.password")
    """Password of the dashboard, on one line. Its user is ``coinslot``."""
    log: str = setting("text", matching("text|json", "text or json"))
    """How log lines are written: ``text``, or ``json``, one object a line."""
    log_calls: bool = False
    """Whether the API logs a line for each paid call that was answered, too."""
    otel: bool = False
    """Whether paid calls are traced with OpenTelemetry, whose own variables say where to (shared/observability/tracing.py)."""
    metrics_dir: str = setting("", anything)
    """Folder in which the processes of this machine count for the exporter. Empty: nothing is counted."""
    metrics_host: str = setting("127.0.0.1", anything)
    """Address that the exporter listens on. Keep it private."""
    metrics_port: int = setting(4024, PORT)
    """Port that the exporter listens on."""
    books_dir: str = setting("", anything)
    """Folder of the books, in which the exporter writes down what was sold and received. Empty: no books are kept."""
    books_payers: bool = True
    """Whether the books have the payers' addresses."""
    failpoint: str = setting("", _failpoint)
    """Where a process is to kill itself, ``settled`` or ``settled@3`` (shared/failpoints.py). Not in production."""
    now: str = setting("", anything)
    """A fixed time, ``2026-11-20T15:04:05Z``, for answers that depend on the date. Not in production."""

    def __post_init__(self) -> None:
        for name, (field, value) in _fields(self, PREFIX):
            check(field, name, value)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read the settings that are set and not empty.

        Raises:
            InvalidSetting: a value has the wrong form.
        """
        settings = _from_env(cls, PREFIX, env)
        ours = f"http://127.0.0.1:{settings.facilitator_port}"
        moved: dict[str, Any] = {
            name: dataclasses.replace(rail, facilitator_url=ours)
            for name, rail in settings.rails.items()
            if not env.get(f"{PREFIX}{name.upper()}_FACILITATOR_URL", "").strip()
        }
        settings = dataclasses.replace(settings, **moved)
        if env.get(f"{PREFIX}BASE_URL", "").strip():
            return dataclasses.replace(settings, base_url=settings.base_url.rstrip("/"))
        return dataclasses.replace(settings, base_url=f"http://127.0.0.1:{settings.port}")

    def variables(self) -> dict[str, object]:
        """Every setting's value by the name of its variable. Some are secrets."""
        return {name: value for name, (_, value) in _fields(self, PREFIX)}

    @property
    def rails(self) -> dict[str, RailSettings]:
        """The part of each network (shared/networks.py), by its name."""
        parts = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {name: part for name, part in parts if isinstance(part, RailSettings)}

    @property
    def cost_share(self) -> Fraction | None:
        """`max_cost_share` as a number; None for ``off``."""
        return None if self.max_cost_share == "off" else Fraction(int(self.max_cost_share.rstrip(" %")), 100)

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
        """The server of the ledger, or nodes of its cluster, as `redis_url` has them."""
        return tuple(self.redis_url(url.strip()) for url in self.ledger_url.split(","))

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


def _fields(part: Settings | RailSettings, prefix: str) -> Iterator[tuple[str, tuple[dataclasses.Field[Any], object]]]:
    """By the name of its variable, each field that has one, and its value."""
    for field in dataclasses.fields(part):
        name, value = variable_of(field, prefix), getattr(part, field.name)
        if isinstance(value, RailSettings):
            yield from _fields(value, f"{name}_")
        elif field.init:
            yield name, (field, value)


def _from_env(kind: type[T], prefix: str, env: Mapping[str, str]) -> T:
    values: dict[str, object] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # Settings, or those of a rail
        name = variable_of(field, prefix)
        if isinstance(field.default_factory, type):  # a rail's
            values[field.name] = _from_env(field.default_factory, f"{name}_", env)
        elif field.init and (text := env.get(name, "").strip()):
            values[field.name] = _read(name, str(field.type), text)
    return kind(**values)


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
