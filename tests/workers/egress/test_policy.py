"""The tables of what may be connected to, at their edges, and every way to write a private address into an IPv6 one."""

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from tests.each import each
from workers.egress.policy import DENIED_IPV4, DENIED_IPV6, PUBLIC_IPV6, Policy

RULES = Policy()
PUBLIC_IPV4 = {
    *("1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"),
    *("168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0"),
    *("191.255.255.255", "192.0.1.0", "192.0.1.255", "192.0.3.0", "192.31.195.255", "192.31.197.0", "192.52.192.255"),
    *("192.52.194.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "192.175.47.255"),
    *("192.175.49.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255"),
    *("203.0.114.0", "223.255.255.255"),
}
"""The neighbours of the denied networks that no other denied network holds."""


def test_the_tables_hold_what_they_should() -> None:
    """A second list, written by hand from the registries of special-purpose addresses: a lost line is noticed."""
    assert set(DENIED_IPV4) == {
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
        *("192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32"),
    }
    assert set(DENIED_IPV6) == {"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"}
    assert PUBLIC_IPV6 == "2000::/3"


@each("text", [*DENIED_IPV4, *DENIED_IPV6])
def test_first_and_last_address_of_a_network_are_refused_and_its_neighbours_are_not(text: str) -> None:
    """With the network's own reason."""
    network = ipaddress.ip_network(text)
    why = (DENIED_IPV4 | DENIED_IPV6)[text]
    for inside in (network[0], network[-1], network[network.num_addresses // 2]):
        assert RULES.refusal(str(inside)) == why
    neighbours = [int(network[0]) - 1, int(network[-1]) + 1]
    for neighbour in neighbours:
        if neighbour < 0 or neighbour >= 2**network.max_prefixlen:
            continue
        address = type(network[0])(neighbour)
        if isinstance(address, ipaddress.IPv4Address):
            other = any(address in ipaddress.IPv4Network(denied) for denied in DENIED_IPV4)
            assert other or str(address) in PUBLIC_IPV4
        else:
            other = address not in ipaddress.IPv6Network(PUBLIC_IPV6)
        assert (RULES.refusal(str(address)) is not None) == other


@each(
    "text",
    [
        *sorted(PUBLIC_IPV4),
        *("1.1.1.1", "8.8.8.8", "9.9.9.9", "93.184.216.34", "2606:4700::1111", "2001:4860:4860::8888", "2a00::1"),
        "2001:200::1",
        *("2000::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::1", "2620:4f:8001::", "2620:fe::fe"),
        "2a01:4f8::5efe",
    ],
)
def test_public_addresses_are_reached(text: str) -> None:
    """Ordinary ones, and those beside the tables' networks."""
    assert RULES.refusal(text) is None


PRIVATE = ("127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "0.0.0.0", "100.100.100.200")


def embeddings(ipv4: ipaddress.IPv4Address) -> dict[str, ipaddress.IPv6Address]:
    """Every way in which a stack or a gateway takes an IPv6 address for an IPv4 one."""
    low = int(ipv4)
    return {
        "mapped": ipaddress.IPv6Address(0xFFFF << 32 | low),
        "compatible": ipaddress.IPv6Address(low),
        "translated (RFC 2765)": ipaddress.IPv6Address(0xFFFF << 48 | low),
        "NAT64": ipaddress.IPv6Address((0x64_FF9B << 96) | low),
        "NAT64 of one's own (RFC 8215), /96": ipaddress.IPv6Address((0x64_FF9B_0001 << 80) | low),
        "NAT64 of one's own, /48": ipaddress.IPv6Address(
            (0x64_FF9B_0001 << 80) | (low >> 16) << 64 | (low & 0xFFFF) << 40
        ),
        "6to4": ipaddress.IPv6Address(0x2002 << 112 | low << 80),
        "Teredo server": ipaddress.IPv6Address(0x2001_0000 << 96 | low << 64),
        "Teredo client": ipaddress.IPv6Address(0x2001_0000 << 96 | (low ^ 0xFFFF_FFFF)),
        "ISATAP, link-local": ipaddress.IPv6Address(0xFE80 << 112 | 0x5EFE << 32 | low),
        "ISATAP, global": ipaddress.IPv6Address(0x2606_4700 << 96 | 0x5EFE << 32 | low),
        "ISATAP, global, universal bit": ipaddress.IPv6Address(0x2606_4700 << 96 | 0x0200_5EFE << 32 | low),
    }


@given(st.one_of(st.sampled_from([ipaddress.IPv4Address(text) for text in PRIVATE]), st.ip_addresses(v=4)))
def test_no_ipv6_address_that_embeds_an_ipv4_address_is_reached(ipv4: ipaddress.IPv4Address) -> None:
    """Not even of a public one: whoever translates it is not the one that was meant."""
    for how, address in embeddings(ipv4).items():
        assert RULES.refusal(str(address)), how
        assert RULES.refusal(address.exploded), how


@each(
    "text",
    [
        *("::1", "::", "100::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "5f00::1", "4000::"),
        "1fff::1",
        *("2606:4700::1111%eth0", "fe80::1%1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"),
    ],
)
def test_other_ipv6_addresses_are_refused(text: str) -> None:
    """What is not global unicast, and what is of one link."""
    assert RULES.refusal(text)


@each("text", ["", "localhost", "127.1", "0x7f.1", "8.8.8.8 ", "8.8.8.8/32", "08.8.8.8", "٨.8.8.8", "[::1]", "\x00"])
def test_what_is_no_address_is_refused(text: str) -> None:
    """A policy that cannot read something does not let it through."""
    assert RULES.refusal(text) == "not an address"


def test_the_operator_forbids_more() -> None:
    """The installation's own public networks."""
    policy = Policy(denied=[ipaddress.ip_network("8.8.8.0/24"), ipaddress.ip_network("2606:4700::/32")])
    assert policy.refusal("8.8.8.8") == policy.refusal("2606:4700::1") == "this installation's own"
    assert policy.refusal("8.8.9.8") is policy.refusal("2606:4701::1") is None
    assert policy.refusal("127.0.0.1") == "loopback (RFC 1122)"


def test_a_sandbox_allows_what_it_names_and_nothing_else() -> None:
    """Neither another loopback address nor the same one in IPv6's clothes, nor an address of one link."""
    policy = Policy(allowed=[ipaddress.ip_network("127.77.1.2/32"), ipaddress.ip_network("fe80::/10")])
    assert policy.refusal("127.77.1.2") is None
    assert policy.refusal("fe80::1") is None
    for text in ("127.77.1.3", "127.0.0.1", "::ffff:127.77.1.2", "::127.77.1.2", "2002:7f4d:102::", "fe80::1%lo"):
        assert policy.refusal(text)


@given(st.one_of(st.ip_addresses(), st.text(max_size=20)))
def test_ipaddress_knows_nothing_special_of_what_is_reached(address: object) -> None:
    """Where Python's own registry calls an address private or multicast, so do the tables."""
    if RULES.refusal(str(address)) is None:
        read = ipaddress.ip_address(str(address))
        assert read.is_global
        for flag in ("is_private", "is_multicast", "is_reserved", "is_loopback", "is_link_local", "is_unspecified"):
            assert not getattr(read, flag), flag
