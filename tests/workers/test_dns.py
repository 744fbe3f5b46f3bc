"""dns by way of real name servers: those that know, those that lie, and those that never answer."""

import ipaddress
import json
import time
from collections.abc import Iterator
from typing import Any

import dns.message
import pytest

from jobs.dns.endpoint import ENDPOINT
from jobs.ports import Context, DnsRecord
from shared import outcome
from shared.outcome import Failed, Ok, UpstreamFailed
from shared.settings.service import Settings
from tests.workers.egress.name_server import (
    SOA,
    NameServer,
    failing,
    garbage,
    of_another,
    records,
    silence,
    truncated,
)
from workers.adapters.dns import MAX_AGE_S, CachedDns
from workers.children import ChildPool
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver
from workers.execute import execute
from workers.ports import WorkerPorts

NAME = "a.example.com"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def server() -> Iterator[NameServer]:
    """A name server on a port of its own."""
    with NameServer() as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    """For what is kept."""
    return Clock()


@pytest.fixture
def names(server: NameServer, clock: Clock) -> CachedDns:
    """The port as workers have it, but for the clock."""
    return CachedDns(Resolver(Policy(), server=server.server), now=clock.now)


def soon(seconds: float = 5.0) -> float:
    return time.monotonic() + seconds


def call(server: NameServer, **body: Any) -> dict[str, Any]:
    got = execute(ENDPOINT, json.dumps(body).encode(), context(server))
    assert isinstance(got, Ok), got
    answer: dict[str, Any] = json.loads(got.body)
    return answer


def failure(server: NameServer, **body: Any) -> Failed:
    got = execute(ENDPOINT, json.dumps(body).encode(), context(server))
    assert isinstance(got, Failed), got
    return got


def context(server: NameServer) -> Context:
    settings = Settings(dns_server=f"{server.address}:{server.port}")
    return Context(payer="0x0", ports=WorkerPorts(settings, ChildPool()))


def fields(text: str, names: str = "") -> tuple[str, dict[str, Any]]:
    """The text of a record, and what is answered of it: as a whole and part by part, without the dots of the root."""
    parts = [part.removesuffix(".") for part in text.split()]
    typed = [int(part) if part.isdecimal() else part for part in parts]
    return text, {"data": " ".join(parts), **dict(zip(names.split(), typed, strict=False))}


RECORDS = {
    "A": ("192.0.2.1", {}),
    "AAAA": ("2001:db8::1", {}),
    "NS": fields("ns1.example.com."),
    "CNAME": fields("Web.example.net."),
    "MX": fields("10 mail.example.com.", "priority exchange"),
    "TXT": (r'"gr\195" "\188n\"" ""', {"data": 'grün"', "strings": ["gr", 'ün"', ""], "encoding": "utf-8"}),
    "SOA": fields(
        "ns1.example.com. hostmaster.example.com. 2026112101 7200 3600 1209600 300",
        "mname rname serial refresh retry expire minimum",
    ),
    "SRV": fields("10 60 5060 sip.example.com.", "priority weight port target"),
    "CAA": (
        '0 issue "letsencrypt.org"',
        {"data": '0 issue "letsencrypt.org"', "flags": 0, "tag": "issue", "value": "letsencrypt.org"},
    ),
}


@pytest.mark.parametrize("record_type", RECORDS)
def test_the_nine_types_on_the_wire(server: NameServer, record_type: str) -> None:
    """As a zone file has them, and as they are answered. The signatures beside them are not."""
    text, fields = RECORDS[record_type]
    signature = f"RRSIG {record_type} 13 3 60 20300101000000 20200101000000 1 example.com. AAAA"
    server.script(
        NAME,
        record_type,
        records(f"A.Example.Com. 60 IN {record_type} {text}", f"{NAME}. 60 IN {signature}", authenticated=True),
    )
    got = call(server, domain=NAME, recordType=record_type)
    assert got["answers"] == [{"type": record_type, "name": NAME, "ttl": 60, "data": text} | fields]
    assert (got["status"], got["exists"], got["minTtl"], got["cnameChain"]) == ("NOERROR", True, 60, [])
    assert (got["authenticatedData"], got["ageSeconds"]) == (True, 0)
    assert server.asked(NAME) == [record_type]


