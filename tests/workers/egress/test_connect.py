"""Connections: names that lie and change, addresses that are dead or one's own, and nothing is asked but the DNS."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import dns.nameserver
import dns.resolver
import pytest

from compose.sandbox.child import claim_port
from shared.outcome import BlockedAddress, UpstreamFailed
from tests.workers.egress.hostile import Canary, connector
from tests.workers.egress.name_server import NameServer, failing, records, silence
from tests.workers.servers import ADDRESS, server
from workers.egress.connect import Connector
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver

PUBLIC = "93.184.215.14"
FORBIDDEN = ("127.0.0.1", "127.0.0.2", "::1", "127.77.40.3")
"""Loopback addresses that a name may lead to."""
CONNECTED = b"you are connected"


@pytest.fixture
def names() -> Iterator[NameServer]:
    """What the DNS says."""
    with NameServer() as running:
        yield running


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server on the one address that may be called."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(CONNECTED)

    # Free on the canary's addresses too: a client of another test may have a port of its own there.
    with server(answer, port=claim_port(0, (ADDRESS, *FORBIDDEN))) as running:
        yield running


@pytest.fixture
def canary(port: int) -> Iterator[Canary]:
    """On the same port of every address that is not to be called."""
    with Canary(*((address, port) for address in FORBIDDEN)) as listening:
        yield listening


def soon(seconds: float = 5.0) -> float:
    """A deadline."""
    return time.monotonic() + seconds


def reached(guarded: Connector, host: str, port: int, seconds: float = 5.0) -> bytes:
    """What the server there says."""
    with guarded.connect(host, port, deadline=soon(seconds)) as connected:
        return connected.recv(100)


def failure(guarded: Connector, host: str, port: int, *, deadline: float) -> str | None:
    """Why there is no connection."""
    with pytest.raises(UpstreamFailed) as failed:
        guarded.connect(host, port, deadline=deadline)
    return failed.value.reason


def test_a_name_that_leads_to_a_server(names: NameServer, port: int, canary: Canary) -> None:
    """Is asked for once, by both types, and connected to."""
    names.addresses("a.example.com", ADDRESS)
    assert reached(connector(server=names.server), "a.example.com", port) == CONNECTED
    assert names.asked("a.example.com") == ["A", "AAAA"]
    assert canary.calls == 0


@pytest.mark.parametrize(
    "addresses",
    [
        ("127.0.0.1",),
        (ADDRESS, "127.0.0.1"),
        ("127.0.0.1", ADDRESS),
        (ADDRESS, "::1"),
        (PUBLIC, "127.0.0.2"),
        (PUBLIC, "2606:4700::1111", "::1"),
        ("::1",),
        ("::ffff:127.0.0.1",),
        ("64:ff9b::7f00:1",),
        ("0.0.0.0",),
        ("::",),
        ("127.77.40.3",),
        ("10.0.0.1",),
        ("fd00::1",),
        ("169.254.169.254",),
        ("169.254.169.254", ADDRESS),
    ],
)
def test_one_address_that_is_not_public_is_enough(
    names: NameServer, port: int, canary: Canary, addresses: tuple[str, ...]
) -> None:
    """Nothing is connected to then, neither that address nor the others."""
    names.addresses("a.example.com", *addresses)
    with pytest.raises(BlockedAddress):
        connector(server=names.server).connect("a.example.com", port, deadline=soon())
    assert canary.calls == 0


def test_a_name_that_changes_is_looked_at_once_per_connection(names: NameServer, port: int, canary: Canary) -> None:
    """Public at first and loopback from then on, with a TTL of 0: between check and connection nobody asks again."""
    names.script(
        "a.example.com", "A", records(f"a.example.com. 0 IN A {ADDRESS}"), records("a.example.com. 0 IN A 127.0.0.1")
    )
    guarded = connector(server=names.server)
    assert reached(guarded, "a.example.com", port) == CONNECTED
    assert names.asked("a.example.com").count("A") == 1
    for _ in range(3):
        with pytest.raises(BlockedAddress):
            guarded.connect("a.example.com", port, deadline=soon())
    assert canary.calls == 0


def test_a_name_that_changes_with_every_answer(names: NameServer, port: int, canary: Canary) -> None:
    """Whatever comes of it, only the server is connected to."""
    steps = [records(f"a.example.com. 0 IN A {address}") for address in (ADDRESS, "127.0.0.1") * 4]
    names.script("a.example.com", "A", *steps)
    guarded = connector(server=names.server)
    for _ in range(8):
        with contextlib.suppress(BlockedAddress):
            assert reached(guarded, "a.example.com", port) == CONNECTED
    assert canary.calls == 0


def test_an_alias_of_an_internal_name(names: NameServer, port: int, canary: Canary) -> None:
    """What it leads to is judged by its address, and the alias is never asked for by itself."""
    alias = "a.example.com. 0 IN CNAME redis.internal."
    names.script("a.example.com", "A", records(alias, "redis.internal. 0 IN A 127.0.0.1"))
    with pytest.raises(BlockedAddress):
        connector(server=names.server).connect("a.example.com", port, deadline=soon())
    names.script("a.example.com", "A", records(alias))
    assert failure(connector(server=names.server), "a.example.com", port, deadline=soon()) == "dns_failure"
    assert {question.name for question in names.questions} == {"a.example.com"}
    assert canary.calls == 0


def test_a_name_server_that_fails_or_hangs(names: NameServer, port: int) -> None:
    """Is a clear reason within the deadline."""
    for record_type in ("A", "AAAA"):
        names.script("fails.example.com", record_type, failing("SERVFAIL"))
        names.script("hangs.example.com", record_type, silence)
    for name, reason in (
        ("fails.example.com", "dns_failure"),
        ("hangs.example.com", "timeout"),
        ("no.example.com", "dns_failure"),
    ):
        began = time.monotonic()
        assert failure(connector(server=names.server), name, port, deadline=soon(1.0)) == reason
        assert time.monotonic() - began < 3


def test_a_lookup_ends_before_a_long_deadline(names: NameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a job of 25 s does not spend them on a name."""
    monkeypatch.setattr("workers.egress.resolver.LOOKUP_S", 0.3)
    names.script("hangs.example.com", "A", silence)
    began = time.monotonic()
    assert failure(connector(server=names.server), "hangs.example.com", 80, deadline=soon(30)) == "timeout"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("step", [silence, failing("SERVFAIL"), failing("NOTIMP"), failing("REFUSED")])
