"""The sandbox's own part of the DNS."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dns.asyncquery
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.resolver
import pytest

from compose.sandbox.upstreams import names
from compose.sandbox.upstreams.dns_server import serve_dns
from compose.sandbox.upstreams.names import DNS_PORT, TTL_S, Names, system_servers
from compose.sandbox.upstreams.place import Place
from jobs.dns.endpoint import ENDPOINT, RECORD_TYPES, Request, run
from jobs.ports import Context
from shared.settings.service import Settings
from tests.workers.egress.name_server import NameServer, failing, records, silence
from workers.children import ChildPool
from workers.ports import WorkerPorts

ADDRESS = "127.77.9.53"


class Running:
    """An event loop in a thread, until the end of the test."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    def close(self) -> None:
        self.do(_end_others())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


async def _end_others() -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.sleep(0)


@pytest.fixture
def running() -> Iterator[Running]:
    """An event loop."""
    thread = Running()
    yield thread
    thread.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A sandbox, with one site."""
    found = Place(ADDRESS, tmp_path)
    found.names["feeds.example.com"] = ADDRESS
    return found


@pytest.fixture
def served(running: Running, place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """The sandbox's names on their port, as `start` serves them, without other servers."""
    kept = []

    async def serving(*args: Any) -> Any:
        kept.append(await serve_dns(*args))
        return kept[0]

    monkeypatch.setattr(names, "serve_dns", serving)
    monkeypatch.setattr(names, "system_servers", lambda own: [])
    running.do(names.start(place))
    yield place
    running.loop.call_soon_threadsafe(kept[0].close)


def look_up(place: Place, domain: str, record_type: str = "A") -> Any:
    settings = Settings(dns_server=place.settings["DNS_SERVER"], egress_allow=f"{place.address}/32")
    ports = WorkerPorts(settings, ChildPool())
    return run(Request(domain=domain, record_type=record_type), Context(payer="0x0", ports=ports))


@pytest.mark.parametrize("record_type", RECORD_TYPES)
def test_there_is_a_record_of_every_type(served: Place, record_type: str) -> None:
    """For whoever tries the endpoint without an internet."""
    domain = {"CNAME": "www.example.com", "SRV": "_sip._tcp.example.com"}.get(record_type, "example.com")
    got = look_up(served, domain, record_type)
    assert (got.status, got.domain) == ("NOERROR", domain)
    assert all(answer.ttl > 0 for answer in got.answers)


def test_the_documented_example(served: Place) -> None:
    """Is what the sandbox gives."""
    got = look_up(served, "example.com", "MX")
    assert [answer.data for answer in got.answers] == [each["data"] for each in ENDPOINT.example.response["answers"]]
    assert got.min_ttl == ENDPOINT.example.response["minTtl"]


def test_a_worker_sees_that_it_works(served: Place) -> None:
    """Also without an internet: it knows of the root that it is there."""
    settings = Settings(dns_server=served.settings["DNS_SERVER"], egress_allow=f"{served.address}/32")
    assert WorkerPorts(settings, ChildPool()).egress_health.unavailable_reason() == ""


def test_no_such_name_and_no_such_record(served: Place) -> None:
    """Are told apart, with an SOA; what lies above a name exists."""
    for domain, record_type, status in (
        ("absent.example.com", "A", "NXDOMAIN"),
        ("dangling.example.com", "A", "NXDOMAIN"),
        ("www.example.com", "MX", "NODATA"),
        ("_tcp.example.com", "A", "NODATA"),
        ("example.org", "AAAA", "NODATA"),
        ("feeds.example.com", "AAAA", "NODATA"),
        ("below.feeds.example.com", "A", "NXDOMAIN"),
    ):
        got = look_up(served, domain, record_type)
        assert (got.status, got.answers, got.min_ttl) == (status, [], 300), (domain, record_type)


def test_aliases_are_followed_from_zone_to_zone(served: Place) -> None:
    """In one answer."""
    got = look_up(served, "www.example.com")
    assert got.cname_chain == ["web.example.com", "edge.example.net"]
    assert [(answer.name, answer.data) for answer in got.answers] == [("edge.example.net", "198.51.100.20")]
    assert got.min_ttl == 60


