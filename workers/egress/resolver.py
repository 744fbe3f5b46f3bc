"""Resolves names to addresses that the policy allows. It asks only the DNS: no /etc/hosts, no search domain."""

import contextlib
import ipaddress
import socket
import time
from collections.abc import Mapping
from typing import Any

import dns.exception
import dns.flags
import dns.inet
import dns.message
import dns.name
import dns.nameserver
import dns.query
import dns.rcode
import dns.rdatatype
import dns.resolver

from shared.observability.metrics import metrics
from shared.outcome import BlockedAddress, UpstreamFailed
from workers.egress.deadline import left_s
from workers.egress.policy import Policy
from workers.egress.wire import MAX_LABELS, labels

MAX_ADDRESSES = 16
MAX_CNAMES = 8
QUERY_TIMEOUT_S = 2.0
"""Seconds for one server to answer. Then another server is asked, or the same one again."""
LOOKUP_S = 5.0
"""Seconds to find all addresses of a host."""


class Resolver:
    """Asks the name servers of this installation.

    Args:
        server: ``(address, port)`` of the only name server; None: those of /etc/resolv.conf.
        overrides: names whose address the operator has set. They are not looked up.
    """

    def __init__(
        self, policy: Policy, *, server: tuple[str, int] | None = None, overrides: Mapping[str, str] | None = None
    ) -> None:
        self._policy = policy
        self._overrides = dict(overrides or {})
        self._resolver = dns.resolver.Resolver(configure=False)
        self._resolver.nameservers = [_Server(*server)] if server is not None else _system_servers()
        self._resolver.search = []
        self._resolver.domain = dns.name.root
        self._resolver.timeout = QUERY_TIMEOUT_S
        self._resolver.cache = None
        self._resolver.use_edns(0, dns.flags.DO, 1232)

    def query(self, name: str, record_type: str, *, deadline: float) -> dns.message.QueryMessage:
        """Ask for one type of records.

        Args:
            name: absolute, in A-labels, with or without a trailing dot.
            deadline: monotonic seconds.

        Returns:
            The response of the first server that gave one: NOERROR, with or without records, or NXDOMAIN. When every
            server that answered refused: REFUSED. When some refused and the others failed: SERVFAIL.

        Raises:
            UpstreamFailed: `timeout`, or `servfail` when every server that answered failed.
        """
        try:
            answer = self._resolver.resolve(
                dns.name.from_text(name), record_type, lifetime=left_s(deadline), search=False, raise_on_no_answer=False
            )
        except TimeoutError:
            raise UpstreamFailed("The name servers did not answer in time.", reason="timeout") from None
        except dns.resolver.NXDOMAIN as absent:
            response: dns.message.QueryMessage = absent.response(dns.name.from_text(name))  # type: ignore[no-untyped-call]
            return response
        except (dns.resolver.NoNameservers, dns.resolver.LifetimeTimeout) as failed:
            return _response_without_records(failed)
        except (dns.exception.DNSException, OSError):
            raise UpstreamFailed("The name servers failed to answer.", reason="servfail") from None
        return answer.response

    def addresses(self, host: str, *, deadline: float) -> list[str]:
        """The addresses of a host, IPv4 first. All of them must be public: a name with a public and a private address is a
        known way around such a check.

        Raises:
            BlockedAddress: one of them is not public.
            UpstreamFailed: `dns_failure`, or `timeout`. Final when the DNS says that the host has no address.
        """
        known = self._overrides.get(host)
        found, is_certain = ([known], True) if known else self._look_up(host, deadline)
        if not found:
            raise UpstreamFailed(f"{host} has no address.", reason="dns_failure", is_final=is_certain)
        if len(found) > MAX_ADDRESSES:
            raise UpstreamFailed(f"{host} has more than {MAX_ADDRESSES} addresses.", reason="dns_failure")
        for address in found:
            if why := self._policy.refusal(address):
                metrics.egress_refused("blocked_address")
                raise BlockedAddress(f"{host} leads to an address that is not public: {why}.")
        return found

    def _look_up(self, host: str, deadline: float) -> tuple[list[str], bool]:
        """The addresses, and whether there are certainly no others."""
        deadline = min(deadline, time.monotonic() + LOOKUP_S)
        found, is_certain = self._query_addresses(host, "A", deadline)
        if not found:
            found, is_certain_of_ipv6 = self._query_addresses(host, "AAAA", deadline)
            return found, is_certain and is_certain_of_ipv6
        # Some servers fail for every type but A. Addresses that are not known are not used.
        with contextlib.suppress(UpstreamFailed):
            found += self._query_addresses(host, "AAAA", min(deadline, time.monotonic() + QUERY_TIMEOUT_S))[0]
        return found, is_certain

    def _query_addresses(self, host: str, record_type: str, deadline: float) -> tuple[list[str], bool]:
        """The addresses of one type, and whether the servers said so. A server that refuses says nothing."""
        try:
            response = self.query(host, record_type, deadline=deadline)
        except UpstreamFailed as failure:
            if failure.reason == "timeout":
                raise
            raise UpstreamFailed(f"{host} could not be resolved.", reason="dns_failure") from None
        if response.rcode() != dns.rcode.NOERROR:
            return [], response.rcode() == dns.rcode.NXDOMAIN
        cnames = sum(len(rrset) for rrset in response.answer if rrset.rdtype == dns.rdatatype.CNAME)
        if cnames > MAX_CNAMES:
            raise UpstreamFailed(f"{host} is an alias of an alias of an alias.", reason="dns_failure")
        wanted = dns.rdatatype.from_text(record_type)
        found = [
            str(ipaddress.ip_address(record.address))
            for rrset in response.answer
            if rrset.rdtype == wanted
            for record in rrset
        ]
        return found, True


