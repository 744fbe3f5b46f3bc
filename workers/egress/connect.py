"""TCP connections to hosts that callers name. No other module makes them."""

import errno
import ipaddress
import socket
import time
from collections.abc import Sequence

from shared.observability.metrics import metrics
from shared.outcome import BlockedAddress, JobFailure, Unavailable, UpstreamFailed
from shared.settings.egress_proxies import ProxyServer
from workers.egress.connection import Connection
from workers.egress.exits import Exits, Route
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver
from workers.egress.tunnel import ProxyFailed, open_tunnel

NO_WAY = "This service's own way to other hosts does not work now."
"""What a caller is told of proxies that do not work."""


class Connector:
    """Resolves, checks and connects in one step: the name is not resolved again between the check and the connection.

    Args:
        exits: by which connections leave; None: directly.
    """

    def __init__(self, policy: Policy, resolver: Resolver, exits: Exits | None = None) -> None:
        self._policy = policy
        self._resolver = resolver
        self._exits = exits or Exits()

    def route(self, site: str) -> Route:
        """The route of one call: what it connects to leaves by one exit.

        Args:
            site: the host that the call is about.
        """
        return self._exits.route(site)

    def connect(self, host: str, port: int, *, deadline: float, route: Route | None = None) -> Connection:
        """Connect. The socket's timeout is the time that is left until the deadline now.

        Args:
            host: a name, as jobs.hosts reads it.
            deadline: monotonic seconds.
            route: of the call; None: one to this host. If the host does not take the connection, the next exit is tried.

        Raises:
            BlockedAddress: the name leads to an address that is not public.
            UpstreamFailed: `dns_failure`, `timeout` or `connection_refused`.
            Unavailable: the operator's proxies do not work.
        """
        addresses = self._resolver.addresses(host, deadline=deadline)
        route = route or self.route(host)
        failure: JobFailure = Unavailable(NO_WAY)
        exits = self._exits.working(route.number)
        for left, (number, server) in zip(range(len(exits), 0, -1), exits, strict=True):
            now = time.monotonic()
            try:
                connected = self._connected(host, addresses, port, server, now + (deadline - now) / left)
            except ProxyFailed:
                failure = Unavailable(NO_WAY)
            except UpstreamFailed as failed:
                failure = failed
            else:
                route.leads_by(number, host)
                connected.settimeout(max(0.001, deadline - time.monotonic()))
                return connected
        raise failure

    def _connected(
        self, host: str, addresses: Sequence[str], port: int, server: ProxyServer | None, deadline: float
    ) -> Connection:
        failure = UpstreamFailed(f"{host} could not be connected to in time.", reason="timeout")
        for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            now = time.monotonic()
            if now >= deadline:
                break
            try:
                return self._open(address, port, server, now + (deadline - now) / left)
            except TimeoutError:
                failure = UpstreamFailed(f"{host} did not accept a connection in time.", reason="timeout")
            except OSError:
                failure = UpstreamFailed(f"{host} refused the connection.", reason="connection_refused")
        raise failure

    def _open(self, address: str, port: int, server: ProxyServer | None, deadline: float) -> Connection:
        # The second check, directly before the connection: no bug elsewhere can connect to a refused address.
        if why := self._policy.refusal(address):
            metrics.egress_refused("blocked_address")
            raise BlockedAddress(f"The address is not public: {why}.")
        if server is None:
            return _directly(address, port, deadline - time.monotonic())
        result = "unreachable"
        try:
            connected = open_tunnel(server, address, port, deadline=deadline)
            result = "connected"
        except ProxyFailed as failed:
            result = "failed"
            self._exits.has_failed(server, failed, (address, port))
            raise
        finally:
            metrics.egress_proxied(self._exits.pool, result)
        return connected


def _directly(address: str, port: int, timeout_s: float) -> Connection:
    family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    opened = Connection(family, socket.SOCK_STREAM)
    try:
        opened.target = (address, port)
        opened.settimeout(max(0.001, timeout_s))
        opened.connect((address, port))
        if opened.getsockname() == opened.getpeername():  # a local port may connect to itself
            raise OSError(errno.ECONNREFUSED, "connected to itself")
    except BaseException:
        opened.close()
        raise
    return opened