def test_servers_that_know_only_ipv4(
    names: NameServer, port: int, monkeypatch: pytest.MonkeyPatch, step: object
) -> None:
    """There are many, and their hosts are reached as by everybody else."""
    monkeypatch.setattr("workers.egress.resolver.QUERY_TIMEOUT_S", 0.3)
    names.script("a.example.com", "A", records(f"a.example.com. 0 IN A {ADDRESS}"))
    names.script("a.example.com", "AAAA", step)  # type: ignore[arg-type]
    assert reached(connector(server=names.server), "a.example.com", port) == CONNECTED


def test_a_host_of_ipv6_alone(names: NameServer) -> None:
    """Is connected to as any other."""
    names.addresses("six.example.com", "::1")
    guarded = connector(server=names.server, allow="::1/128")
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        with guarded.connect("six.example.com", listener.getsockname()[1], deadline=soon()) as connected:
            assert connected.family == socket.AF_INET6
        listener.accept()[0].close()


def of_network(names: NameServer, network: str) -> Connector:
    """One that may call a whole network."""
    policy = Policy(allowed=[ip_network(network)])
    return Connector(policy, Resolver(policy, server=names.server))


def test_dead_addresses_are_passed_over(names: NameServer, port: int) -> None:
    """One that refuses, and one that does not answer: each gets its share of the time that is left."""
    with socket.socket() as full:
        full.bind(("127.77.40.9", port))
        full.listen(0)
        with contextlib.ExitStack() as waiting:
            for _ in range(3):  # until its queue is full, it takes connections that nobody accepts
                caller = waiting.enter_context(socket.socket())
                caller.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    caller.connect(("127.77.40.9", port))
            names.addresses("a.example.com", "127.77.40.8", "127.77.40.9", ADDRESS)
            began = time.monotonic()
            assert reached(of_network(names, "127.77.40.0/24"), "a.example.com", port, 3.0) == CONNECTED
            assert 1.0 < time.monotonic() - began < 3.0

            names.addresses("b.example.com", "127.77.40.9")
            assert failure(of_network(names, "127.77.40.0/24"), "b.example.com", port, deadline=soon(0.5)) == "timeout"


