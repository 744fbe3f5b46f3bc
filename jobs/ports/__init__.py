"""What jobs may use of the outside world. Each port is a Protocol of at most three methods, implemented in workers/adapters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from jobs.hosts import PublicUrl
from jobs.observation import Previous
from jobs.ports.browser import Browser
from jobs.ports.chains import Chains
from jobs.ports.xrpl import XrplLedger
from jobs.site import Site
from shared.settled_payment import NO_PAYMENT, SettledPayment


class Page(NamedTuple):
    """An HTTP response.

    Attributes:
        url: the URL that answered, after redirects.
        headers: names in lower case and values, in the order of the response.
        body: the body, decoded from its content coding.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of the first header with this name in lower case, or None."""
        return next((value for found, value in self.headers if found == name), None)


class Pages(Protocol):
    """An HTTP client that reaches public addresses only, whatever a name, a redirect or an answer says."""

    def get(
        self, url: PublicUrl, *, limit_bytes: int, deadline: float, headers: Mapping[str, str] | None = None
    ) -> Page:
        """GET a URL and follow redirects. Raises BlockedAddress, UpstreamFailed."""
        ...

    def exchange(
        self,
        method: str,
        url: PublicUrl,
        *,
        limit_bytes: int,
        deadline: float,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Page:
        """Send one request and follow no redirect. Raises BlockedAddress, UpstreamFailed."""
        ...


class Handshake(NamedTuple):
    """What a server sent in a TLS handshake. None of it has been verified.

    Attributes:
        address: the server's IP address.
        protocol: the protocol version, such as ``TLSv1.3``.
        cipher: OpenSSL's name of the cipher suite.
        cipher_bits: bits of the cipher's key.
        chain: the certificates in DER as they were sent, the server's own first; never empty.
    """

    address: str
    protocol: str
    cipher: str
    cipher_bits: int
    chain: tuple[bytes, ...]


class Tls(Protocol):
    """TLS handshakes with every version and cipher that a server might still use."""

    def handshake(self, host: str, port: int, *, deadline: float) -> Handshake:
        """Make one handshake, and verify nothing. Raises BlockedAddress, UpstreamFailed."""
        ...

    def authorities(self) -> bytes:
        """The authorities that the operator trusts beside the public ones, as PEM."""
        ...


class CaptionTrack(NamedTuple):
    """One of a video's caption tracks.

    Attributes:
        code: YouTube's code of the language.
        is_generated: speech recognition made it; otherwise a person wrote it.
        is_default: the video names it as its default.
    """

    code: str
    name: str
    is_generated: bool
    is_default: bool = False


class CaptionedVideo(NamedTuple):
    """A video's captions.

    Attributes:
        chosen: index of the track whose captions `document` holds.
        document: the captions as they were sent, not checked.
    """

    title: str | None
    tracks: Sequence[CaptionTrack]
    chosen: int
    document: bytes


class Captions(Protocol):
    """Captions of YouTube."""

    def fetch(
        self, video_id: str, choose: Callable[[Sequence[CaptionTrack]], int], *, deadline: float
    ) -> CaptionedVideo:
        """The tracks of a video, and the captions of the track whose index `choose` returns.

        Raises UpstreamFailed, and what `choose` raises.
        """
        ...


class Calculations(Protocol):
    """Calculations on hostile data (jobs/calculations.py), in a process that is killed when it takes too much."""

    def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
        """Run a calculation. Raises UpstreamFailed `bad_content` when it takes too much, DeadlineExceeded."""
        ...


class DnsRecord(NamedTuple):
    """One DNS record.

    Attributes:
        name: its owner name, in lower case.
        ttl: the remaining time to live, in seconds.
        fields: its data in the order of the wire format: names and addresses are str, arbitrary bytes are bytes, and a TXT
            record has one field for each of its strings. Names have no trailing dot; the root is ``.``.
    """

    name: str
    ttl: int
    fields: tuple[int | str | bytes, ...]


class DnsResponse(NamedTuple):
    """A response of the DNS.

    Attributes:
        rcode: NOERROR, NXDOMAIN, SERVFAIL or REFUSED.
        aliases: the targets of CNAME records, in order; `records` belong to the last one.
        min_ttl: seconds for which the whole response is valid; None: it may not be cached.
        authenticated: the name servers have validated it with DNSSEC.
        age_s: seconds since the name servers were asked.
    """

    rcode: str
    aliases: tuple[str, ...]
    records: tuple[DnsRecord, ...]
    min_ttl: int | None
    authenticated: bool
    age_s: int


class Dns(Protocol):
    """The public DNS, through the name servers of this installation."""

    def lookup(self, name: str, record_type: str, *, deadline: float) -> DnsResponse:
        """Look up records of one type. Raises UpstreamFailed `timeout`, or `servfail` when every server failed."""
        ...


class WhoisText(NamedTuple):
    """A WHOIS server's answer.

    Attributes:
        is_cut: the answer was longer.
        age_s: seconds since the server was asked.
    """

    raw: bytes
    is_cut: bool
    age_s: float


class Whois(Protocol):
    """A WHOIS client (RFC 3912) that reaches public addresses only. It limits its queries, because servers ban busy clients."""

    @property
    def root(self) -> str:
        """The root server, which names the other servers."""
        ...

    def ask(self, server: str, query: str, *, deadline: float) -> WhoisText:
        """Send one query. Raises BlockedAddress, UpstreamFailed."""
        ...


class RdapAnswer(NamedTuple):
    """An RDAP server's answer.

    Attributes:
        is_found: the server has an object for the domain; else it says that it has none.
        raw: JSON; empty when a server sends no more than the status that there is none.
        age_s: seconds since the server was asked.
    """

    is_found: bool
    raw: bytes
    age_s: float


class Rdap(Protocol):
    """An RDAP client that reaches the servers of IANA's bootstrap file only, at public addresses only."""

    def server(self, domain: str) -> str | None:
        """The host that answers for a domain's top-level domain, or None."""
        ...

    def ask(self, domain: str, *, deadline: float) -> RdapAnswer:
        """Ask that host about the domain. Raises BlockedAddress, UpstreamFailed."""
        ...