def test_no(server: NameServer) -> None:
    """There is no such name, no such record, or nobody who is willing to say."""
    server.script("mail.example.com", "MX", records("mail.example.com. 60 IN MX 0 ."))
    server.script("odd.example.com", "A", records())
    server.script("refused.example.com", "A", failing("REFUSED"))
    got = {
        name: call(server, domain=f"{name}.example.com", recordType="a")
        for name in ("mail", "absent", "odd", "refused")
    }
    assert {name: (each["status"], each["exists"], each["minTtl"]) for name, each in got.items()} == {
        "mail": ("NODATA", True, 60),
        "absent": ("NXDOMAIN", False, 60),
        "odd": ("NODATA", True, None),
        "refused": ("REFUSED", None, None),
    }
    assert all(each["ok"] and each["answers"] == [] for each in got.values())


def test_aliases(server: NameServer) -> None:
    """The way is told, in order, and the answers are those at its end; all of it is as good as its worst part."""
    way = ("B.example.com. 50 IN CNAME web.example.net.", f"{NAME}. 70 IN CNAME B.example.com.")
    server.script(NAME, "A", records("web.example.net. 60 IN A 192.0.2.1", "evil.example.com. 1 IN A 6.6.6.6", *way))
    server.script(NAME, "MX", records(*way, authority=["example.net. 40 IN SOA . . 1 1 1 1 45"]))
    server.script(NAME, "TXT", records(*way, rcode="NXDOMAIN", authority=["example.net. 3600 IN SOA . . 1 1 1 1 45"]))
    server.script(NAME, "CNAME", records(way[1]))

    chain = ["b.example.com", "web.example.net"]
    got = call(server, domain=NAME)
    assert got["answers"] == [{"type": "A", "name": "web.example.net", "ttl": 60, "data": "192.0.2.1"}]
    assert (got["cnameChain"], got["minTtl"]) == (chain, 50)
    got = call(server, domain=NAME, recordType="MX")
    assert (got["status"], got["exists"], got["cnameChain"], got["minTtl"]) == ("NODATA", True, chain, 40)
    got = call(server, domain=NAME, recordType="TXT")
    assert (got["status"], got["exists"], got["cnameChain"], got["minTtl"]) == ("NXDOMAIN", False, chain, 45)
    got = call(server, domain=NAME, recordType="CNAME")
    assert ([each["data"] for each in got["answers"]], got["cnameChain"]) == (["B.example.com"], [])


def test_a_server_that_leaves_aliases_to_who_asks(server: NameServer) -> None:
    """Authoritative ones do, when the alias leads elsewhere: no records of that name are not NODATA."""
    server.script(NAME, "A", records(f"{NAME}. 70 IN CNAME b.example.com."))
    server.script("b.example.com", "A", records("b.example.com. 50 IN CNAME web.example.net."))
    server.script("web.example.net", "A", records("web.example.net. 60 IN A 192.0.2.1"))
    got = call(server, domain=NAME)
    assert [each["data"] for each in got["answers"]] == ["192.0.2.1"]
    assert (got["cnameChain"], got["minTtl"]) == (["b.example.com", "web.example.net"], 50)

    for step, status, exists in (
        (failing("REFUSED"), "REFUSED", None),
        (records(rcode="NXDOMAIN"), "NXDOMAIN", False),
        (records(), "NODATA", True),
    ):
        server.script("web.example.net", "A", step)
        got = call(server, domain=NAME)
        assert (got["status"], got["exists"], len(got["cnameChain"])) == (status, exists, 2)


def test_aliases_without_an_end(server: NameServer) -> None:
    """In one answer or in many: a failure, at once."""
    loop = ("l.example.com. 60 IN CNAME m.example.com.", "m.example.com. 60 IN CNAME l.example.com.")
    server.script("l.example.com", "A", records(*loop))
    server.script("self.example.com", "A", records("self.example.com. 60 IN CNAME self.example.com."))
    server.script("x.example.com", "A", records("x.example.com. 60 IN CNAME y.example.com."))
    server.script("y.example.com", "A", records("y.example.com. 60 IN CNAME x.example.com."))
    for i in range(30):
        server.script(f"n{i}.example.com", "A", records(f"n{i}.example.com. 60 IN CNAME n{i + 1}.example.com."))
    started = time.monotonic()
    for name in ("l", "self", "x", "n0"):
        failed = failure(server, domain=f"{name}.example.com")
        assert (failed.code, failed.reason, failed.retryable) == ("upstream_failed", "servfail", True), name
    assert time.monotonic() - started < 4
    assert len(server.questions) < 25


