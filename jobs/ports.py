"""The outside world as the jobs see it. Each port is a Protocol of at most three methods; the real ones: workers/adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from jobs.hosts import PublicUrl
from jobs.observation import Previous
from shared.settled_payment import NO_PAYMENT, SettledPayment


class Page(NamedTuple):
    """An HTTP response.

    Attributes:
        url: where it came from, after redirects.
        headers: names in lower case, in their order.
        body: decoded from its content coding.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first of a name, or None."""
        return next((value for found, value in self.headers if found == name), None)


class Pages(Protocol):
    """HTTP, guarded: what is not public is not reached, whatever a name, a redirect or an answer says."""

    def get(
        self, url: PublicUrl, *, limit_bytes: int, deadline: float, headers: Mapping[str, str] | None = None
    ) -> Page:
        """GET, following redirects. Raises BlockedAddress, UpstreamFailed."""
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
        """One request, following nothing. Raises BlockedAddress, UpstreamFailed."""
        ...


class Handshake(NamedTuple):
    """What a server showed in a TLS handshake. Nothing of it has been verified.

    Attributes:
        address: where it was.
        protocol: ``TLSv1.3``.
        cipher: its name, as OpenSSL calls it.
        cipher_bits: of its key.
        chain: DER as it was sent, the server's own certificate first; never empty.
    """

    address: str
    protocol: str
    cipher: str
    cipher_bits: int
    chain: tuple[bytes, ...]


class Tls(Protocol):
    """TLS, with everything that a server might still speak."""

    def handshake(self, host: str, port: int, *, deadline: float) -> Handshake:
        """One, which verifies nothing. Raises BlockedAddress, UpstreamFailed."""
        ...

    def authorities(self) -> bytes:
        """Those that the operator trusts beside the public ones, as PEM."""
        ...


class CaptionTrack(NamedTuple):
    """One of a video's caption tracks.

    Attributes:
        code: of the language, as YouTube writes it.
        is_generated: by speech recognition; else somebody wrote it.
        is_default: the one that the video itself names.
    """

    code: str
    name: str
    is_generated: bool
    is_default: bool = False


class CaptionedVideo(NamedTuple):
    """A video's captions.

    Attributes:
        chosen: index of the track that `document` is of.
        document: as it was sent: nobody has looked at it.
    """

    title: str | None
    tracks: Sequence[CaptionTrack]
    chosen: int
    document: bytes


class Captions(Protocol):
    """YouTube."""

    def fetch(
        self, video_id: str, choose: Callable[[Sequence[CaptionTrack]], int], *, deadline: float
    ) -> CaptionedVideo:
        """The tracks of a video, and the one that `choose` points at. Raises UpstreamFailed, and what `choose` raises."""
        ...


class Calculations(Protocol):
    """Work on hostile data in a process that is killed when it takes too much (jobs/calculations.py names them)."""

    def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
        """What the calculation returns. Raises UpstreamFailed `bad_content` when it takes too much, DeadlineExceeded."""
        ...


class DnsRecord(NamedTuple):
    """One record.

    Attributes:
        name: its owner, in lower case.
        ttl: seconds that are left of it.
        fields: what it says, in the order of the wire: names and addresses are str, what may be any bytes is bytes, and a TXT
            record has one field for each of its strings. Names have no trailing dot; the root is ``.``.
    """

    name: str
    ttl: int
    fields: tuple[int | str | bytes, ...]


class DnsResponse(NamedTuple):
    """What the DNS says of a name.

    Attributes:
        rcode: NOERROR, NXDOMAIN, SERVFAIL or REFUSED.
        aliases: names that it leads to by CNAME records, in order; `records` are those of the last one.
        min_ttl: seconds that all of it may be believed; None: for no time.
        authenticated: the name servers say that DNSSEC proves it.
        age_s: seconds since they were asked.
    """

    rcode: str
    aliases: tuple[str, ...]
    records: tuple[DnsRecord, ...]
    min_ttl: int | None
    authenticated: bool
    age_s: int


class Dns(Protocol):
    """The public DNS, as the name servers of this installation see it."""

    def lookup(self, name: str, record_type: str, *, deadline: float) -> DnsResponse:
        """Records of one type. Raises UpstreamFailed `timeout`, or `servfail` when every server failed."""
        ...


class WhoisText(NamedTuple):
    """What a WHOIS server answered.

    Attributes:
        is_cut: there was more.
        age_s: how long ago it was asked.
    """

    raw: bytes
    is_cut: bool
    age_s: float


class Whois(Protocol):
    """WHOIS servers (RFC 3912), guarded as `Pages` are, and asked with courtesy: they ban who asks too much."""

    @property
    def root(self) -> str:
        """The server that knows the others."""
        ...

    def ask(self, server: str, query: str, *, deadline: float) -> WhoisText:
        """One query. Raises BlockedAddress, UpstreamFailed."""
        ...


class Clock(Protocol):
    """The time of day."""

    def now(self) -> datetime:
        """In UTC."""
        ...


class Ports(Protocol):
    """All ports. What a handler does not touch is not made."""

    @property
    def pages(self) -> Pages:
        """Other sites."""
        ...

    @property
    def tls(self) -> Tls:
        """Other sites' certificates."""
        ...

    @property
    def captions(self) -> Captions:
        """YouTube's."""
        ...

    @property
    def calculations(self) -> Calculations:
        """Killable work."""
        ...

    @property
    def dns(self) -> Dns:
        """Name servers."""
        ...

    @property
    def whois(self) -> Whois:
        """WHOIS servers."""
        ...

    @property
    def clock(self) -> Clock:
        """Now."""
        ...


class NoPorts:
    """The world of what needs none, and of a child process, which has none."""

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
