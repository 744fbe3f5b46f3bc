"""Names to addresses, against a name server that answers whatever a test wants."""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dns.flags
import dns.rcode
import dns.resolver
import pytest

from shared.outcome import BlockedAddress, UpstreamFailed
from tests.time_limits import SLACK_S
from tests.workers.egress.name_server import (
    SOA,
    NameServer,
    Question,
    failing,
    garbage,
    of_another,
    records,
    silence,
    truncated,
)
from workers.egress import resolver as module
from workers.egress.policy import Policy
from workers.egress.resolver import MAX_ADDRESSES, MAX_CNAMES, Resolver

PUBLIC, OTHER, PUBLIC_6 = "93.184.215.14", "1.1.1.1", "2606:4700:4700::1111"


@pytest.fixture
def server() -> Iterator[NameServer]:
    """A name server on a port of its own."""
    with NameServer() as running:
        yield running


@pytest.fixture
def resolver(server: NameServer) -> Resolver:
    """Asks that server alone."""
    return Resolver(Policy(), server=server.server)


def soon(seconds: float = 5.0) -> float:
    return time.monotonic() + seconds


def reason_of(call: Any, *args: Any, **more: Any) -> str | None:
    with pytest.raises(UpstreamFailed) as caught:
        call(*args, **more)
    return caught.value.reason


def test_addresses_come_ipv4_first(server: NameServer, resolver: Resolver) -> None:
    """Both families are asked for, once each, by UDP."""
    server.addresses("a.example.com", PUBLIC_6, PUBLIC, OTHER)

    assert resolver.addresses("a.example.com", deadline=soon()) == [PUBLIC, OTHER, PUBLIC_6]
    assert server.questions == [Question("a.example.com", "A", "udp"), Question("a.example.com", "AAAA", "udp")]


def test_what_an_alias_leads_to_is_judged(server: NameServer, resolver: Resolver) -> None:
    """Also when it is a name that nobody could have asked for."""
    alias = "alias.example.com. 60 IN CNAME"
    server.script(
        "alias.example.com", "A", records(f"{alias} metadata.internal.", "metadata.internal. 60 IN A 169.254.169.254")
    )
    with pytest.raises(BlockedAddress):
        resolver.addresses("alias.example.com", deadline=soon())

    server.script("alias.example.com", "A", records(f"{alias} web.example.net.", f"web.example.net. 60 IN A {PUBLIC}"))
    assert resolver.addresses("alias.example.com", deadline=soon()) == [PUBLIC]


@pytest.mark.parametrize("aliases", [MAX_CNAMES, MAX_CNAMES + 1, 20])
def test_aliases_of_aliases(server: NameServer, resolver: Resolver, aliases: int) -> None:
    """So many, and no more."""
    chain = [f"n{i}.example.com. 60 IN CNAME n{i + 1}.example.com." for i in range(aliases)]
    server.script("n0.example.com", "A", records(*chain, f"n{aliases}.example.com. 60 IN A {PUBLIC}"))

    if aliases <= MAX_CNAMES:
        assert resolver.addresses("n0.example.com", deadline=soon()) == [PUBLIC]
    else:
        assert reason_of(resolver.addresses, "n0.example.com", deadline=soon()) == "dns_failure"


def test_an_alias_of_itself_ends(server: NameServer, resolver: Resolver) -> None:
    """A loop is a failure, at once."""
    loop = ("a.example.com. 60 IN CNAME b.example.com.", "b.example.com. 60 IN CNAME a.example.com.")
    server.script("a.example.com", "A", records(*loop))

    assert reason_of(resolver.addresses, "a.example.com", deadline=soon(1)) == "dns_failure"
    assert server.asked("a.example.com") == ["A"]


@pytest.mark.parametrize("count", [MAX_ADDRESSES, MAX_ADDRESSES + 1, 1000])
def test_many_addresses(server: NameServer, resolver: Resolver, count: int) -> None:
    """So many, and no more; an answer that is too long for UDP is fetched by TCP."""
    first = int(ipaddress.IPv4Address("93.0.0.0"))
    server.addresses("many.example.com", *(str(ipaddress.IPv4Address(first + i)) for i in range(count)))

    if count <= MAX_ADDRESSES:
        assert len(resolver.addresses("many.example.com", deadline=soon())) == count
    else:
        assert reason_of(resolver.addresses, "many.example.com", deadline=soon()) == "dns_failure"
    assert (Question("many.example.com", "A", "tcp") in server.questions) == (count == 1000)


def test_no_address(server: NameServer, resolver: Resolver) -> None:
    """There is no such name, or it has none, or nobody wants to say."""
    server.script("mail.example.com", "MX", records("mail.example.com. 60 IN MX 10 a.example.com."))
    server.script("refused.example.com", "A", failing("REFUSED"))
    server.script("failed.example.com", "A", failing("SERVFAIL"))

    for name in ("absent.example.com", "mail.example.com", "refused.example.com", "failed.example.com"):
        with pytest.raises(UpstreamFailed) as caught:
            resolver.addresses(name, deadline=soon())
        is_final = name.startswith(("absent", "mail"))
        assert (caught.value.reason, caught.value.retryable) == ("dns_failure", not is_final), name


