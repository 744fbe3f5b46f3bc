"""Exits by real proxies: which one a connection leaves by, what the proxy is given, and what its failures mean."""

import logging
import socket
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from jobs.hosts import PublicUrl
from ops.counted import CountedSeries
from shared.observability.metrics import Metrics
from shared.outcome import BlockedAddress, JobFailure, Unavailable, UpstreamFailed
from shared.pools import Pool
from shared.settings.egress_proxies import PoolProxies, ProxyServer
from shared.settings.service import Settings
from tests.each import each
from tests.sites import on_any_port
from tests.workers.egress.hostile import Calls, connector, head_of, saying
from tests.workers.egress.name_server import NameServer
from tests.workers.egress.proxy_server import PASSWORD, PLACE, USER, RealProxy, Scheme, real_proxy
from tests.workers.servers import ADDRESS, server
from workers.children import ChildPool
from workers.egress import exits as module
from workers.egress import tunnel
from workers.egress.connect import Connector
from workers.egress.exits import EVERY_S, REMEMBER_S, Exits
from workers.egress.http import HttpClient
from workers.egress.tunnel import ProxyFailed
from workers.main import create_broker
from workers.ports import WorkerPorts

HOST = "a.example.com"
HOSTS = {HOST: ADDRESS, "six.example.com": "::1", "inside.example.com": "127.0.0.1", "b.example.com": ADDRESS}
SCHEMES: tuple[Scheme, ...] = ("http", "socks5")
OK = b"HTTP/1.1 200 OK\r\n\r\n"
FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\n\r\n"


@pytest.fixture
def proxy() -> Iterator[RealProxy]:
    with real_proxy() as running:
        yield running


def of(proxies: PoolProxies, clock: Callable[[], float] = time.monotonic) -> tuple[Connector, Exits]:
    exits = Exits("net", proxies, clock)
    return connector(hosts=HOSTS, exits=exits), exits


def greeting(connection: socket.socket) -> None:
    """A server that speaks first."""
    connection.sendall(b"hello")
    connection.recv(1)


def failure(connecting: Connector, host: str = HOST, port: int = 443, seconds: float = 5.0) -> JobFailure:
    with pytest.raises(JobFailure) as failed:
        connecting.connect(host, port, deadline=time.monotonic() + seconds)
    return failed.value


def silent(connection: socket.socket) -> None:
    """A server that says nothing until its client leaves."""
    while connection.recv(4096):
        pass


