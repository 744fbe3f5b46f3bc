"""What a public host name and a public URL are: everything that can be said of them without asking anybody.

A text is read once, by the WHATWG URL standard's own algorithm (ada), and only what it read is used afterwards: parsers that
disagree are how `http://example.com\\@127.0.0.1/` gets past a check. Whether a name leads to a public address is decided where
the connection is made (workers/egress).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import ada_url

MAX_URL = 2048
MAX_HOST = 253
PORTS = frozenset({80, 443, 8080, 8443})
FIRST_FREE_PORT = 1024
"""Below it every port is a protocol's; above it whoever serves TLS chooses one."""
TLS_PORTS = frozenset({443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 80})
"""Below FIRST_FREE_PORT: where TLS is spoken from the first byte, and the port of http, where some serve it by mistake."""
PLAIN_PORTS = frozenset(
    {
        *(
            1433,
            1521,
            2049,
            2181,
            2375,
            2379,
            3306,
            3389,
            4369,
            5432,
            5672,
            5900,
            5984,
            6000,
            6379,
            7000,
            7001,
            8125,
            9042,
        ),
        *(9092, 9200, 9300, 11211, 27017, 27018, 50000),
    }
)
"""Above it: databases, brokers and desktops, which a TLS handshake only disturbs and tells who asks that they are there."""

# Not delegated in the public DNS, or meant for one network (RFC 6761, 6762, 7686, 8375, 9476; ICANN's .internal).
_SPECIAL = frozenset(
    (
        *("alt", "arpa", "cluster", "consul", "corp", "example", "home", "internal", "intranet", "invalid", "lan"),
        *("local", "localdomain", "localhost", "mail", "onion", "private", "svc", "test"),
    )
)
# Of these the public DNS is asked like of any other: it says that they do not exist (RFC 6761).
_ASKED_FOR = frozenset({"arpa", "example", "invalid", "test"})
_URL = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\s\\\x00-\x20\x7f-\x9f]")
_NOT_IN_HOST = re.compile(r"[\s\x00-\x20\x7f-\x9f%/\\:@?#\[\]<>^|]")
_AUTHORITY = re.compile(r"(?:https?:)?//([^/?#]*)", re.IGNORECASE)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)", re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class NotPublic(ValueError):
    """A host or URL that is not connected to.

    Attributes:
        code: `blocked_address` for what is well formed and never public (addresses, special names, other ports), else
            `invalid_url` or `invalid_domain`.
        detail: a sentence for the caller, with nothing of what was refused in it.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Local:
    """What the operator of this installation allows and forbids beyond the rules.

    Attributes:
        ports: more ports.
        names: hosts with an address of the operator's choice, which may be named whatever they end in.
        own: hosts of this service.
    """

    ports: Collection[int] = ()
    names: Collection[str] = ()
    own: Collection[str] = ()


_local = Local()


def configure(local: Local) -> None:
    """Once, when a process starts: the API before it takes calls, a worker before it runs jobs (both from shared/egress.py),
    so that what one of them lets through is not refused by the other."""
    global _local
    _local = local


class PublicUrl(NamedTuple):
    """A URL in its canonical parts.

    Attributes:
        host: lower-case A-labels, without a trailing dot.
        target: path and query, as they are sent.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        """``https://host[:port]``."""
        default = _DEFAULT_PORTS[self.scheme] == self.port
        return f"{self.scheme}://{self.host}" + ("" if default else f":{self.port}")

    def __str__(self) -> str:
        return self.origin + self.target


def public_url(text: str, *, base: PublicUrl | None = None) -> PublicUrl:
    """Read a URL.

    Args:
        base: what a relative one is relative to. Without it a URL must be absolute.

    Raises:
        NotPublic: it has the wrong form (`invalid_url`), or names what is never public (`blocked_address`).
    """
    if len(text) > MAX_URL:
        raise NotPublic("invalid_url", f"A URL may have at most {MAX_URL} characters.")
    if _FORBIDDEN.search(text):
        raise NotPublic("invalid_url", "A URL has no spaces, control characters or backslashes.")
    if base is None and not _URL.match(text):
        raise NotPublic("invalid_url", "The URL must begin with http:// or https:// and a host.")
    try:
        url = ada_url.URL(text, base=str(base)) if base else ada_url.URL(text)
    except ValueError:
        raise NotPublic("invalid_url", "This is not a URL.") from None
    scheme = url.protocol.removesuffix(":")
    if scheme not in _DEFAULT_PORTS:
        raise NotPublic("invalid_url", "Only http and https are called.")
    if url.username or url.password or _has_user(text):
        raise NotPublic("invalid_url", "A URL with a user name or password is not called.")
    host = _public(url, "invalid_url")
    port = int(url.port) if url.port else _DEFAULT_PORTS[scheme]
    if port not in PORTS and port not in _local.ports:
        ports = ", ".join(map(str, sorted({*PORTS, *_local.ports})))
        raise NotPublic("blocked_address", f"Only the ports {ports} are called.")
    parts = PublicUrl(scheme, host, port, url.pathname + url.search)
    if len(str(parts)) > 3 * MAX_URL:  # escaping may triple it
        raise NotPublic("invalid_url", "The URL is too long.")
    return parts