class Clock(Protocol):
    """The time of day."""

    def now(self) -> datetime:
        """The time in UTC."""
        ...


class Ports(Protocol):
    """All ports, and the Site whose rules they follow. A port is created when a handler first uses it."""

    @property
    def site(self) -> Site:
        """What this installation serves, and its exceptions for hosts and ports."""
        ...

    @property
    def pages(self) -> Pages: ...

    @property
    def tls(self) -> Tls: ...

    @property
    def captions(self) -> Captions: ...

    @property
    def calculations(self) -> Calculations: ...

    @property
    def dns(self) -> Dns: ...

    @property
    def whois(self) -> Whois: ...

    @property
    def rdap(self) -> Rdap: ...

    @property
    def chains(self) -> Chains: ...

    @property
    def xrpl(self) -> XrplLedger: ...

    @property
    def browser(self) -> Browser: ...

    @property
    def clock(self) -> Clock: ...


class NoPorts:
    """No ports: for handlers that need none, and for child processes."""

    def __getattr__(self, name: str) -> object:
        raise LookupError(f"this handler runs without {name}")


NO_PORTS: Any = NoPorts()


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler gets beside its request.

    Attributes:
        payer: the wallet that paid, in the canonical form of its rail.
        payment: what it paid for this call.
        previous: of an endpoint with a `subject`: what this payer's last call about the same subject observed.
    """

    payer: str
    ports: Ports = NO_PORTS
    payment: SettledPayment = NO_PAYMENT
    previous: Previous | None = None

    @property
    def site(self) -> Site:
        """The Site of the ports. Without ports, asking for it raises LookupError."""
        return self.ports.site
