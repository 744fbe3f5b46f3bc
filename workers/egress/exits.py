"""The exits of a pool: the ways by which its connections leave this machine, directly or through a proxy of the operator's.

The first exit is the direct one, unless proxies are always used. A site that refuses what comes by one exit gets the next one,
and keeps it for REMEMBER_S. After the last exit comes the first one. The policy judges every address before, whatever the exit.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shared.observability.metrics import metrics
from shared.settings.egress_proxies import PoolProxies, ProxyServer
from workers.egress import tunnel

log = logging.getLogger(__name__)

NO_PROXY = "no_proxy"
"""No proxy of a pool that always uses them works."""
REMEMBER_S = 600.0
"""Seconds for which a site keeps an exit that is not the first."""
EVERY_S = 5.0
"""Seconds between two looks at a proxy."""
CHECK_S = 3.0
"""Seconds that a proxy has to answer such a look."""
MOST_SITES = 4096
"""Sites that are remembered. Callers choose them, so there is a limit."""
TRIES = 2
"""Exits that are tried for one connection."""


@dataclass
class _Proxy:
    """What is known of a proxy.

    Attributes:
        is_broken: it does not work, whatever host is asked for.
        failure: how it failed last for one host.
        asked: the address for which it refused our credentials.
        check_at: when it is looked at, in monotonic seconds.
    """

    server: ProxyServer
    is_broken: bool = False
    failure: str = ""
    asked: tuple[str, int] | None = None
    check_at: float = 0.0


class Exits:
    """The exits of one pool. Thread-safe. Implements workers.port_lifecycle.LivePort, which sees whether proxies work.

    Args:
        proxies: None: every connection leaves directly.
        clock: monotonic seconds.
    """

    def __init__(
        self, pool: str = "", proxies: PoolProxies | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.pool = pool
        self._proxies = [_Proxy(server) for server in proxies.servers] if proxies else []
        self._exits: list[_Proxy | None] = [*([] if proxies and proxies.is_always else [None]), *self._proxies]
        self._clock = clock
        self._places: dict[str, tuple[int, float]] = {}
        self._lock = threading.RLock()

    @property
    def has_direct(self) -> bool:
        """Whether connections may leave without a proxy."""
        return None in self._exits

    def route(self, site: str) -> "Route":
        """The route of one call to a site."""
        with self._lock:
            return Route(self, site, self._place(site))

    def working(self, first: int) -> Sequence[tuple[int, ProxyServer | None]]:
        """The exits to try, by number, from this one on; None is the direct one. While any proxy works, nothing leaves directly
        after a proxy has failed for it."""
        found = [(number, proxy.server if (proxy := self._exits[number]) else None) for number in self._order(first)]
        return ([each for each in found if each[0] == first or each[1]] or found)[:TRIES]

    def keep(self, site: str, number: int) -> None:
        """Let a site keep an exit for a while."""
        with self._lock:
            self._places.pop(site, None)
            if number:
                self._places[site] = (number, self._clock() + REMEMBER_S)
                if len(self._places) > MOST_SITES:
                    del self._places[next(iter(self._places))]

    def refused(self, route: "Route") -> bool:
        """Move a site that refuses what comes by the route's exit. Returns whether the route has another exit then."""
        others = [number for number in self._order(route.number) if number != route.number]
        if not others:
            return False
        with self._lock:
            place = self._place(route.site)
            if place == route.number:  # otherwise a call at the same time has moved it
                place = others[0]
                self.keep(route.site, place)
        metrics.egress_rerouted(self.pool)
        route.number = place
        return True

    def has_failed(self, server: ProxyServer, failed: tunnel.ProxyFailed, asked: tuple[str, int] | None) -> None:
        """Note that a proxy has failed. A broken one is not used until it works again."""
        proxy = next(each for each in self._proxies if each.server == server)
        if failed.is_broken:
            proxy.asked = asked if server.scheme == "http" else None
            self._note(proxy, str(failed))
        elif proxy.failure != (why := str(failed)):  # one line, however many hosts callers name
            proxy.failure = why
            log.warning("the proxy %s of the pool %s failed for a host: %s", server, self.pool, why)

    def start(self) -> None:
        """There is nothing to start."""

    def close(self) -> None:
        """There is nothing to close."""

    def unavailable_reason(self) -> str:
        """`no_proxy` when no exit works, otherwise "". It looks at one proxy at a time."""
        now = self._clock()
        due = next((proxy for proxy in self._proxies if proxy.check_at <= now), None)
        if due is not None:
            why = ""
            try:
                tunnel.check(due.server, due.asked, deadline=time.monotonic() + CHECK_S)
                due.asked = None
            except tunnel.ProxyFailed as failed:
                why = str(failed)
            self._note(due, why)
            due.check_at = self._clock() + EVERY_S
        return "" if self.working(0) else NO_PROXY

    def _note(self, proxy: _Proxy, why: str) -> None:
        if proxy.is_broken != bool(why):
            state = f"does not work: {why}" if why else "works again"
            log.warning("the proxy %s of the pool %s %s", proxy.server, self.pool, state)
        proxy.is_broken = bool(why)

    def _order(self, first: int) -> Sequence[int]:
        """The numbers of the exits that are not broken, from this one on."""
        count = len(self._exits)
        numbers = ((first + offset) % count for offset in range(count))
        return [number for number in numbers if not ((proxy := self._exits[number]) and proxy.is_broken)]

    def _place(self, site: str) -> int:
        number, until = self._places.get(site, (0, 0.0))
        return number if self._clock() < until else 0


@dataclass(eq=False)
class Route:
    """The exit of one call to a site: its connections leave by the same one, as long as that works.

    Attributes:
        site: the host whose refusals count.
        number: of the exit.
    """

    exits: Exits
    site: str
    number: int

    def refused(self) -> bool:
        """Note that the site refuses what comes by this exit. Returns whether the route leads by another one now."""
        return self.exits.refused(self)

    def leads_by(self, number: int, host: str) -> None:
        """Note that a connection to a host was made by this exit."""
        if number != self.number and host == self.site:
            self.exits.keep(self.site, number)
            self.number = number
