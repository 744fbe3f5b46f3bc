"""The addresses that workers may connect to. The two tables are the whole policy.

Python's `ipaddress.is_global` cannot replace them: on 3.11.7 it calls 64:ff9b::7f00:1, 2002:7f00:1::, ::127.0.0.1, 224.0.0.1
and 192.88.99.1 global (measured).
"""

import ipaddress
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

DENIED_IPV4 = {
    "0.0.0.0/8": "this host (RFC 791)",
    "10.0.0.0/8": "private (RFC 1918)",
    "100.64.0.0/10": "carrier-grade NAT (RFC 6598); cloud metadata at Alibaba",
    "127.0.0.0/8": "loopback (RFC 1122)",
    "168.63.129.16/32": "Azure's wire server",
    "169.254.0.0/16": "link-local (RFC 3927); cloud metadata",
    "172.16.0.0/12": "private (RFC 1918)",
    "192.0.0.0/24": "IETF protocol assignments (RFC 6890); cloud metadata at Oracle",
    "192.0.2.0/24": "documentation (RFC 5737)",
    "192.31.196.0/24": "AS112 (RFC 7535)",
    "192.52.193.0/24": "AMT (RFC 7450)",
    "192.88.99.0/24": "6to4 relays (RFC 7526)",
    "192.168.0.0/16": "private (RFC 1918)",
    "192.175.48.0/24": "AS112 (RFC 7534)",
    "198.18.0.0/15": "benchmarks (RFC 2544)",
    "198.51.100.0/24": "documentation (RFC 5737)",
    "203.0.113.0/24": "documentation (RFC 5737)",
    "224.0.0.0/4": "multicast (RFC 5771)",
    "240.0.0.0/4": "reserved (RFC 1112), and broadcast",
}

PUBLIC_IPV6 = "2000::/3"
"""Everything that is assigned as global unicast. Loopback, mapped, NAT64, private, link-local and multicast lie outside."""

DENIED_IPV6 = {
    "2001::/23": "IETF protocol assignments: Teredo, ORCHID, benchmarks (RFC 2928)",
    "2001:db8::/32": "documentation (RFC 3849)",
    "2002::/16": "6to4, which embeds an IPv4 address (RFC 3056)",
    "2620:4f:8000::/48": "AS112 (RFC 7534)",
    "3fff::/20": "documentation (RFC 9637)",
}

_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})
"""The middle of an interface identifier that embeds an IPv4 address (RFC 5214)."""

_DENIED = tuple((ipaddress.ip_network(text), why) for text, why in (DENIED_IPV4 | DENIED_IPV6).items())
_PUBLIC_IPV6 = ipaddress.IPv6Network(PUBLIC_IPV6)


class Policy:
    """The tables and the operator's additions.

    Args:
        allowed: networks that are allowed whatever the tables say: local servers of a sandbox or a test.
        denied: networks that are never allowed: this installation's own.
    """

    def __init__(self, *, allowed: Iterable[Network] = (), denied: Iterable[Network] = ()) -> None:
        self._allowed = tuple(allowed)
        self._denied = tuple((network, "this installation's own") for network in denied) + _DENIED

    def refusal(self, text: str) -> str | None:
        """Why an address is refused; None when it is allowed.

        Args:
            text: an address as a resolver or a socket gives it. Anything else is refused.
        """
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return "not an address"
        if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
            return "an address of one link"
        if any(address in network for network in self._allowed):
            return None
        for network, why in self._denied:
            if address in network:
                return why
        return _refusal_of_ipv6(address) if isinstance(address, ipaddress.IPv6Address) else None


def _refusal_of_ipv6(address: ipaddress.IPv6Address) -> str | None:
    if address not in _PUBLIC_IPV6:
        return "not global unicast (RFC 4291)"
    if int(address) >> 32 & 0xFFFF_FFFF in _ISATAP:
        return "ISATAP, which embeds an IPv4 address (RFC 5214)"
    return None
