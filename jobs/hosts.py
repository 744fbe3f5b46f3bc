"""Reads public host names and public URLs, without asking the network.

A text is read once, with the WHATWG URL algorithm (ada), and later code uses only the result: two parsers that disagree let
`http://example.com\\@127.0.0.1/` pass a check. The address of a name is checked when the connection is made (workers/egress).
"""

import ipaddress
import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import ada_url

from jobs.site import Site
from shared.endpoint import InvalidField

_Named = TypeVar("_Named")
_Read = TypeVar("_Read")

MAX_URL = 2048
MAX_HOST = 253
PORTS = frozenset({80, 443, 8080, 8443})
FIRST_FREE_PORT = 1024
"""Ports below it belong to protocols. Above it, a TLS server may use any port that is not in PLAIN_PORTS."""
TLS_PORTS = frozenset({443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 80})
"""Ports below FIRST_FREE_PORT where TLS starts with the first byte. 80 is here because some servers speak TLS on it by
mistake."""
PLAIN_PORTS = frozenset(
    {
        *(1433, 1521, 2049, 2181, 2375, 2379, 3306, 3389, 4369, 5432),
        *(5672, 5900, 5984, 6000, 6379, 7000, 7001, 8125, 9042),
        *(9092, 9200, 9300, 11211, 27017, 27018, 50000),
    }
)
"""Ports from FIRST_FREE_PORT on that belong to databases, brokers and desktops. A TLS handshake would disturb them, and its
error would show the caller that they exist."""

# Not delegated in the public DNS, or for one network only (RFC 6761, 6762, 7686, 8375, 9476; ICANN's .internal).
_SPECIAL = frozenset(
    (
        *("alt", "arpa", "cluster", "consul", "corp", "example", "home", "internal", "intranet", "invalid", "lan"),
        *("local", "localdomain", "localhost", "mail", "onion", "private", "svc", "test"),
    )
)
# We ask the public DNS about these as about any other name. It answers that they do not exist (RFC 6761).
_ASKED_FOR = frozenset({"arpa", "example", "invalid", "test"})
_URL = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\s\\\x00-\x20\x7f-\x9f]")
_NOT_IN_HOST = re.compile(r"[\s\x00-\x20\x7f-\x9f%/\\:@?#\[\]<>^|]")
_AUTHORITY = re.compile(r"(?:https?:)?//([^/?#]*)", re.IGNORECASE)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)", re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class NotPublic(ValueError):
    """A host or URL that is never connected to.

    Attributes:
        code: `blocked_address` when it is well formed but never public (an address, a special name, another port); otherwise
            `invalid_url` or `invalid_domain`.
        detail: a sentence for the caller. It quotes nothing of the refused text.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


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


def public_url(text: str, site: Site, *, base: PublicUrl | None = None) -> PublicUrl:
    """Read a URL.

    Args:
        base: the URL to which a relative one is resolved. Without it the URL must be absolute.

    Raises:
        NotPublic: the form is wrong (`invalid_url`), or the URL names something that is never public (`blocked_address`).
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
        raise NotPublic("invalid_url", "The scheme must be http or https.")
    if url.username or url.password or _has_user(text):
        raise NotPublic("invalid_url", "A URL must not contain a user name or password.")
    host = _public(url, site, "invalid_url")
    port = int(url.port) if url.port else _DEFAULT_PORTS[scheme]
    if port not in PORTS and port not in site.ports:
        ports = ", ".join(map(str, sorted({*PORTS, *site.ports})))
        raise NotPublic("blocked_address", f"Only the ports {ports} may be called.")
    parts = PublicUrl(scheme, host, port, url.pathname + url.search)
    if len(str(parts)) > 3 * MAX_URL:  # escaping may triple it
        raise NotPublic("invalid_url", "The URL is too long.")
    return parts


def public_host(text: str, site: Site) -> str:
    """Read a host name. Returns lower-case A-labels without a trailing dot.

    Raises:
        NotPublic: the text is not a host name (`invalid_domain`), or it is an address or a name that is never public
            (`blocked_address`).
    """
    return _public(_parsed(text, "blocked_address"), site, "invalid_domain")


def domain_name(text: str, site: Site) -> str:
    """Read a name to look up in the public DNS.

    It accepts what `public_host` accepts, and also one label alone, a label `*`, names below arpa, and names in the zones for
    examples and tests. It refuses the names that networks use internally (local, internal, ...).

    Raises:
        NotPublic: always with the code `invalid_domain`, because no connection is made.
    """
    host = _checked(_parsed(text, "invalid_domain"), "invalid_domain", "invalid_domain", wildcard=True)
    if host not in site.names and (_last(host) in _SPECIAL - _ASKED_FOR or f".{host}".endswith(".home.arpa")):
        raise NotPublic("invalid_domain", "This name is not in the public DNS.")
    return host


def tls_port(port: int, site: Site) -> int:
    """Check that a TLS handshake may be made with this port.

    Raises:
        NotPublic: with the code `blocked_address`.
    """
    is_tls = port in TLS_PORTS or (port >= FIRST_FREE_PORT and port not in PLAIN_PORTS)
    if not is_tls and port not in site.ports:
        raise NotPublic("blocked_address", "This port belongs to another protocol than TLS.")
    return port


def checked(read: Callable[[_Named, Site], _Read], named: _Named, site: Site, *, field: str) -> _Read:
    """What `read` makes of a request's field: raises InvalidField where `read` raises NotPublic."""
    try:
        return read(named, site)
    except NotPublic as refused:
        raise InvalidField(refused.detail, field=field, code=refused.code) from None


def _parsed(text: str, address: str) -> ada_url.URL:
    if len(text) <= 4 * MAX_HOST and _is_ipv6(text):
        raise _address(address)
    if not text or len(text) > 4 * MAX_HOST or _NOT_IN_HOST.search(text):
        raise NotPublic("invalid_domain", "This is not a host name.")
    try:
        return ada_url.URL(f"http://{text}/")
    except ValueError:
        raise NotPublic("invalid_domain", "This is not a host name.") from None


def _public(url: ada_url.URL, site: Site, code: str) -> str:
    host = _checked(url, code, "blocked_address")
    if host in site.names:
        return host
    if "." not in host or _last(host) in _SPECIAL or host in site.own:
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
    """Whether a label has only letters, digits, hyphens and underscores. A label with the prefix xn-- must also be the correct
    encoding of its Unicode form, which ada does not check in an ASCII name."""
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
    """Whether a URL has user information. The parser does not report an empty one."""
    authority = _AUTHORITY.match(text)
    return authority is not None and "@" in authority[1]
