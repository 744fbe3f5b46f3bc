"""What a public host name and a public URL are: everything that can be said of them without asking anybody.

A text is read once, by the WHATWG URL standard's own algorithm (ada), and only what it read is used afterwards: parsers that
disagree are how `http://example.com\\@127.0.0.1/` gets past a check. Whether a name leads to a public address is decided where
the connection is made (workers/egress).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import ada_url

MAX_URL = 2048
MAX_HOST = 253
PORTS = frozenset({80, 443, 8080, 8443})
TLS_PORTS = PORTS | {
    *(465, 563, 636, 853, 989, 990, 992, 993, 994, 995),
    *(2053, 2083, 2087, 2096, 2376, 2484, 3269, 4433, 4443, 5061, 5223, 5349, 5671, 5986),
    *(6443, 6514, 6697, 7443, 8883, 9443, 10443),
}
"""Where a TLS handshake may be asked for: ports where TLS is spoken from the first byte. From any other port a handshake learns
nothing but whether it is open: this installation would be a scanner for hire, and a nuisance to servers of other protocols.
"""

# Not delegated in the public DNS, or meant for one network (RFC 6761, 6762, 7686, 8375, 9476; ICANN's .internal).
_SPECIAL = frozenset(
    (
        *("alt", "arpa", "cluster", "consul", "corp", "example", "home", "internal", "intranet", "invalid", "lan"),
        *("local", "localdomain", "localhost", "mail", "onion", "private", "svc", "test"),
    )
)
_URL = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\s\\\x00-\x20\x7f-\x9f]")
_NOT_IN_HOST = re.compile(r"[\s\x00-\x20\x7f-\x9f%/\\:@?#\[\]<>^|]")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)", re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class NotPublic(ValueError):
    """A host or URL that is not connected to.

    Attributes:
        code: `invalid_url`, `invalid_domain` or `blocked_address`.
        detail: a sentence for the caller.
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
    """Once, when a process starts."""
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
    if url.username or url.password or "@" in _authority(text):
        raise NotPublic("invalid_url", "A URL with a user name or password is not called.")
    host = _public(url, "invalid_url")
    port = int(url.port) if url.port else _DEFAULT_PORTS[scheme]
    if port not in PORTS and port not in _local.ports:
        raise NotPublic("blocked_address", f"Only the ports {', '.join(map(str, sorted(PORTS)))} are called.")
    parts = PublicUrl(scheme, host, port, url.pathname + url.search)
    if len(str(parts)) > 3 * MAX_URL:  # escaping may triple it
        raise NotPublic("invalid_url", "The URL is too long.")
    return parts


def public_host(text: str) -> str:
    """Read a host name: lower-case A-labels without a trailing dot.

    Raises:
        NotPublic: it is no host name (`invalid_domain`), or one that is never public, or an address (`blocked_address`).
    """
    return _public(_parsed(text), "invalid_domain")


def domain_name(text: str) -> str:
    """Read a name that the public DNS is asked for: as `public_host`, but also of one label, and with `*` and `arpa`.

    Raises:
        NotPublic: with the code `invalid_domain`.
    """
    host = _checked(_parsed(text), "invalid_domain", wildcard=True)
    last = host.rpartition(".")[2]
    if host not in _local.names and (last in _SPECIAL - {"arpa"} or f".{host}".endswith(".home.arpa")):
        raise NotPublic("invalid_domain", "This name is not in the public DNS.")
    return host


def tls_port(port: int) -> int:
    """A port that a TLS handshake may be asked for.

    Raises:
        NotPublic: with the code `blocked_address`.
    """
    if port not in TLS_PORTS and port not in _local.ports:
        raise NotPublic(
            "blocked_address",
            f"TLS is not looked for on this port. It is on {', '.join(map(str, sorted(TLS_PORTS)))}.",
        )
    return port


def _parsed(text: str) -> ada_url.URL:
    if not text or len(text) > 4 * MAX_HOST or _NOT_IN_HOST.search(text):
        raise NotPublic("invalid_domain" if ":" not in text else "blocked_address", "This is not a host name.")
    try:
        return ada_url.URL(f"http://{text}/")
    except ValueError:
        raise NotPublic("invalid_domain", "This is not a host name.") from None


def _public(url: ada_url.URL, code: str) -> str:
    host = _checked(url, code, wildcard=False)
    if host in _local.names:
        return host
    last = host.rpartition(".")[2]
    if "." not in host or last in _SPECIAL or host in _local.own:
        raise NotPublic("blocked_address", "This host is not in the public DNS.")
    return host


def _checked(url: ada_url.URL, code: str, *, wildcard: bool) -> str:
    if url.host_type != ada_url.HostType.DEFAULT:
        raise NotPublic("blocked_address" if not wildcard else code, "IP addresses are not accepted: name a host.")
    host: str = url.hostname.removesuffix(".")
    labels = host.split(".")
    if wildcard and labels[0] == "*":
        del labels[0]
    if not labels or len(host) > MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        raise NotPublic(code, "This is not a host name.")
    if labels[-1].isdigit():
        raise NotPublic(code, "This is not a host name.")
    return host


def _authority(text: str) -> str:
    return re.split(r"[/?#]", text.partition("//")[2], maxsplit=1)[0]