def test_a_server_that_never_answers(server: NameServer, resolver: Resolver) -> None:
    """Ends at the deadline of the call, and not before its time."""
    server.default = silence
    for lifetime_s in (0.3, 0.0, -1.0):
        started = time.monotonic()
        assert reason_of(resolver.addresses, "a.example.com", deadline=started + lifetime_s) == "timeout"
        assert max(0.0, lifetime_s) <= time.monotonic() - started < max(0.0, lifetime_s) + SLACK_S


def test_a_lost_packet_is_asked_for_again(
    server: NameServer, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UDP loses some."""
    resolver._resolver.timeout = 0.2
    server.script("a.example.com", "A", silence, silence, records(f"a.example.com. 60 IN A {PUBLIC}"))
    assert resolver.addresses("a.example.com", deadline=soon()) == [PUBLIC]
    assert server.asked("a.example.com") == ["A", "A", "A", "AAAA"]


@pytest.mark.parametrize(
    "step", [garbage, of_another(records(f"a.example.com. 60 IN A {PUBLIC}"))], ids=["garbage", "another id"]
)
def test_what_is_no_answer_is_not_taken_for_one(server: NameServer, resolver: Resolver, step: Any) -> None:
    """It is passed over until the right one comes, or the deadline."""
    server.script("a.example.com", "A", step)
    started = time.monotonic()
    assert reason_of(resolver.addresses, "a.example.com", deadline=started + 0.3) == "timeout"
    assert time.monotonic() - started < 0.3 + SLACK_S


def test_an_answer_to_another_question_is_not_taken(server: NameServer, resolver: Resolver) -> None:
    """Same id, other name."""

    def step(query: Any, transport: Any) -> list[bytes]:
        (wire,) = records(f"a.example.com. 60 IN A {PUBLIC}")(query, transport)
        return [wire.replace(b"\x01a\x07example", b"\x01b\x07example")]

    server.script("a.example.com", "A", step)
    assert reason_of(resolver.addresses, "a.example.com", deadline=soon(0.3)) == "timeout"


def test_a_flood_of_wrong_answers_ends_at_the_deadline() -> None:
    """dnspython reads as long as there is something to read; the clock is ours."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flooding:
        flooding.bind(("127.0.0.1", 0))
        over = threading.Event()

        def flood() -> None:
            _, asker = flooding.recvfrom(512)
            while not over.is_set():
                flooding.sendto(b"\xff", asker)

        thread = threading.Thread(target=flood, daemon=True)
        thread.start()
        started = time.monotonic()
        try:
            asked = Resolver(Policy(), server=flooding.getsockname())
            assert reason_of(asked.query, "a.example.com", "A", deadline=started + 0.3) == "timeout"
            assert time.monotonic() - started < 0.3 + SLACK_S
        finally:
            over.set()
            thread.join(5)


def test_nothing_is_read_after_the_deadline() -> None:
    """Even when there is something to read."""
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with sender, receiver:
        for late, expected in ((False, b"x"), (True, None)):
            sender.send(b"x")
            until = module._DeadlineSocket(receiver, soon(-1 if late else 5))
            if expected:
                assert until.recvfrom(10)[0] == expected
            else:
                with pytest.raises(dns.exception.Timeout):
                    until.recvfrom(10)


def test_an_answer_that_is_cut_off_is_fetched_by_tcp(server: NameServer, resolver: Resolver) -> None:
    """And a server that cuts it off there as well has failed."""
    server.script("a.example.com", "A", truncated, records(f"a.example.com. 60 IN A {PUBLIC}"))
    assert resolver.addresses("a.example.com", deadline=soon()) == [PUBLIC]
    assert [question.transport for question in server.questions] == ["udp", "tcp", "udp"]

    server.script("b.example.com", "A", truncated)
    assert reason_of(resolver.query, "b.example.com", "A", deadline=soon()) == "servfail"


def test_tcp_that_stalls(server: NameServer, resolver: Resolver) -> None:
    """Is under the same deadline."""
    server.script("a.example.com", "A", truncated, silence)
    started = time.monotonic()
    assert reason_of(resolver.query, "a.example.com", "A", deadline=started + 0.4) == "timeout"
    assert 0.4 <= time.monotonic() - started < 0.4 + SLACK_S


def test_answers_are_told_apart(server: NameServer, resolver: Resolver) -> None:
    """No such name, no such record, a refusal, a failure."""
    server.script("mail.example.com", "MX", records("mail.example.com. 60 IN MX 10 a.example.com."))
    for code in ("REFUSED", "SERVFAIL", "FORMERR", "NOTIMP", "YXDOMAIN"):
        server.script(f"{code.lower()}.example.com", "A", failing(code))

    absent = resolver.query("absent.example.com", "A", deadline=soon())
    assert (absent.rcode(), absent.authority[0].to_text()) == (dns.rcode.NXDOMAIN, SOA)
    empty = resolver.query("mail.example.com", "A", deadline=soon())
    assert (empty.rcode(), empty.answer) == (dns.rcode.NOERROR, [])
    assert resolver.query("refused.example.com", "A", deadline=soon()).rcode() == dns.rcode.REFUSED
    for code in ("servfail", "formerr", "notimp", "yxdomain"):
        assert reason_of(resolver.query, f"{code}.example.com", "A", deadline=soon()) == "servfail", code


def test_several_servers(server: NameServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first that knows is believed. When none does: one that tried and failed says more than one that refused to try."""
    with NameServer() as second:
        asked = Resolver(Policy(), server=server.server)
        asked._resolver.nameservers = [module._Server(*server.server), module._Server(*second.server)]
        asked._resolver.timeout = 0.2
        second.script("a.example.com", "A", records(f"a.example.com. 60 IN A {PUBLIC}"))
        for step in (failing("SERVFAIL"), failing("REFUSED"), silence, garbage):
            server.script("a.example.com", "A", step)
            assert asked.query("a.example.com", "A", deadline=soon()).answer

        server.script("b.example.com", "A", failing("REFUSED"))
        second.script("b.example.com", "A", failing("SERVFAIL"))
        assert asked.query("b.example.com", "A", deadline=soon()).rcode() == dns.rcode.SERVFAIL
        second.script("b.example.com", "A", failing("REFUSED"))
        assert asked.query("b.example.com", "A", deadline=soon()).rcode() == dns.rcode.REFUSED
        second.script("b.example.com", "A", silence)
        assert asked.query("b.example.com", "A", deadline=soon(0.5)).rcode() == dns.rcode.REFUSED
        server.script("b.example.com", "A", failing("SERVFAIL"))
        assert reason_of(asked.query, "b.example.com", "A", deadline=soon(0.5)) == "servfail"


def test_without_name_servers_a_question_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without /etc/resolv.conf has workers all the same."""

    def unconfigured(*args: Any, **more: Any) -> None:
        raise dns.resolver.NoResolverConfiguration

    monkeypatch.setattr(dns.resolver.Resolver, "read_resolv_conf", unconfigured)
    lonely = Resolver(Policy())
    assert reason_of(lonely.query, "a.example.com", "A", deadline=soon()) == "servfail"
    assert reason_of(lonely.addresses, "a.example.com", deadline=soon()) == "dns_failure"


def test_the_systems_servers_are_those_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its search domains and options are left aside."""

    def configured(self: dns.resolver.Resolver, *args: Any) -> None:
        self.nameservers = ["192.0.2.1", "2001:db8::1", "fe80::1%lo"]
        self.search = [dns.name.from_text("corp.example.com")]

    monkeypatch.setattr(dns.resolver.Resolver, "read_resolv_conf", configured)
    system = Resolver(Policy())
    servers = [server for server in system._resolver.nameservers if isinstance(server, module._Server)]
    assert [(server.address, server.port) for server in servers] == [
        ("192.0.2.1", 53),
        ("2001:db8::1", 53),
        ("fe80::1%lo", 53),
    ]
    assert system._resolver.search == []


def test_the_operators_names(server: NameServer) -> None:
    """Nobody is asked for them, and their addresses are judged as any other."""
    asked = Resolver(Policy(), server=server.server, overrides={"a.example.com": PUBLIC, "b.example.com": "127.0.0.1"})
    assert asked.addresses("a.example.com", deadline=soon()) == [PUBLIC]
    with pytest.raises(BlockedAddress):
        asked.addresses("b.example.com", deadline=soon())
    assert server.questions == []


def test_the_name_server_is_told_what_is_wanted(server: NameServer, resolver: Resolver) -> None:
    """Recursion, DNSSEC's verdict, and no more than fits into one packet."""
    seen = []

    def step(query: Any, transport: Any) -> Any:
        seen.append((query.flags & dns.flags.RD, query.ednsflags & dns.flags.DO, query.payload))
        return records(f"a.example.com. 60 IN A {PUBLIC}", authenticated=True)(query, transport)

    server.script("a.example.com", "A", step)
    assert resolver.query("a.example.com", "A", deadline=soon()).flags & dns.flags.AD
    assert seen == [(dns.flags.RD, dns.flags.DO, 1232)]


def test_tcp_that_answers_nonsense(server: NameServer, resolver: Resolver) -> None:
    """Has failed, at once."""
    right = records(f"a.example.com. 60 IN A {PUBLIC}")
    for step in (garbage, of_another(right), lambda query, transport: [right(query, transport)[0][:40]]):
        server.script("a.example.com", "A", truncated, step)
        assert reason_of(resolver.query, "a.example.com", "A", deadline=soon(1)) == "servfail"


def test_tcp_that_trickles() -> None:
    """No byte gives time for another; an end before the end is an end."""
    here, there = socket.socketpair()
    with here, there:
        over = threading.Event()

        def trickle() -> None:
            while not over.wait(0.05):
                there.send(b"\x00")

        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            module._exactly(here, 1000, started + 0.3)
        assert time.monotonic() - started < 0.3 + SLACK_S
        over.set()
        thread.join(5)
        there.close()
        with pytest.raises(EOFError):
            module._exactly(here, 1000, soon())