def closed_port() -> int:
    """A port of the server's address where nobody listens."""
    with socket.create_server((ADDRESS, 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def client(connecting: Connector) -> HttpClient:
    return HttpClient(connecting, None, on_any_port(HOSTS), agent="test")  # type: ignore[arg-type]


def status(http: HttpClient, port: int, method: str = "GET", seconds: float = 5.0) -> int:
    url = PublicUrl("http", HOST, port, "/")
    return http.exchange(method, url, limit_bytes=1_000, deadline=time.monotonic() + seconds).status


# What a proxy is given.


@each("scheme", SCHEMES)
def test_the_proxy_is_given_the_judged_address(proxy: RealProxy, scheme: Scheme) -> None:
    """Never a name. Nothing leaves without it, no byte of the host is lost, and the connection knows where it leads."""
    connecting, _ = of(proxy.always(scheme))
    proxy.asked.clear()
    with (
        server(greeting) as port,
        Calls() as calls,
        connecting.connect(HOST, port, deadline=time.monotonic() + 5) as connected,
    ):
        assert connected.recv(100) == b"hello"
        assert connected.target == (ADDRESS, port)
    assert proxy.asked == [(ADDRESS, port)]
    assert set(calls) == {(PLACE, proxy.port)}


@each("scheme", SCHEMES)
def test_ipv6_through_a_proxy(proxy: RealProxy, scheme: Scheme) -> None:
    """In each protocol's form."""
    guarded = connector(hosts=HOSTS, allow="::1/128", exits=Exits("net", proxy.always(scheme)))
    proxy.asked.clear()
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listening:
        port = listening.getsockname()[1]
        guarded.connect("six.example.com", port, deadline=time.monotonic() + 5).close()
        assert proxy.asked == [("::1", port)]


@each(("scheme", "is_always"), product(SCHEMES, (True, False)))
def test_no_proxy_is_asked_for_what_is_not_public(proxy: RealProxy, scheme: Scheme, is_always: bool) -> None:
    """Neither always nor after a refusal: the address is judged here."""
    connecting, _ = of(PoolProxies((proxy.server(scheme),), is_always))
    before = proxy.connections
    assert isinstance(failure(connecting, "inside.example.com"), BlockedAddress)
    assert proxy.connections == before


def test_a_name_that_changes_is_looked_at_once_through_a_proxy(proxy: RealProxy) -> None:
    """Also when the second exit is tried for it."""
    with NameServer() as names:
        names.addresses(HOST, ADDRESS, ttl=0)
        guarded = connector(server=names.server, exits=Exits("net", proxy.after_refusal("http")))
        assert failure(guarded, port=closed_port()).reason == "connection_refused"
        assert names.asked(HOST).count("A") == 1
        assert len(proxy.asked) == 1


# What failures mean.


@each(
    ("scheme", "answer", "reason"),
    [
        *(("http", code, "connection_refused") for code in (500, 502, 503)),
        ("http", 504, "timeout"),
        *(("http", code, None) for code in (400, 402, 403, 407, 429, 302)),
        *(("socks5", reply, "connection_refused") for reply in (1, 3, 4, 5)),
        ("socks5", 6, "timeout"),
        *(("socks5", reply, None) for reply in (2, 7, 8, 99)),
    ],
)
def test_whose_fault_it_is(proxy: RealProxy, scheme: Scheme, answer: int, reason: str | None) -> None:
    """The host's, which the caller named, when the proxy could not reach it. Otherwise ours: the call may be repeated, free."""
    connecting, exits = of(proxy.always(scheme))
    proxy.answer = answer
    failed = failure(connecting)
    assert (type(failed), failed.reason) == (UpstreamFailed if reason else Unavailable, reason)
    assert failed.retryable
    assert PLACE not in failed.detail
    is_broken = (scheme, answer) == ("http", 407)
    assert bool(exits.working(0)) is not is_broken, "what depends on the host breaks no proxy"


@each("scheme", SCHEMES)
def test_wrong_credentials_break_a_proxy_until_they_are_taken(
    proxy: RealProxy, scheme: Scheme, caplog: pytest.LogCaptureFixture
) -> None:
    """The pool is refused, uncharged, until the proxy takes them. No log line shows them."""
    now = 0.0
    connecting, exits = of(proxy.always(scheme), lambda: now)
    assert exits.unavailable_reason() == ""
    caplog.clear()
    proxy.credentials = (USER, "another")
    with server(greeting) as port:
        assert isinstance(failure(connecting, port=port), Unavailable)
        assert exits.unavailable_reason() == "no_proxy"
        connections = proxy.connections
        assert isinstance(failure(connecting, port=port), Unavailable)
        assert proxy.connections == connections, "a broken proxy is not asked"
        now += EVERY_S
        assert exits.unavailable_reason() == "no_proxy"
        proxy.credentials = (USER, PASSWORD)
        now += EVERY_S
        assert exits.unavailable_reason() == ""
        connecting.connect(HOST, port, deadline=time.monotonic() + 5).close()
    (broken, works) = [record.getMessage() for record in caplog.records]
    assert broken.startswith(f"the proxy {scheme}://{PLACE}:{proxy.port} of the pool net does not work: it refuses our")
    assert works.endswith("works again")
    assert USER not in caplog.text.replace("of the pool", "")
    assert PASSWORD not in caplog.text
    proxy.credentials = (USER, PASSWORD)


def answering(*parts: bytes) -> Callable[[socket.socket], None]:
    """A proxy that says one part for each part that it reads."""

    def answer(connection: socket.socket) -> None:
        for part in parts:
            connection.recv(4096)
            connection.sendall(part)

    return answer


@each(
    ("scheme", "answer", "is_broken"),
    [
        ("http", lambda connection: None, False),
        ("http", answering(b""), False),
        ("http", answering(b"SSH-2.0-OpenSSH\r\n\r\n"), False),
        ("http", saying(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5_000), False),
        ("socks5", lambda connection: None, True),
        ("socks5", answering(b"HTTP/1.1 400 Bad Request\r\n\r\n"), True),
        ("socks5", answering(b"\x05\x01"), True),
        ("socks5", answering(b"\x05\xff"), True),
        ("socks5", answering(b"\x05\x02", b"\x01\x01"), True),
        ("socks5", answering(b"\x05\x00", b""), False),
        ("socks5", answering(b"\x05\x00", b"\x04\x00\x00\x01"), False),
    ],
)
def test_proxies_that_are_none(scheme: Scheme, answer: Any, is_broken: bool) -> None:
    """Each ends at once. One is broken where that cannot depend on the host."""
    with server(answer, address=PLACE) as port, pytest.raises(ProxyFailed) as failed:
        tunnel.open_tunnel(
            ProxyServer(scheme, PLACE, port, USER, PASSWORD), ADDRESS, 443, deadline=time.monotonic() + 5
        )
    assert failed.value.is_broken is is_broken


def test_a_callers_slow_name_breaks_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy counts as broken only if it had its time."""
    for fair_s, is_broken in ((60.0, False), (0.0, True)):
        monkeypatch.setattr(tunnel, "FAIR_S", fair_s)
        with server(silent, address=PLACE) as port, pytest.raises(ProxyFailed) as failed:
            tunnel.open_tunnel(ProxyServer("socks5", PLACE, port), ADDRESS, 443, deadline=time.monotonic() + 0.2)
        assert failed.value.is_broken is is_broken


def test_proxies_are_looked_at_before_the_first_call() -> None:
    """One that nobody listens for is found without a caller; where connections may leave directly, the pool is served."""
    with server(greeting, address=PLACE) as port:
        pass
    servers = (ProxyServer("http", PLACE, port), ProxyServer("socks5", PLACE, port))
    for is_always, reason in ((True, "no_proxy"), (False, "")):
        _, exits = of(PoolProxies(servers, is_always))
        exits.unavailable_reason()
        assert exits.unavailable_reason() == reason


# Which exit is taken.


def test_the_next_proxy_takes_the_place_of_one_that_fails(proxy: RealProxy) -> None:
    """The site keeps it, and the call is answered."""
    with server(lambda connection: None, address=PLACE) as other, server(greeting) as port:
        connecting, exits = of(PoolProxies((ProxyServer("socks5", PLACE, other), proxy.server("http")), is_always=True))
        connecting.connect(HOST, port, deadline=time.monotonic() + 5).close()
        assert [number for number, _ in exits.working(0)] == [1]
    assert exits.route(HOST).number == 1


def test_a_host_that_does_not_take_our_connection_gets_the_proxys(
    proxy: RealProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is called through the proxy at once for a while, when that was the reason."""
    now = 0.0
    connecting, exits = of(proxy.after_refusal("socks5"), lambda: now)
    with server(greeting) as port:
        connecting.connect(HOST, port, deadline=time.monotonic() + 5).close()
        assert proxy.asked == []
        with monkeypatch.context() as refusing:
            refusing.setattr("workers.egress.connect._directly", _refusing)
            connecting.connect(HOST, port, deadline=time.monotonic() + 5).close()
        for _ in range(2):
            connecting.connect(HOST, port, deadline=time.monotonic() + 5).close()
        assert proxy.asked == [(ADDRESS, port)] * 3
        connecting.connect("b.example.com", port, deadline=time.monotonic() + 5).close()
        now += REMEMBER_S
        connecting.connect(HOST, port, deadline=time.monotonic() + 5).close()
        assert proxy.asked == [(ADDRESS, port)] * 3
    assert failure(connecting, port=closed_port()).reason == "connection_refused"
    assert exits.route(HOST).number == 0, "a host that is down is not remembered"


def _refusing(*_: object) -> Any:
    raise ConnectionRefusedError


class Picky:
    """A site that answers the first requests with 403, or hangs up, and counts them."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.heads: list[bytes] = []

    def __call__(self, connection: socket.socket) -> None:
        self.heads.append(head_of(connection))
        if answer := (self.answers or [OK]).pop(0):
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)


def test_a_request_that_a_site_refuses_leaves_once_more_through_the_proxy(proxy: RealProxy) -> None:
    """For 403 and 429 with any method, for a connection that ends without an answer with GET, and never twice."""
    http = client(of(proxy.after_refusal("http"))[0])
    for answers, method, told in (
        ((FORBIDDEN, OK, OK), "GET", 200),
        ((FORBIDDEN.replace(b"403", b"429"), OK, OK), "POST", 200),
        ((b"", OK, OK), "GET", 200),
    ):
        http, site = client(of(proxy.after_refusal("http"))[0]), Picky(*answers)
        proxy.asked.clear()
        with server(site) as port:
            assert status(http, port, method) == told
            assert (len(site.heads), len(proxy.asked)) == (2, 1)
            assert status(http, port, method) == told, "the site keeps the exit"
            assert (len(site.heads), len(proxy.asked)) == (3, 2)
    for answers, method, seen in (
        ((b"HTTP/1.1 401 No\r\n\r\n",), "GET", 401),
        ((b"HTTP/1.1 503 No\r\n\r\n",), "GET", 503),
        ((b"",), "POST", None),
    ):
        http, site = client(of(proxy.after_refusal("http"))[0]), Picky(*answers)
        with server(site) as port:
            if seen:
                assert status(http, port, method) == seen
            else:
                with pytest.raises(UpstreamFailed):
                    status(http, port, method)
        assert len(site.heads) == 1


def test_a_site_that_refuses_every_exit_is_answered_with_its_refusal(proxy: RealProxy) -> None:
    """Its page of the first exit, when the second cannot even ask; the next call begins at the first exit again."""
    connecting, exits = of(proxy.after_refusal("http"))
    site = Picky(*[FORBIDDEN] * 4)
    with server(site) as port:
        assert status(client(connecting), port) == 403
        assert (len(site.heads), exits.route(HOST).number) == (2, 0)
        proxy.answer = 403
        assert status(client(connecting), port) == 403
        assert len(site.heads) == 3


def test_sites_that_are_remembered_are_bounded(proxy: RealProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Callers choose them."""
    monkeypatch.setattr(module, "MOST_SITES", 3)
    _, exits = of(proxy.after_refusal("http"))
    for number in range(5):
        assert exits.route(f"s{number}").refused()
    assert [exits.route(f"s{number}").number for number in range(5)] == [0, 0, 1, 1, 1]


def test_two_calls_at_a_time_move_a_site_once(proxy: RealProxy) -> None:
    """Both are repeated by the next exit. After the last one comes the first."""
    servers = (proxy.server("http"), proxy.server("socks5"))
    _, exits = of(PoolProxies(servers, is_always=False))
    first, second = exits.route(HOST), exits.route(HOST)
    assert first.refused()
    assert second.refused()
    assert (first.number, second.number, exits.route(HOST).number) == (1, 1, 1)
    assert first.refused()
    assert first.refused()
    assert (first.number, exits.route(HOST).number) == (0, 0)
    assert not Exits().route(HOST).refused()


def test_a_failure_of_one_host_is_one_line_of_the_log(proxy: RealProxy, caplog: pytest.LogCaptureFixture) -> None:
    """However many hosts callers name."""
    caplog.set_level(logging.WARNING)
    connecting, _ = of(proxy.always("http"))
    proxy.answer = 403
    for _ in range(3):
        failure(connecting)
    assert [record.getMessage().partition(" of ")[2] for record in caplog.records] == [
        "the pool net failed for a host: it answers CONNECT with status 403"
    ]


def test_connections_and_repeated_requests_are_counted(
    proxy: RealProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By pool and result."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    counting = Metrics()
    counting.start(str(tmp_path))
    for place in ("connect", "exits"):
        monkeypatch.setattr(f"workers.egress.{place}.metrics", counting)
    connecting, _ = of(proxy.after_refusal("http"))
    with server(Picky(FORBIDDEN)) as port:
        assert status(client(connecting), port) == 200
    for answer in (502, 403):
        proxy.answer = answer
        failure(of(proxy.always("http"))[0])
    counted = {
        (sample.name, *sample.labels.values()): sample.value
        for family in CountedSeries(tmp_path).read()
        for sample in family.samples
        if "egress" in sample.name
    }
    assert counted == {
        ("coinslot_egress_rerouted_total", "net"): 1,
        **{("coinslot_egress_proxied_total", "net", each): 1 for each in ("connected", "unreachable", "failed")},
    }


def test_a_worker_with_a_wrong_file_ends_with_a_sentence(
    clean_redis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it fetches anything."""
    (tmp_path / "key").write_text("11" * 32)
    (tmp_path / "proxies").write_text('[net]\nuse = "often"')
    for name, value in {
        **dict.fromkeys(("LEDGER_URL", "QUEUE_URL"), clean_redis),
        "KEY_FILE": str(tmp_path / "key"),
        "EGRESS_PROXY_FILE": str(tmp_path / "proxies"),
    }.items():
        monkeypatch.setenv(f"COINSLOT_{name}", value)
    with pytest.raises(SystemExit, match=r"^coinslot worker: COINSLOT_EGRESS_PROXY_FILE: .* needs use = "):
        create_broker()


@each(("use", "has_route"), [("always", False), ("after_refusal", True)])
def test_a_pool_that_leaves_by_proxies_alone_needs_no_route(
    proxy: RealProxy, tmp_path: Path, use: str, has_route: bool
) -> None:
    """Of its own. Other pools need theirs, and have no proxies."""
    ports = WorkerPorts(Settings(egress_proxy_file=proxy.file(tmp_path, "net", "http", use)), ChildPool())
    assert ports.live_ports(Pool.NET) == (ports.exits["net"], ports.egress_health if has_route else ports.dns_health)
    assert ports.live_ports(Pool.WHOIS) == (ports.egress_health,)
