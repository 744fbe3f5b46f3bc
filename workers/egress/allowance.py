"""The limits of one job that uses the proxy, and the requests that it was refused."""

import asyncio
import time
from dataclasses import dataclass, field

from workers.egress.exits import Route

REASONS = {
    "bad_request": 400,
    "blocked_address": 403,
    "timeout": 504,
    "too_many_bytes": 403,
    "too_many_hosts": 403,
    "too_many_requests": 403,
    "bad_content": 502,
    "connection_refused": 502,
    "dns_failure": 502,
    "unavailable": 502,
}
"""Every reason why the proxy refuses a request, and its HTTP status."""


class Refused(Exception):
    """The proxy refuses a request."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(eq=False)
class Job:
    """What one job may do.

    Attributes:
        route: of its connections.
        seconds: time limit, from now.
        bytes: limit for both directions, bodies and tunnels.
        hosts: limit for different hosts. It counts hosts that do not exist: every DNS query may carry data out.
        received_bytes: bytes that came from upstreams, bodies, heads and tunnels.
        refusals: the first reason by host; under "" that of requests that named no host.
        absent: hosts that have no address, as the DNS says.
        exhausted: the reason that names the reached limit, or None.
    """

    route: Route | None = None
    seconds: float = 25.0
    requests: int = 200
    hosts: int = 20
    bytes: int = 20_000_000
    received_bytes: int = 0
    refusals: dict[str, str] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    exhausted: str | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)
    connecting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8), repr=False)
    """Bounds the threads that one job's slow hosts take."""

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.seconds
        self._asked: set[str] = set()

    @property
    def has_asked(self) -> bool:
        """Whether a request was made that it allows."""
        return bool(self._asked)

    def left_s(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    def count_request(self, host: str) -> None:
        """Count a request. Raises Refused."""
        self.spend(0)
        self.requests -= 1
        if self.requests < 0:
            raise self._end("too_many_requests")
        if host not in self._asked and len(self._asked) >= self.hosts:
            raise self._end("too_many_hosts")
        self._asked.add(host)

    def receive(self, count: int) -> None:
        """Count bytes that came from an upstream. Raises Refused."""
        self.received_bytes += count
        self.spend(count)

    def spend(self, count: int) -> None:
        """Count bytes. Raises Refused."""
        self.bytes -= count
        if self.bytes < 0:
            raise self._end("too_many_bytes")

    def disconnect(self) -> None:
        """Close its connections. New ones are served."""
        for task in self.tasks:
            task.cancel()

    def _end(self, reason: str) -> Refused:
        self.exhausted = self.exhausted or reason
        return Refused(reason, "The job has taken all that it may.")


@dataclass(eq=False)
class Slot:
    """A listening socket for one job after the other. Whatever connects to it belongs to the job that is served.

    Attributes:
        job: the one that is served now. Without one, every request is refused.
    """

    job: Job | None = None
    server: asyncio.Server | None = field(default=None, repr=False)

    def close(self) -> None:
        """Listen no longer."""
        if self.server is not None:
            self.server.close()
