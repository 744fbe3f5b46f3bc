"""The public DNS: the resolver's answers as plain values, cached for their TTL, five minutes at most.

The cache serves DNS lookups only. Connections always resolve their host anew (workers/egress/resolver.py).
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdatatype
import dns.rrset

from jobs.ports import DnsRecord, DnsResponse
from shared.outcome import UpstreamFailed
from workers.adapters.expiring_cache import ExpiringCache
from workers.egress.resolver import Resolver

MAX_AGE_S = 300
MAX_BYTES = 4 * 1024 * 1024
"""Limit of all cached messages, in wire format."""
MAX_ALIASES = 16

_ENTRY_BYTES = 500
"""Bytes of an entry beside its message."""
_VERDICTS = frozenset({dns.rcode.SERVFAIL, dns.rcode.REFUSED})


class CachedDns:
    """Implements jobs.ports.Dns.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, resolver: Resolver, *, now: Callable[[], float] = time.monotonic) -> None:
        self._resolver = resolver
        self._cache: ExpiringCache[tuple[str, str], bytes] = ExpiringCache(MAX_BYTES, now)

    def lookup(self, name: str, record_type: str, *, deadline: float) -> DnsResponse:
        """Look up records of one type, and follow aliases.

        Args:
            name: absolute, in A-labels.
            deadline: monotonic seconds, for all questions together.

        Raises:
            UpstreamFailed: `timeout`, or `servfail` when every server failed, or the aliases have no end.
        """
        asked = dns.name.from_text(name)
        visited = {asked}
        aliases: list[str] = []
        ttls: list[int] = []
        age_s = 0
        authenticated = True
        while True:
            message, message_age_s = self._message(asked, record_type, deadline)
            age_s = max(age_s, message_age_s)
            authenticated = authenticated and bool(message.flags & dns.flags.AD)
            rcode = message.rcode()
            if rcode in _VERDICTS:
                return DnsResponse(dns.rcode.to_text(rcode), tuple(aliases), (), None, False, age_s)
            chain = message.resolve_chaining()
            aliases += [_text(rrset[0].target).lower() for rrset in chain.cnames]
            ttls += [rrset.ttl - message_age_s for rrset in chain.cnames]
            negative = _negative_ttl(message, chain.canonical_name)
            if chain.answer is not None or rcode == dns.rcode.NXDOMAIN or not chain.cnames or negative is not None:
                break
            # The response has an alias and nothing about its target: this server leaves the next query to its client.
            asked = chain.canonical_name
            if asked in visited or len(aliases) > MAX_ALIASES:
                raise UpstreamFailed("The name is an alias of an alias without an end.", reason="servfail")
            visited.add(asked)
        if chain.answer is not None:
            ttls.append(chain.answer.ttl - message_age_s)
        elif negative is not None:
            ttls.append(negative - message_age_s)
        return DnsResponse(
            rcode=dns.rcode.to_text(rcode),
            aliases=tuple(aliases),
            records=tuple(_records(chain.answer, message_age_s)),
            min_ttl=max(0, min(ttls)) if chain.answer is not None or negative is not None else None,
            authenticated=authenticated,
            age_s=age_s,
        )

    def _message(self, name: dns.name.Name, record_type: str, deadline: float) -> tuple[dns.message.QueryMessage, int]:
        """A response and its age in seconds."""
        text = name.to_text().lower()
        if kept := self._cache.get((text, record_type)):
            message = dns.message.from_wire(kept[0])
            assert isinstance(message, dns.message.QueryMessage)
            return message, int(kept[1])
        message = self._resolver.query(text, record_type, deadline=deadline)
        if message.wire is not None:
            size, lifetime_s = len(message.wire) + _ENTRY_BYTES, _lifetime_s(message)
            self._cache.put((text, record_type), message.wire, size=size, lifetime_s=lifetime_s)
        return message, 0


def _lifetime_s(message: dns.message.QueryMessage) -> int:
    """Seconds for which a response may be cached: its records' TTL, or for a negative one its SOA's (RFC 2308), otherwise 0."""
    if message.rcode() in _VERDICTS:
        return 0
    chain = message.resolve_chaining()
    ttls = [rrset.ttl for rrset in chain.cnames]
    if chain.answer is not None:
        ttls.append(chain.answer.ttl)
    else:
        negative = _negative_ttl(message, chain.canonical_name)
        if negative is None:
            return 0
        ttls.append(negative)
    return min(MAX_AGE_S, *ttls)


def _negative_ttl(message: dns.message.QueryMessage, name: dns.name.Name) -> int | None:
    """Seconds for which a negative response is valid; None when no authoritative SOA says so."""
    for rrset in message.authority:
        if rrset.rdtype == dns.rdatatype.SOA and name.is_subdomain(rrset.name):
            return int(min(rrset.ttl, rrset[0].minimum))
    return None


def _records(rrset: dns.rrset.RRset | None, age_s: int) -> Iterator[DnsRecord]:
    if rrset is None:
        return
    name = _text(rrset.name).lower()
    for rdata in rrset:
        yield DnsRecord(name, max(0, rrset.ttl - age_s), _fields(rdata))


def _fields(rdata: Any) -> tuple[int | str | bytes, ...]:
    match dns.rdatatype.to_text(rdata.rdtype):
        case "A" | "AAAA":
            return (rdata.address,)
        case "NS" | "CNAME":
            return (_text(rdata.target),)
        case "MX":
            return (rdata.preference, _text(rdata.exchange))
        case "SRV":
            return (rdata.priority, rdata.weight, rdata.port, _text(rdata.target))
        case "SOA":
            times = (rdata.serial, rdata.refresh, rdata.retry, rdata.expire, rdata.minimum)
            return (_text(rdata.mname), _text(rdata.rname), *times)
        case "TXT":
            return tuple(rdata.strings)
        case "CAA":
            return (rdata.flags, rdata.tag, rdata.value)
        case other:
            raise LookupError(f"no record type that is sold: {other}")


def _text(name: dns.name.Name) -> str:
    return name.to_text(omit_final_dot=True)