def public_host(text: str) -> str:
    """Read a host name: lower-case A-labels without a trailing dot.

    Raises:
        NotPublic: it is no host name (`invalid_domain`), or one that is never public, or an address (`blocked_address`).
    """
    return _public(_parsed(text, "blocked_address"), "invalid_domain")


def domain_name(text: str) -> str:
    """Read a name that the public DNS is asked for: as `public_host`, but also of one label, with a `*` for a label, below
    arpa, or of a zone that is for examples and tests. What networks call their own (local, internal, ...) is not asked for.

    Raises:
        NotPublic: with the code `invalid_domain`, whatever the reason: nothing is connected to.
    """
    host = _checked(_parsed(text, "invalid_domain"), "invalid_domain", "invalid_domain", wildcard=True)
    if host not in _local.names and (_last(host) in _SPECIAL - _ASKED_FOR or f".{host}".endswith(".home.arpa")):
        raise NotPublic("invalid_domain", "This name is not in the public DNS.")
    return host


def tls_port(port: int) -> int:
    """A port that a TLS handshake may be asked for.

    Raises:
        NotPublic: with the code `blocked_address`.
    """
    is_tls = port in TLS_PORTS or (port >= FIRST_FREE_PORT and port not in PLAIN_PORTS)
    if not is_tls and port not in _local.ports:
        raise NotPublic("blocked_address", "TLS is not looked for on this port: it is another protocol's.")
    return port


def _parsed(text: str, address: str) -> ada_url.URL:
    if len(text) <= 4 * MAX_HOST and _is_ipv6(text):
        raise _address(address)
    if not text or len(text) > 4 * MAX_HOST or _NOT_IN_HOST.search(text):
        raise NotPublic("invalid_domain", "This is not a host name.")
    try:
        return ada_url.URL(f"http://{text}/")
    except ValueError:
        raise NotPublic("invalid_domain", "This is not a host name.") from None


def _public(url: ada_url.URL, code: str) -> str:
    host = _checked(url, code, "blocked_address")
    if host in _local.names:
        return host
    if "." not in host or _last(host) in _SPECIAL or host in _local.own:
        raise NotPublic("blocked_address", "This host is not in the public DNS.")
    return host


def _checked(url: ada_url.URL, code: str, address: str, *, wildcard: bool = False) -> str:
    if url.host_type != ada_url.HostType.DEFAULT:
        raise _address(address)
    host: str = url.hostname.removesuffix(".")
    labels = host.split(".")
    if wildcard and host != "*":
        labels = [label for label in labels if label != "*"]
    if not labels or len(host) > MAX_HOST or labels[-1].isdigit() or not all(map(_is_label, labels)):
        raise NotPublic(code, "This is not a host name.")
    return host


def _is_label(label: str) -> bool:
    """Letters, digits, hyphens and underscores. What begins with xn-- must be what its Unicode form becomes: ada lets any such
    label of an ASCII name through."""
    if not _LABEL.fullmatch(label):
        return False
    if not label.startswith("xn--"):
        return True
    try:
        text = label[4:].encode().decode("punycode")
        return not text.isascii() and ada_url.URL(f"http://{text}.com/").hostname == f"{label}.com"
    except ValueError:
        return False


def _is_ipv6(text: str) -> bool:
    try:
        return bool(ipaddress.IPv6Address(text[1:-1] if text.startswith("[") and text.endswith("]") else text))
    except ValueError:
        return False


def _address(code: str) -> NotPublic:
    return NotPublic(code, "IP addresses are not accepted: name a host.")


def _last(host: str) -> str:
    return host.rpartition(".")[2]


def _has_user(text: str) -> bool:
    """Also an empty one, of which the parser tells nothing."""
    authority = _AUTHORITY.match(text)
    return authority is not None and "@" in authority[1]