def test_many_addresses(server: NameServer) -> None:
    """All of them, in the order in which they came, by TCP."""
    first = int(ipaddress.IPv4Address("192.0.0.0"))
    addresses = [str(ipaddress.IPv4Address(first + i * 7919 % 1000)) for i in range(1000)]
    server.addresses(NAME, *addresses)
    got = call(server, domain=NAME)
    assert [each["data"] for each in got["answers"]] == addresses
    assert got["truncated"] is False
    assert [question.transport for question in server.questions] == ["udp", "tcp"]


def test_the_longest_answer_takes_a_moment(server: NameServer) -> None:
    """Of names that are pointers to one another: bounded in time and in what is answered."""
    name = ".".join(["a" * 63] * 3) + ".example.com"
    lines = [f"{name}. 60 IN MX {i} {i}.{name}." for i in range(1500)]
    [wire] = records(*lines)(dns.message.make_query(name, "MX"), "tcp")  # before: it takes longer than to read it
    server.script(name, "MX", truncated, lambda query, _: [query.id.to_bytes(2) + wire[2:]])
    started = time.monotonic()
    got = call(server, domain=name, recordType="MX")
    assert time.monotonic() - started < 5
    assert got["truncated"] is True
    assert len(json.dumps(got)) < 4_000_000


def test_the_cap_is_five_seconds(server: NameServer) -> None:
    """For a name server that never answers."""
    server.default = silence
    started = time.monotonic()
    failed = failure(server, domain=NAME)
    assert (failed.code, failed.reason, failed.retryable) == ("upstream_failed", "timeout", True)
    assert 4.9 <= time.monotonic() - started < 6
    assert len(server.asked(NAME)) > 1


@pytest.mark.parametrize(
    "step",
    [silence, garbage, of_another(records(f"{NAME}. 60 IN A 192.0.2.1"))],
    ids=["silence", "garbage", "another id"],
)
def test_no_answer_in_time(server: NameServer, monkeypatch: pytest.MonkeyPatch, step: Any) -> None:
    """Whatever comes instead."""
    monkeypatch.setattr("jobs.dns.endpoint.RESOLVER_LIFETIME_S", 0.4)
    server.default = step
    started = time.monotonic()
    assert failure(server, domain=NAME).reason == "timeout"
    assert 0.4 <= time.monotonic() - started < 1.4