def test_no_time_is_left(names: NameServer, port: int, canary: Canary) -> None:
    """Nothing is tried."""
    names.addresses("a.example.com", ADDRESS)
    for host in ("a.example.com", "known.example.com"):
        assert (
            failure(connector(hosts={"known.example.com": ADDRESS}, server=names.server), host, port, deadline=soon(-1))
            == "timeout"
        )
    assert names.questions == []


def test_nobody_listens(names: NameServer) -> None:
    """Refused."""
    names.addresses("a.example.com", ADDRESS)
    assert failure(connector(server=names.server), "a.example.com", 9, deadline=soon()) == "connection_refused"


def test_a_connection_to_itself_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """TCP connects a port that nobody listens on to itself when the caller happens to have it."""
    real = socket.socket

    class Bound(real):  # type: ignore[misc, valid-type]
        """Has the port that it will call."""

        def connect(self, place: tuple[str, int]) -> None:
            """To oneself."""
            self.bind(place)
            super().connect(place)

    with real() as free:
        free.bind((ADDRESS, 0))
        port = free.getsockname()[1]
    guarded = connector(hosts={"a.example.com": ADDRESS})
    monkeypatch.setattr("workers.egress.connect.socket.socket", Bound)
    assert failure(guarded, "a.example.com", port, deadline=soon()) == "connection_refused"


def test_a_port_of_the_operators_names_is_checked_too(port: int, canary: Canary) -> None:
    """COINSLOT_HOSTS names addresses; the policy judges them."""
    with pytest.raises(BlockedAddress):
        connector(hosts={"a.example.com": "127.0.0.1"}).connect("a.example.com", port, deadline=soon())
    assert canary.calls == 0


def test_a_resolver_that_errs_is_not_believed(port: int, canary: Canary) -> None:
    """The connection's own check is the last."""

    class Careless(Resolver):
        """Lets everything through."""

        def addresses(self, host: str, *, deadline: float) -> list[str]:
            """Of this machine."""
            return ["127.0.0.1"]

    policy = Policy()
    with pytest.raises(BlockedAddress):
        Connector(policy, Careless(policy, server=(ADDRESS, 9))).connect("a.example.com", port, deadline=soon())
    assert canary.calls == 0


PROGRAM = """
import socket, sys, time
for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
    setattr(socket, name, None)  # whoever asks the system's resolver fails
from shared.outcome import UpstreamFailed
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver
resolver = Resolver(Policy(), server=("127.0.0.1", int(sys.argv[1])))
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
for host in sys.argv[2:]:
    try:
        resolver.addresses(host, deadline=time.monotonic() + 5)
    except UpstreamFailed as failure:
        print(host, failure.reason)
print("opened", [path for path in opened if path.startswith("/etc")])
"""


def test_nothing_but_the_dns_is_asked(names: NameServer) -> None:
    """Neither /etc/hosts nor a search domain: every name is asked for as it is, and unknown then, also this machine's."""
    own = socket.gethostname().lower()
    hosts = ["localhost", "ip6-localhost", own, "redis", "a.b"]
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(names.port), *hosts],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "LOCALDOMAIN": "search.example.com", "RES_OPTIONS": "ndots:5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.splitlines() == [*(f"{host} dns_failure" for host in hosts), "opened []"]
    assert {question.name for question in names.questions} == set(hosts)


def test_a_search_domain_of_the_system_is_not_used(
    names: NameServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """/etc/resolv.conf may have one; only its servers are read."""
    written = tmp_path / "resolv.conf"
    written.write_text("nameserver 127.0.0.1\nsearch corp.example.net\ndomain corp.example.net\noptions ndots:5\n")
    real = dns.resolver.Resolver.read_resolv_conf
    monkeypatch.setattr(dns.resolver.Resolver, "read_resolv_conf", lambda self, _: real(self, str(written)))
    resolver = Resolver(Policy())
    (found,) = resolver._resolver.nameservers
    assert isinstance(found, dns.nameserver.Do53Nameserver)
    assert found.address == "127.0.0.1"
    found.port = names.port
    with pytest.raises(UpstreamFailed):
        resolver.addresses("intranet.example", deadline=soon())
    assert {question.name for question in names.questions} == {"intranet.example"}
