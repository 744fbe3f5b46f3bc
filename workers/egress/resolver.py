"""Names to addresses that may be connected to. Always by the DNS: never /etc/hosts, never a search domain."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Mapping

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.resolver

from shared.outcome import BlockedAddress, UpstreamFailed
from workers.egress.policy import Policy

MAX_ADDRESSES = 16
MAX_CNAMES = 8
QUERY_TIMEOUT_S = 2.0
"""For one server to answer; another is asked then, or the same again."""


class Resolver:
    """The name servers of this installation.

    Args:
        server: ``(address, port)`` of the only one; None: those of /etc/resolv.conf.
        overrides: names with an address of the operator's choice, for which nobody is asked.
    """

    def __init__(
        self, policy: Policy, *, server: tuple[str, int] | None = None, overrides: Mapping[str, str] | None = None
    ) -> None:
        self._policy = policy
        self._overrides = dict(overrides or {})
        self._resolver = dns.resolver.Resolver(configure=server is None)
        if server is not None:
            self._resolver.nameservers = [server[0]]
            self._resolver.port = server[1]
        self._resolver.search = []
        self._resolver.domain = dns.name.root
        self._resolver.timeout = QUERY_TIMEOUT_S
        self._resolver.cache = None
        self._resolver.use_edns(0, dns.flags.DO, 1232)

    def query(self, name: str, record_type: str, *, deadline: float) -> dns.message.Message:
        """Ask for one type of records.

        Args:
            name: absolute, in A-labels, with or without a trailing dot.
            deadline: monotonic seconds.

        Returns:
            The response of the first server that gave one: NOERROR, with or without records, or NXDOMAIN.

        Raises:
            UpstreamFailed: `timeout`, or `servfail` when every server refused or failed.
        """
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise UpstreamFailed("The name servers did not answer in time.", reason="timeout")
        try:
            answer = self._resolver.resolve(
                dns.name.from_text(name), record_type, lifetime=left_s, search=False, raise_on_no_answer=False
            )
        except dns.resolver.NXDOMAIN as absent:
            response: dns.message.Message = absent.response(dns.name.from_text(name))  # type: ignore[no-untyped-call]
            return response
        except dns.resolver.LifetimeTimeout:
            raise UpstreamFailed("The name servers did not answer in time.", reason="timeout") from None
        except (dns.resolver.NoNameservers, dns.resolver.YXDOMAIN, dns.exception.DNSException, OSError):
            raise UpstreamFailed("The name servers failed to answer.", reason="servfail") from None
        return answer.response

    def addresses(self, host: str, *, deadline: float) -> list[str]:
        """Where a host may be connected to, IPv4 first. Every address that the DNS gives must be public: a name with a public
        and a private one is how a check is got round.

        Raises:
            BlockedAddress: one of them is not public.
            UpstreamFailed: `dns_failure`, or `timeout`.
        """
        if host in self._overrides:
            found = [self._overrides[host]]
        else:
            found = [*self._asked(host, "A", deadline), *self._asked(host, "AAAA", deadline)]
        if not found:
            raise UpstreamFailed(f"{host} has no address.", reason="dns_failure")
        if len(found) > MAX_ADDRESSES:
            raise UpstreamFailed(f"{host} has more than {MAX_ADDRESSES} addresses.", reason="dns_failure")
        for address in found:
            if why := self._policy.refusal(address):
                raise BlockedAddress(f"{host} leads to an address that is not public: {why}.")
        return found

    def _asked(self, host: str, record_type: str, deadline: float) -> list[str]:
        try:
            response = self.query(host, record_type, deadline=deadline)
        except UpstreamFailed as failure:
            if failure.reason == "timeout":
                raise
            raise UpstreamFailed(f"{host} could not be resolved.", reason="dns_failure") from None
        if response.rcode() != dns.rcode.NOERROR:
            return []
        cnames = sum(len(rrset) for rrset in response.answer if rrset.rdtype == dns.rdatatype.CNAME)
        if cnames > MAX_CNAMES:
            raise UpstreamFailed(f"{host} is an alias of an alias of an alias.", reason="dns_failure")
        wanted = dns.rdatatype.from_text(record_type)
        return [
            str(ipaddress.ip_address(record.address))
            for rrset in response.answer
            if rrset.rdtype == wanted
            for record in rrset
        ]