def _response_without_records(
    failed: dns.resolver.NoNameservers | dns.resolver.LifetimeTimeout,
) -> dns.message.QueryMessage:
    """The response when no server gave records. A refusal is a response; raises UpstreamFailed when all servers failed."""
    said = {error[4].rcode(): error[4] for error in failed.kwargs["errors"] if error[4] is not None}
    if dns.rcode.REFUSED in said:
        verdict: dns.message.QueryMessage = said.get(dns.rcode.SERVFAIL, said[dns.rcode.REFUSED])
        return verdict
    if isinstance(failed, dns.resolver.LifetimeTimeout) and not said:
        raise UpstreamFailed("The name servers did not answer in time.", reason="timeout") from None
    raise UpstreamFailed("The name servers failed to answer.", reason="servfail") from None


def _system_servers() -> "list[_Server]":
    try:
        found = dns.resolver.Resolver().nameservers
    except dns.resolver.NoResolverConfiguration:  # every query fails then, but the worker runs
        return []
    return [_Server(str(address), 53) for address in found]


MAX_DATAGRAM = 4096
"""We announce 1232 bytes. A longer datagram is no answer to our query."""


class _Server(dns.nameserver.Do53Nameserver):
    """A name server. dnspython checks its deadline only when no data is there, so a flood of wrong answers would hold it."""

    def query(
        self,
        request: dns.message.QueryMessage,
        timeout: float,
        source: str | None,
        source_port: int,
        max_size: bool,
        one_rr_per_rrset: bool = False,
        ignore_trailing: bool = False,
    ) -> dns.message.Message:
        """Ask by UDP, or by TCP when `max_size` says that the answer was cut off."""
        deadline = time.monotonic() + timeout
        if max_size:
            return self._by_tcp(request, deadline)
        with socket.socket(dns.inet.af_for_address(self.address), socket.SOCK_DGRAM) as opened:
            opened.setblocking(False)
            return dns.query.udp(
                request,
                self.address,
                timeout=timeout,
                port=self.port,
                sock=_DeadlineSocket(opened, deadline),
                raise_on_truncation=True,
                ignore_errors=True,
                ignore_unexpected=True,
            )

    def _by_tcp(self, request: dns.message.QueryMessage, deadline: float) -> dns.message.Message:
        try:
            with socket.create_connection((self.address, self.port), timeout=left_s(deadline)) as opened:
                opened.sendall(request.to_wire(prepend_length=True))
                wire = _exactly(opened, int.from_bytes(_exactly(opened, 2, deadline)), deadline)
        except TimeoutError:
            raise dns.exception.Timeout from None
        try:
            too_much = labels(wire) > MAX_LABELS
        except ValueError:
            raise dns.exception.FormError from None
        if too_much:
            raise dns.exception.FormError
        response = dns.message.from_wire(wire)
        if not request.is_response(response):
            raise dns.query.BadResponse
        if response.flags & dns.flags.TC:  # missing records would look like records that do not exist
            raise dns.message.Truncated(message=response)  # type: ignore[no-untyped-call]
        return response


def _exactly(opened: socket.socket, size: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < size:
        opened.settimeout(left_s(deadline))
        part = opened.recv(size - len(received))
        if not part:
            raise EOFError
        received += part
    return bytes(received)


class _DeadlineSocket:
    """A socket that reads nothing after the deadline."""

    def __init__(self, opened: socket.socket, deadline: float) -> None:
        self._opened = opened
        self._deadline = deadline
        self.family = opened.family
        self.fileno = opened.fileno
        self.sendto = opened.sendto

    def recvfrom(self, size: int) -> tuple[bytes, Any]:
        """Raises dns.exception.Timeout."""
        if time.monotonic() >= self._deadline:
            raise dns.exception.Timeout
        return self._opened.recvfrom(min(size, MAX_DATAGRAM))
