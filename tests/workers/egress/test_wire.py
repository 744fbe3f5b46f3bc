"""The work that a message would be is known before it is done."""

import random
import time
from collections.abc import Sequence

import dns.exception
import dns.message
import dns.name
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compose.sandbox.upstreams.dns_server import Transport
from shared.outcome import UpstreamFailed
from tests.workers.egress.name_server import NameServer, response, truncated
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver
from workers.egress.wire import MAX_LABELS, labels

QUERY = dns.message.make_query("a.example.com", "MX", use_edns=0)


def pointers(count: int, name: str) -> bytes:
    """A response of so many MX records, all of whose names are pointers to that in the question."""
    query = dns.message.make_query(name, "MX", id=0)
    wire = bytearray(query.to_wire())
    wire[2:4], wire[6:8] = b"\x81\x80", count.to_bytes(2)
    for i in range(count):
        wire += bytes.fromhex("c00c 000f 0001 0000003c 0004") + i.to_bytes(2) + b"\xc0\x0c"
    return bytes(wire)


def test_labels_are_counted() -> None:
    """Of every name, pointers or not."""
    assert labels(QUERY.to_wire()) == 3
    answer = response(
        QUERY,
        "a.example.com. 60 IN MX 10 b.example.com.",  # 3 + 3
        "a.example.com. 60 IN TXT text",  # 3
        "a.example.com. 60 IN SRV 1 2 3 .",  # 3
        "a.example.com. 60 IN RRSIG MX 13 3 60 20300101000000 20200101000000 1 example.com. AAAA",  # 3 + 2
        authority=["example.com. 60 IN SOA ns.example.com. b.a.example.com. 1 1 1 1 1"],  # 2 + 3 + 4
    )
    assert labels(answer.to_wire()) == 3 + 6 + 3 + 3 + 5 + 9


def test_types_that_are_not_known_count_as_the_worst() -> None:
    """A record that is nothing but names."""
    answer = response(QUERY, r"a.example.com. 60 IN TYPE65280 \# 40 " + "00" * 40)
    assert labels(answer.to_wire()) == 3 + 3 + 20 * 127


@given(st.binary(max_size=200), st.integers(0, 60))
def test_any_bytes(noise: bytes, at: int) -> None:
    """Are counted or refused; what dnspython reads has been counted right."""
    good = response(QUERY, "a.example.com. 60 IN MX 10 b.example.com.").to_wire()
    for wire in (noise, good[:at] + noise, good[:at] + noise[:3] + good[at + 3 :]):
        try:
            count = labels(wire)
        except ValueError:
            continue
        assert count >= 0
        try:
            message = dns.message.from_wire(wire)
        except dns.exception.DNSException:
            continue
        names = [rrset.name for section in message.sections for rrset in section for _ in (rrset or [None])]
        assert count >= sum(len(name.labels) - 1 for name in names)


def test_counting_is_quick_whatever_it_is_given() -> None:
    """Long names behind every pointer, pointers to pointers, and bytes that mean nothing."""
    longest = pointers(4000, ".".join(["a"] * 120))
    chained = bytearray(pointers(1, "a.example.com"))
    chained[6:8] = b"\xff\xff"
    start = len(chained)
    chained += b"".join((0xC000 | (start - 2 + 2 * i)).to_bytes(2) for i in range(8000))
    inline = pointers(1, "a")[:6] + b"\xff\xff" + bytes(4) + b"\x01a" * 32_000
    noise = random.Random(1)
    started = time.process_time()
    assert labels(longest) == 120 * 8001
    for wire in (bytes(chained), inline, *(QUERY.to_wire()[:6] + noise.randbytes(60_000) for _ in range(20))):
        with pytest.raises(ValueError, match=r"."):
            labels(wire)
    assert time.process_time() - started < 2


def test_what_would_take_too_long_is_not_read() -> None:
    """64 KB of pointers to one name would take dnspython seconds."""

    name = ".".join(["a"] * 120)

    def asked(count: int) -> str:
        def in_tcp(query: dns.message.Message, transport: Transport) -> Sequence[bytes]:
            if transport == "udp":
                return truncated(query, transport)
            return [query.id.to_bytes(2) + pointers(count, name)[2:]]

        with NameServer() as server:
            server.script(name, "MX", in_tcp)
            try:
                found = Resolver(Policy(), server=server.server).query(name, "MX", deadline=time.monotonic() + 5)
            except UpstreamFailed as failed:
                return str(failed.reason)
            return str(len(found.answer[0]))

    most = (MAX_LABELS - 120) // 240
    started = time.process_time()
    assert asked(most) == str(most)
    assert asked(most + 1) == "servfail"
    assert asked(4000) == "servfail"
    assert time.process_time() - started < 3
