"""Whether our own name servers and our own route work, with a real name server that stops answering and comes back."""

import socket
import time
from collections.abc import Callable, Iterator

import pytest

from shared.outcome import UpstreamFailed
from shared.pools import Pool
from shared.settings.service import Settings
from tests.time_limits import patience
from tests.workers.egress.name_server import NameServer, Step, failing, records, silence
from workers.children import ChildPool
from workers.egress import health
from workers.egress.health import EVERY_S, EgressHealth, has_route
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver
from workers.port_lifecycle import PortMonitor
from workers.ports import WorkerPorts

ROOT_SERVERS = records(". 518400 IN NS a.root-servers.net.")
PATIENCE_S = patience(20.0)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    """A name server of which too much time is not waited for."""
    monkeypatch.setattr(health, "LOOKUP_S", 0.3)
    with NameServer() as running:
        yield running


def of(server: NameServer, clock: Callable[[], float] = time.monotonic) -> EgressHealth:
    return EgressHealth(Resolver(Policy(), server=server.server), question=".", needs_route=False, clock=clock)


def test_pools_that_call_out_are_refused_while_no_name_server_answers(server: NameServer) -> None:
    """And no others: a worker of them fetches nothing until it answers again."""
    server.default = ROOT_SERVERS
    settings = Settings(dns_server=f"{server.address}:{server.port}", egress_allow="127.0.0.0/8")
    ports = WorkerPorts(settings, ChildPool())
    assert {pool for pool in Pool if ports.egress_health in ports.live_ports(pool)} == {
        *(Pool.NET, Pool.WHOIS, Pool.YOUTUBE, Pool.RENDER)
    }
    monitor = PortMonitor(lambda pool: (ports.egress_health,))

    def becomes(reason: str, answer: Step) -> None:
        server.default = answer
        ports.egress_health._works_until = 0.0
        give_up_at = time.monotonic() + PATIENCE_S
        while monitor.unavailable_reason(Pool.NET) != reason:
            assert time.monotonic() < give_up_at
            time.sleep(0.01)

    monitor.start([Pool.NET])
    try:
        becomes("", ROOT_SERVERS)
        becomes("no_dns", silence)
        becomes("", ROOT_SERVERS)
    finally:
        monitor.close()


def test_what_counts_as_an_answer(server: NameServer) -> None:
    """Whatever a server says that works; one that fails for the root itself finds nothing for callers either."""
    found = {}
    for name, answer in (
        ("NOERROR", ROOT_SERVERS),
        ("NXDOMAIN", records(rcode="NXDOMAIN")),
        ("REFUSED", failing("REFUSED")),
        ("SERVFAIL", failing("SERVFAIL")),
        ("silence", silence),
    ):
        server.default = answer
        found[name] = of(server).unavailable_reason()

    assert found == {"NOERROR": "", "NXDOMAIN": "", "REFUSED": "", "SERVFAIL": "no_dns", "silence": "no_dns"}


def test_callers_with_slow_names_stop_no_pool(server: NameServer) -> None:
    """However many time out: only our own question counts."""
    server.default = silence
    server.script(".", "NS", ROOT_SERVERS)
    resolver = Resolver(Policy(), server=server.server)
    checked = EgressHealth(resolver, question=".", needs_route=False)
    for number in range(3):
        with pytest.raises(UpstreamFailed, match="in time"):
            resolver.query(f"slow{number}.example.com", "A", deadline=time.monotonic() + 0.1)
        checked._works_until = 0.0
        assert checked.unavailable_reason() == ""


def test_an_answer_is_good_for_a_while(server: NameServer) -> None:
    """The name server gets a question every few seconds. Without an answer it gets the next at once."""
    now = 100.0
    server.default = ROOT_SERVERS
    checked = of(server, lambda: now)
    for _ in range(3):
        assert checked.unavailable_reason() == ""
    assert len(server.asked(".")) == 1
    server.default = failing("SERVFAIL")
    now += EVERY_S
    assert checked.unavailable_reason() == "no_dns"
    server.default = ROOT_SERVERS
    assert checked.unavailable_reason() == ""


def test_without_a_route_nobody_is_asked(server: NameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One family is enough. The kernel says so; no packet leaves the machine."""
    server.default = ROOT_SERVERS
    no_way, a_way = (socket.AF_INET, "255.255.255.255"), (socket.AF_INET, "127.0.0.1")
    assert (has_route(*no_way), has_route(*a_way)) == (False, True)
    for ways, reason in (((no_way, no_way), "no_egress"), ((no_way, a_way), "")):
        monkeypatch.setattr(health, "_PUBLIC", ways)
        checked = EgressHealth(Resolver(Policy(), server=server.server), question=".", needs_route=True)
        assert checked.unavailable_reason() == reason
        assert bool(server.questions) is not bool(reason)