def test_hosts_of_the_sandbox_are_there_from_when_they_are_added(served: Place) -> None:
    """Instead of what the zone says of them."""
    assert look_up(served, "feeds.example.com").answers[0].data == ADDRESS
    assert look_up(served, "www.example.com").cname_chain
    assert look_up(served, "new.sites.example.net").status == "NXDOMAIN"
    served.names |= {"www.example.com": ADDRESS, "new.sites.example.net": ADDRESS}
    for domain in ("www.example.com", "new.sites.example.net"):
        got = look_up(served, domain)
        assert (got.answers[0].data, got.answers[0].ttl, got.cname_chain) == (ADDRESS, TTL_S, [])
    assert look_up(served, "sites.example.net").status == "NODATA"


def test_names_in_any_case(served: Place) -> None:
    """As the DNS has it."""
    query = dns.message.make_query("FEEDS.Example.com", "A")
    assert dns.query.udp(query, ADDRESS, port=DNS_PORT, timeout=5).answer[0][0].to_text() == ADDRESS


def test_udp_and_tcp(served: Place) -> None:
    """The same answers, over one connection or many."""
    query = dns.message.make_query("example.com", "TXT")
    by_tcp = dns.query.tcp(query, ADDRESS, port=DNS_PORT, timeout=5)
    assert len(by_tcp.answer[0]) == 2
    assert dns.query.udp(query, ADDRESS, port=DNS_PORT, timeout=5).answer == by_tcp.answer


def test_what_has_no_room_is_cut_off(running: Running, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as the asker says, or 512 bytes when it says nothing."""
    long = "".join(f'@ 60 TXT "{i}{"x" * 200}"\n' for i in range(5))
    monkeypatch.setitem(names.ZONES, "example.org", names.ZONES["example.org"] + long)
    own = Names(place, [])
    for more, transport, records_of_it in (
        ({"use_edns": False}, "udp", 0),
        ({"use_edns": 0, "payload": 600}, "udp", 0),
        ({"use_edns": 0, "payload": 1232}, "udp", 5),
        ({"use_edns": False}, "tcp", 5),
    ):
        query = dns.message.make_query("example.org", "TXT", **more)
        (wire,) = running.do(own.reply(query.to_wire(), transport))
        answer = dns.message.from_wire(wire)
        assert query.is_response(answer)
        assert bool(answer.flags & dns.flags.TC) is (records_of_it == 0)
        assert sum(map(len, answer.answer)) == records_of_it


def test_what_is_no_question_is_not_answered(running: Running, place: Place) -> None:
    """Or with NOTIMP, when it is at least a message."""
    own = Names(place, [])
    reply = lambda wire: running.do(own.reply(wire, "udp"))  # noqa: E731
    query = dns.message.make_query("example.com", "A")
    assert reply(b"") == reply(b"\xff" * 50) == reply(dns.message.make_response(query).to_wire()) == []
    query.question = []
    (wire,) = reply(query.to_wire())
    assert dns.message.from_wire(wire).rcode() == dns.rcode.NOTIMP


def test_other_names_are_asked_of_the_systems_servers(
    running: Running, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When there are none, or they do not answer soon: SERVFAIL, so that nothing waits for an internet that is not there."""
    monkeypatch.setattr(names, "FORWARD_TIMEOUT_S", 0.3)
    query = dns.message.make_query("www.iana.org", "A")

    def asked(*servers: str) -> dns.message.Message:
        (wire,) = running.do(Names(place, servers).reply(query.to_wire(), "udp"))
        return dns.message.from_wire(wire)

    assert asked().rcode() == dns.rcode.SERVFAIL
    with NameServer() as server:
        forward = dns.asyncquery.udp_with_fallback

        def elsewhere(query: dns.message.Message, where: str, **more: Any) -> Any:
            return forward(query, where, port=server.port, **more)

        monkeypatch.setattr(dns.asyncquery, "udp_with_fallback", elsewhere)
        server.script("www.iana.org", "A", silence, failing("NXDOMAIN"), records("www.iana.org. 60 IN A 192.0.43.8"))
        assert asked(server.address).rcode() == dns.rcode.SERVFAIL
        assert asked(server.address).rcode() == dns.rcode.NXDOMAIN
        assert asked(server.address).answer[0][0].to_text() == "192.0.43.8"
        assert len(server.asked("www.iana.org")) == 3


def test_it_does_not_ask_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine may have been pointed at its own sandbox."""

    def configured(self: Any, *args: Any) -> None:
        self.nameservers = ["192.0.2.1", ADDRESS]

    monkeypatch.setattr(dns.resolver.Resolver, "read_resolv_conf", configured)
    assert system_servers(ADDRESS) == ["192.0.2.1"]
