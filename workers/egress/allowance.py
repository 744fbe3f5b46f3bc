"""What one job may take through the proxy, and what it was refused."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field

REASONS = {
    "bad_request": 400,
    "blocked_address": 403,
    "token": 407,
    "timeout": 504,
    "too_many_bytes": 403,
    "too_many_hosts": 403,
    "too_many_requests": 403,
    "bad_content": 502,
    "connection_refused": 502,
    "dns_failure": 502,
}
"""All reasons why the proxy does not do what it is asked, and their HTTP statuses."""


class Refused(Exception):
    """The proxy does not do it."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(eq=False)
class Job:
    """One token and its limits.

    Attributes:
        seconds: from now.
        bytes: in both directions, bodies and tunnels.
        hosts: different ones, also those that do not exist: every question to the DNS may carry data out.
        refusals: the first reason by host; under "" what named no host.
        exhausted: the limit that was reached, a reason, or None.
    """

    seconds: float = 25.0
    requests: int = 200
    hosts: int = 20
    bytes: int = 20_000_000
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    refusals: dict[str, str] = field(default_factory=dict)
    exhausted: str | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)
    connecting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8), repr=False)
    """One job's slow hosts do not take all threads."""

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.seconds
        self._asked: set[str] = set()

    def left_s(self) -> float:
        """Until the deadline."""
        return self.deadline - time.monotonic()

    def ask(self, host: str) -> None:
        """Count a request. Raises Refused."""
        self.spend(0)
        self.requests -= 1
        if self.requests < 0:
            raise self._end("too_many_requests")
        if host not in self._asked and len(self._asked) >= self.hosts:
            raise self._end("too_many_hosts")
        self._asked.add(host)

    def spend(self, count: int) -> None:
        """Count bytes. Raises Refused."""
        self.bytes -= count
        if self.bytes < 0:
            raise self._end("too_many_bytes")

    def _end(self, reason: str) -> Refused:
        self.exhausted = self.exhausted or reason
        return Refused(reason, "The job has taken all that it may.")