def test_the_deadline_is_for_all_questions_together(server: NameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """An alias does not give its target time of its own."""
    monkeypatch.setattr("jobs.dns.endpoint.RESOLVER_LIFETIME_S", 0.4)
    server.script(NAME, "A", records(f"{NAME}. 70 IN CNAME b.example.com."))
    server.script("b.example.com", "A", truncated, silence)
    started = time.monotonic()
    assert failure(server, domain=NAME).reason == "timeout"
    assert 0.4 <= time.monotonic() - started < 1.4


def test_servers_that_fail(server: NameServer) -> None:
    """Nothing is known, and that is no answer."""
    for code in ("SERVFAIL", "FORMERR", "NOTIMP"):
        server.script(NAME, "A", failing(code))
        failed = failure(server, domain=NAME)
        assert (failed.code, failed.reason, failed.retryable) == ("upstream_failed", "servfail", True), code
    assert outcome.encode(failed)


def test_an_answer_is_kept_for_its_ttl(server: NameServer, names: CachedDns, clock: Clock) -> None:
    """And is as old as it is; what is left of it becomes less."""
    server.script(
        NAME,
        "A",
        records(f"{NAME}. 100 IN CNAME b.example.com.", "b.example.com. 60 IN A 192.0.2.1"),
        failing("REFUSED"),
    )
    for passed_s in (0, 1, 30.5, 59.9):
        clock.time = 1000 + passed_s
        got = names.lookup(NAME, "A", deadline=soon())
        left_s = 60 - int(passed_s)
        assert got.records == (DnsRecord("b.example.com", left_s, ("192.0.2.1",)),)
        assert (got.age_s, got.min_ttl, got.aliases) == (int(passed_s), left_s, ("b.example.com",))
    assert server.asked(NAME) == ["A"]
    clock.time = 1060
    assert names.lookup(NAME, "A", deadline=soon()).rcode == "REFUSED"


def test_names_and_types_are_kept_apart(server: NameServer, names: CachedDns) -> None:
    """In whatever case they are asked for."""
    server.script(NAME, "A", records(f"{NAME}. 60 IN A 192.0.2.1"))
    server.script(NAME, "MX", records(f"{NAME}. 60 IN MX 10 ."))
    for name in (NAME, NAME.upper(), NAME + "."):
        assert names.lookup(name, "A", deadline=soon()).records[0].fields == ("192.0.2.1",)
        assert names.lookup(name, "MX", deadline=soon()).records[0].fields == (10, ".")
    assert server.asked(NAME) == ["A", "MX"]


@pytest.mark.parametrize(
    ("ttl", "lifetime_s"), [(0, 0), (1, 1), (MAX_AGE_S, MAX_AGE_S), (86400, MAX_AGE_S), (2**31, 0)]
)
def test_how_long_an_answer_is_kept(
    server: NameServer, names: CachedDns, clock: Clock, ttl: int, lifetime_s: int
) -> None:
    """Not at all, to its last second, or five minutes. A TTL with the top bit is none (RFC 2181)."""

    def step(query: Any, transport: Any) -> list[bytes]:
        (wire,) = records(f"{NAME}. 7777777 IN A 192.0.2.1")(query, transport)
        return [wire.replace((7777777).to_bytes(4), ttl.to_bytes(4))]

    server.script(NAME, "A", step)
    assert names.lookup(NAME, "A", deadline=soon()).min_ttl == (0 if ttl >= 2**31 else ttl)
    clock.time += max(0, lifetime_s - 0.01)
    names.lookup(NAME, "A", deadline=soon())
    assert len(server.asked(NAME)) == (1 if lifetime_s else 2)
    clock.time += 0.01
    names.lookup(NAME, "A", deadline=soon())
    assert len(server.asked(NAME)) == (2 if lifetime_s else 3)


@pytest.mark.parametrize("rcode", ["NXDOMAIN", "NOERROR"])
@pytest.mark.parametrize(
    ("authority", "lifetime_s"),
    [
        ([SOA], 60),
        (["example.com. 20 IN SOA . . 1 1 1 1 60"], 20),
        (["com. 900 IN SOA . . 1 1 1 1 86400"], MAX_AGE_S),
        (["example.com. 60 IN SOA . . 1 1 1 1 0"], 0),
        (["example.net. 60 IN SOA . . 1 1 1 1 60"], 0),
        ([], 0),
    ],
)
def test_how_long_it_is_believed_that_there_is_nothing(
    server: NameServer, names: CachedDns, clock: Clock, rcode: str, authority: list[str], lifetime_s: int
) -> None:
    """As the SOA of the zone says, and not at all without it (RFC 2308)."""
    server.script(NAME, "A", records(rcode=rcode, authority=authority))
    asked = 1
    for passed_s, again in ((0, True), (max(0, lifetime_s - 1), lifetime_s == 0), (1, True)):
        clock.time += passed_s
        got = names.lookup(NAME, "A", deadline=soon())
        assert (got.rcode, got.records) == (rcode, ())
        asked += bool(again and passed_s)
        if lifetime_s:
            assert len(server.asked(NAME)) == asked


def test_failures_and_refusals_are_not_kept(server: NameServer, names: CachedDns) -> None:
    """The next call may have more luck."""
    server.script(NAME, "A", failing("SERVFAIL"), failing("REFUSED"), truncated, records(f"{NAME}. 60 IN A 192.0.2.1"))
    with pytest.raises(UpstreamFailed):
        names.lookup(NAME, "A", deadline=soon())
    assert names.lookup(NAME, "A", deadline=soon()).rcode == "REFUSED"
    assert names.lookup(NAME, "A", deadline=soon()).records
    assert names.lookup(NAME, "A", deadline=soon()).records
    assert len(server.asked(NAME)) == 4


def test_connections_ask_anew(server: NameServer) -> None:
    """What dns keeps is not what an address is taken from."""
    ports: Any = context(server).ports
    server.addresses(NAME, "93.184.215.14", ttl=3600)
    assert ports.dns.lookup(NAME, "A", deadline=soon()).records
    server.addresses(NAME, "1.1.1.1", ttl=0)
    assert ports.dns.lookup(NAME, "A", deadline=soon()).records[0].fields == ("93.184.215.14",)
    assert ports.resolver.addresses(NAME, deadline=soon()) == ["1.1.1.1"]
    assert server.asked(NAME) == ["A", "A", "AAAA"]
