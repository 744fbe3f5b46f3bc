"""Whether this machine's own way to callers' hosts works. Where it does not, calls that need it would be charged and fail.

What callers' hosts do decides nothing: a caller who names slow domains stops no pool. The name servers are asked a question of
ours, which any of them answers from memory, and the kernel is asked for a route, for which no packet is sent.
"""

import socket
import time
from collections.abc import Callable

from shared.outcome import UpstreamFailed
from workers.egress.resolver import LOOKUP_S, Resolver

NO_DNS = "no_dns"
NO_EGRESS = "no_egress"

EVERY_S = 5.0
"""Seconds from an answer to the next question. Without an answer it is asked again at once."""
_PUBLIC = ((socket.AF_INET, "198.41.0.4"), (socket.AF_INET6, "2001:503:ba3e::2:30"))
"""Addresses that need a route to the internet: of the root server A."""


class EgressHealth:
    """Implements workers.port_lifecycle.LivePort.

    Args:
        question: a name whose name servers are asked for.
        needs_route: whether callers' hosts are on the internet. In a sandbox they may all be on this machine.
    """

    def __init__(
        self, resolver: Resolver, *, question: str, needs_route: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._resolver = resolver
        self._question = question
        self._needs_route = needs_route
        self._clock = clock
        self._works_until = clock()

    def start(self) -> None:
        """There is nothing to start."""

    def close(self) -> None:
        """There is nothing to close."""

    def unavailable_reason(self) -> str:
        """`no_egress`, `no_dns` or ""."""
        if self._clock() < self._works_until:
            return ""
        if self._needs_route and not any(has_route(*address) for address in _PUBLIC):
            return NO_EGRESS
        try:
            self._resolver.query(self._question, "NS", deadline=time.monotonic() + LOOKUP_S)
        except UpstreamFailed:
            return NO_DNS
        self._works_until = self._clock() + EVERY_S
        return ""


def has_route(family: socket.AddressFamily, address: str) -> bool:
    """Whether the kernel knows a way to an address."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as unsent:
            unsent.connect((address, 53))
    except OSError:
        return False
    return True
