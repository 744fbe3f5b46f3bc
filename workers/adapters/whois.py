"""WHOIS over TCP: one query per connection, with five seconds for the whole exchange."""

import re
import socket
import time
from collections.abc import Callable

from jobs.ports import WhoisText
from jobs.whois.record import is_refusal
from jobs.whois.text import MOST_BYTES, decode
from shared.outcome import UpstreamFailed
from workers.adapters.expiring_cache import ExpiringCache
from workers.egress.connect import Connector
from workers.egress.deadline import left_s
from workers.egress.upstreams import Upstreams

CONNECTION_S = 5.0
"""Seconds to resolve, connect, ask and read."""
CACHE_S = 180.0
"""Seconds for which an answer is cached."""
CACHE_SIZE = 256
"""Cached answers of one process: 16 MB at most."""

_QUERY = re.compile(r"[A-Za-z0-9 .=/,_-]{1,300}")
"""Letters, digits, hyphens and what the query forms of registries need: nothing that ends a line."""


class WhoisClient:
    """Implements jobs.ports.Whois.

    Args:
        root: host and port of IANA's server.
        port: port of all other servers.
        clock: monotonic seconds, for the age of answers.
    """

    def __init__(
        self,
        connector: Connector,
        *,
        root: tuple[str, int],
        port: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connector = connector
        self._root, self._root_port = root
        self._port = port
        # Many registries count by the second or the minute: one refusal is not a ban yet, and a short pause is enough.
        self._upstreams = Upstreams(at_once=4, failures=5, throttles=3, pause_s=5.0)
        self._cache: ExpiringCache[tuple[str, str], WhoisText] = ExpiringCache(CACHE_SIZE, clock)

    @property
    def root(self) -> str:
        """IANA's server."""
        return self._root

    def ask(self, server: str, query: str, *, deadline: float) -> WhoisText:
        """Send a query and return up to 64 KB of the answer. Answers of the last minutes come from a cache.

        Args:
            server: a host name, as jobs.hosts reads it.
            deadline: monotonic seconds. The connection ends after five seconds in any case.

        Raises:
            BlockedAddress: the server leads to an address that is not public.
            UpstreamFailed: `timeout`, `dns_failure`, `connection_refused`, `bad_content` for an empty answer, or
                `rate_limited` when the server says so or its circuit is open.
        """
        if not _QUERY.fullmatch(query):
            raise ValueError("not a query of one line")
        if cached := self._cache.get((server, query)):
            return cached[0]._replace(age_s=cached[1])
        with self._upstreams.slot(server, deadline=deadline):
            raw, is_cut = self._exchange(server, query, min(deadline, time.monotonic() + CONNECTION_S))
            if not raw.strip():
                raise UpstreamFailed(f"{server} answered nothing.", reason="bad_content")
            if is_refusal(decode(raw)):
                raise UpstreamFailed(f"{server} refuses to answer: too many queries.", reason="rate_limited")
        text = WhoisText(raw, is_cut, 0.0)
        self._cache.put((server, query), text, size=1, lifetime_s=CACHE_S)
        return text

    def _exchange(self, server: str, query: str, deadline: float) -> tuple[bytes, bool]:
        port = self._root_port if server == self._root else self._port
        try:
            opened = self._connector.connect(server, port, deadline=deadline)
        except UpstreamFailed as failure:
            raise failure.passing() from None
        with opened as connected:
            try:
                connected.sendall(query.encode("ascii") + b"\r\n")
                return _all(connected, deadline)
            except TimeoutError:
                raise UpstreamFailed(f"{server} did not answer in time.", reason="timeout") from None
            except OSError:
                raise UpstreamFailed(f"{server} closed the connection.", reason="connection_refused") from None


def _all(connected: socket.socket, deadline: float) -> tuple[bytes, bool]:
    """The answer up to MOST_BYTES, and whether it was longer. Raises OSError, of which TimeoutError is one."""
    received = bytearray()
    while True:
        connected.settimeout(left_s(deadline))
        try:
            part = connected.recv(16 * 1024)
        except ConnectionResetError:
            if received:  # some servers reset the connection after a complete answer
                break
            raise
        if not part:
            break
        received += part
        if len(received) > MOST_BYTES:
            return bytes(received[:MOST_BYTES]), True
    return bytes(received), False
