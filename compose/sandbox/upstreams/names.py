"""The sandbox's name server. It has the zones example.com, example.net and example.org, and forwards other questions. About the
root it answers itself: workers ask for its name servers to see whether this one works, also without an internet.

When the system's servers do not answer, it answers SERVFAIL.
"""

from collections.abc import Mapping, Sequence

import dns.asyncquery
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataset
import dns.rdatatype
import dns.resolver
import dns.zone

from compose.sandbox.upstreams.dns_server import Transport, serve_dns
from compose.sandbox.upstreams.place import Place, document

DNS_PORT = 5353
FORWARD_TIMEOUT_S = 1.5
TTL_S = 300
"""TTL of the addresses of the sandbox's hosts, in seconds."""
MAX_CNAMES = 8

# The addresses are those of RFC 5737 and 3849 for documentation: no host has them.
ZONES = {origin: document(f"{origin}.zone") for origin in ("example.com", "example.net", "example.org")}

Node = Mapping[dns.rdatatype.RdataType, dns.rdataset.Rdataset]


async def start(place: Place) -> None:
    """Serve the zones and all names of the place, with those that are added later."""
    names = Names(place, system_servers(place.address))
    await serve_dns(place.address, DNS_PORT, names.reply)
    place.settings["DNS_SERVER"] = f"{place.address}:{DNS_PORT}"


def system_servers(own: str) -> list[str]:
    """The servers of /etc/resolv.conf, without this one."""
    try:
        found = dns.resolver.Resolver().nameservers
    except dns.resolver.NoResolverConfiguration:
        return []
    return [address for address in found if isinstance(address, str) and address != own]


class Names:
    """Answers to DNS messages.

    Args:
        servers: are asked for other zones.
    """

    def __init__(self, place: Place, servers: Sequence[str]) -> None:
        self._place = place
        self._servers = servers
        self._zones = {
            dns.name.from_text(origin): dns.zone.from_text(text, origin, relativize=False)
            for origin, text in ZONES.items()
        }

    async def reply(self, wire: bytes, transport: Transport) -> Sequence[bytes]:
        """For serve_dns."""
        try:
            query = dns.message.from_wire(wire)
        except dns.exception.DNSException:
            return []
        if query.flags & dns.flags.QR:
            return []
        if query.opcode() != dns.opcode.QUERY or len(query.question) != 1:
            return [_failure(query, dns.rcode.NOTIMP).to_wire()]
        name = query.question[0].name
        if name == dns.name.root:
            response = dns.message.make_response(query, recursion_available=True)
        else:
            response = await self._forwarded(query) if self._zone(name) is None else self._own(query)
        return [_fitted(response, query, transport)]

    def _own(self, query: dns.message.Message) -> dns.message.Message:
        response = dns.message.make_response(query, recursion_available=True)
        response.flags |= dns.flags.AA
        asked, name = query.question[0].rdtype, query.question[0].name
        for _ in range(MAX_CNAMES):
            zone = self._zone(name)
            if zone is None:
                break
            node = self._node(zone, name)
            if node is None:
                response.set_rcode(dns.rcode.NXDOMAIN)
                _deny(response, zone)
                break
            if asked not in node and dns.rdatatype.CNAME in node:
                _put(response.answer, name, node[dns.rdatatype.CNAME])
                name = node[dns.rdatatype.CNAME][0].target
                continue
            if asked in node:
                _put(response.answer, name, node[asked])
            else:
                _deny(response, zone)
            break
        return response

    def _zone(self, name: dns.name.Name) -> dns.zone.Zone | None:
        return next((zone for origin, zone in self._zones.items() if name.is_subdomain(origin)), None)

    def _node(self, zone: dns.zone.Zone, name: dns.name.Name) -> Node | None:
        """The records of a name; None when neither the name nor a name below it exists."""
        found = zone.get_node(name)
        records = {rdataset.rdtype: rdataset for rdataset in found.rdatasets} if found else {}
        address = self._place.names.get(name.to_text(omit_final_dot=True).lower())
        if address is not None:
            records.pop(dns.rdatatype.CNAME, None)
            records.pop(dns.rdatatype.AAAA, None)
            records[dns.rdatatype.A] = dns.rdataset.from_text("IN", "A", TTL_S, address)
        elif found is None and not self._is_above_another(zone, name):
            return None
        return records

    def _is_above_another(self, zone: dns.zone.Zone, name: dns.name.Name) -> bool:
        others = (*zone.nodes, *(dns.name.from_text(other) for other in self._place.names))
        return any(other.is_subdomain(name) for other in others)

    async def _forwarded(self, query: dns.message.Message) -> dns.message.Message:
        for server in self._servers:
            try:
                response, _ = await dns.asyncquery.udp_with_fallback(
                    query, server, timeout=FORWARD_TIMEOUT_S / len(self._servers), ignore_errors=True
                )
            except (dns.exception.DNSException, OSError, EOFError):
                continue
            return response
        return _failure(query, dns.rcode.SERVFAIL)


def _failure(query: dns.message.Message, rcode: dns.rcode.Rcode) -> dns.message.Message:
    response = dns.message.make_response(query, recursion_available=True)
    response.set_rcode(rcode)
    return response


def _put(section: list[dns.rrset.RRset], name: dns.name.Name, records: dns.rdataset.Rdataset) -> None:
    section.append(dns.rrset.from_rdata_list(name, records.ttl, list(records)))


def _deny(response: dns.message.Message, zone: dns.zone.Zone) -> None:
    """Add the SOA record, which says how long a negative answer may be cached (RFC 2308)."""
    assert isinstance(zone.origin, dns.name.Name)
    _put(response.authority, zone.origin, zone.find_rdataset(zone.origin, dns.rdatatype.SOA))


def _fitted(response: dns.message.Message, query: dns.message.Message, transport: Transport) -> bytes:
    try:
        room = 65535 if transport == "tcp" else max(512, query.payload)
        return response.to_wire(max_size=room, want_shuffle=False)
    except dns.exception.TooBig:
        short = dns.message.make_response(query, recursion_available=True)
        short.flags |= dns.flags.TC
        return short.to_wire()
