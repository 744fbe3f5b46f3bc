"""TCP connections to hosts that callers name. No other module makes them."""

from __future__ import annotations

import errno
import ipaddress
import socket
import time

from shared.observability.metrics import metrics
from shared.outcome import BlockedAddress, UpstreamFailed
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver


class Connector:
    """Resolves, checks and connects in one step: the name is not resolved again between the check and the connection."""

    def __init__(self, policy: Policy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver

    def connect(self, host: str, port: int, *, deadline: float) -> socket.socket:
        """Connect. The socket's timeout is the time that is left until the deadline now.

        Args:
            host: a name, as jobs.hosts reads it.
            deadline: monotonic seconds.

        Raises:
            BlockedAddress: the name leads to an address that is not public.
            UpstreamFailed: `dns_failure`, `timeout` or `connection_refused`.
        """
        addresses = self._resolver.addresses(host, deadline=deadline)
        failure = UpstreamFailed(f"{host} could not be connected to in time.", reason="timeout")
        for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                break
            try:
                connected = self._open(address, port, timeout_s=left_s / left)
            except TimeoutError:
                failure = UpstreamFailed(f"{host} did not accept a connection in time.", reason="timeout")
            except OSError:
                failure = UpstreamFailed(f"{host} refused the connection.", reason="connection_refused")
            else:
                connected.settimeout(max(0.001, deadline - time.monotonic()))
                return connected
        raise failure

    def _open(self, address: str, port: int, *, timeout_s: float) -> socket.socket:
        # The second check, directly before the connection: no bug elsewhere can connect to a refused address.
        if why := self._policy.refusal(address):
            metrics.egress_refused("blocked_address")
            raise BlockedAddress(f"The address is not public: {why}.")
        family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
        opened = socket.socket(family, socket.SOCK_STREAM)
        try:
            opened.settimeout(timeout_s)
            opened.connect((address, port))
            if opened.getsockname() == opened.getpeername():  # a local port may connect to itself
                raise OSError(errno.ECONNREFUSED, "connected to itself")
        except BaseException:
            opened.close()
            raise
        return opened
