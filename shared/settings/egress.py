"""Reads and checks the settings of outgoing connections."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from shared.settings.service import PREFIX, InvalidSetting, Settings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Egress:
    """The operator's rules for outgoing connections. In production none of them leads to an address that is not public:
    `hosts`, `allow` and `now` are only for sandboxes and tests, and are refused there, like failpoints.

    Attributes:
        dns_server: address and port of the only name server; None: the system's.
        dns_probe: a name that any working name server answers for.
        hosts: addresses by name. They are checked like all others.
        allow: networks that may be reached whatever the rules say.
        deny: networks that are never reached.
        ports: additional ports of URLs, beside jobs.hosts.PORTS.
        whois_iana: host and port of IANA's WHOIS server.
        rdap_bootstrap: a file of IANA's form that names the RDAP servers; None: the shipped one.
        own_host: this service's host, in lower case. It is never called.
        now: a fixed time; None: the clock's.
    """

    dns_server: tuple[str, int] | None
    dns_probe: str
    hosts: Mapping[str, str]
    allow: tuple[Network, ...]
    deny: tuple[Network, ...]
    ports: frozenset[int]
    ca_file: Path | None
    whois_iana: tuple[str, int]
    whois_port: int
    rdap_bootstrap: Path | None
    youtube_url: str
    own_host: str
    now: datetime | None


def egress(settings: Settings) -> Egress:
    """Read the settings of outgoing connections.

    Raises:
        InvalidSetting: a setting has the wrong form, or is not allowed in production.
    """
    if settings.production:
        for name in ("hosts", "egress_allow", "now", "failpoint"):
            if getattr(settings, name):
                raise InvalidSetting(
                    f"{PREFIX}{name.upper()} is for sandboxes and tests: not with {PREFIX}PRODUCTION=1"
                )
    return Egress(
        dns_server=_server(settings.dns_server) if settings.dns_server else None,
        dns_probe=_probe(settings.dns_probe),
        hosts=dict(_host(part) for part in _parts(settings.hosts)),
        allow=tuple(_network("EGRESS_ALLOW", part) for part in _parts(settings.egress_allow)),
        deny=tuple(_network("EGRESS_DENY", part) for part in _parts(settings.egress_deny)),
        ports=frozenset(_port("EGRESS_PORTS", part) for part in _parts(settings.egress_ports)),
        ca_file=_file("CA_FILE", settings.ca_file),
        whois_iana=_host_and_port("WHOIS_IANA", settings.whois_iana),
        whois_port=settings.whois_port,
        rdap_bootstrap=_file("RDAP_BOOTSTRAP", settings.rdap_bootstrap),
        youtube_url=settings.youtube_url.rstrip("/"),
        own_host=(urlsplit(settings.base_url).hostname or "").removesuffix("."),
        now=_time(settings.now) if settings.now else None,
    )


def _file(name: str, text: str) -> Path | None:
    if text and not Path(text).is_file():
        raise InvalidSetting(f"{PREFIX}{name}: there is no file {text}")
    return Path(text) if text else None


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _network(name: str, text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise InvalidSetting(f"{PREFIX}{name}: {text!r} is not a network such as 198.51.100.0/24") from None


def _port(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text, re.ASCII) or not 0 < int(text) < 65536:
        raise InvalidSetting(f"{PREFIX}{name}: {text!r} is not a port")
    return int(text)


def _host(text: str) -> tuple[str, str]:
    name, _, address = text.partition("=")
    name = name.strip().lower().removesuffix(".")
    try:
        if not _NAME.fullmatch(name):
            raise ValueError
        return name, str(ipaddress.ip_address(address.strip()))
    except ValueError:
        raise InvalidSetting(f"{PREFIX}HOSTS: write name=address, not {text!r}") from None


def _probe(text: str) -> str:
    name = text.lower().removesuffix(".")
    if name and not _NAME.fullmatch(name):
        raise InvalidSetting(f"{PREFIX}DNS_PROBE: {text!r} is not a name such as example.com")
    return f"{name}."


def _host_and_port(name: str, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not _NAME.fullmatch(host.lower()):
        raise InvalidSetting(f"{PREFIX}{name}: write host:port, not {text!r}")
    return host.lower(), _port(name, port)


def _server(text: str) -> tuple[str, int]:
    address, _, port = text.rpartition(":")
    try:
        return str(ipaddress.ip_address(address.strip("[]"))), _port("DNS_SERVER", port)
    except ValueError as error:
        if isinstance(error, InvalidSetting):
            raise
        raise InvalidSetting(f"{PREFIX}DNS_SERVER: write address:port, not {text!r}") from None


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidSetting(f"{PREFIX}NOW: write 2026-11-20T15:04:05Z, not {text!r}") from None
