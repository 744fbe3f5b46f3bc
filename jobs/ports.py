"""The outside world as the jobs see it. Each port is a Protocol of at most three methods; the real ones: workers/adapters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from jobs.hosts import PublicUrl


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


class Calculations(Protocol):
    """Work on hostile data in a process that is killed when it takes too much (jobs/calculations.py names them)."""

    def run(self, name: str, argument: bytes, *, limit_s: float) -> bytes:
        """What the calculation returns. Raises UpstreamFailed `bad_content` when it takes too much."""
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


class World(Protocol):
    """All ports. What a handler does not touch is not made."""

    @property
    def pages(self) -> Pages:
        """Other sites."""
        ...

    @property
    def calculations(self) -> Calculations:
        """Killable work."""
        ...

    @property
    def whois(self) -> Whois:
        """WHOIS servers."""
        ...

    @property
    def clock(self) -> Clock:
        """Now."""
        ...


class Nowhere:
    """The world of what needs none, and of a child process, which has none."""

    def __getattr__(self, name: str) -> object:
        raise LookupError(f"this handler runs without {name}")


NOWHERE: Any = Nowhere()


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler gets beside its request.

    Attributes:
        payer: the wallet that paid, in the canonical form of its rail. Baselines are kept per payer.
    """

    payer: str
    world: World = NOWHERE
