"""WHOIS over real sockets: servers that answer, stall, lie, flood and lead inside."""

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compose.sandbox.upstream_server import Upstreams
from jobs.ports import Context
from jobs.whois.endpoint import ENDPOINT
from shared.outcome import BlockedAddress, Failed, Ok, UpstreamFailed
from shared.settings.service import PREFIX, InvalidSetting, Settings
from tests.time_limits import SLACK_S
from tests.workers.servers import ADDRESS, server
from workers.adapters import whois as adapter
from workers.adapters.whois import WhoisClient
from workers.children import ChildPool
from workers.execute import execute
from workers.ports import WorkerPorts

IANA, REGISTRY, REGISTRAR = "whois.iana.example.net", "whois.registry.example.net", "whois.registrar.example.net"
RECORD = "Domain Name: {}\nRegistrar: R\nCreation Date: 2001-01-01\nRegistry Expiry Date: 2027-01-01\n"

Behaviour = Callable[[socket.socket, str], None]


class Server(contextlib.ExitStack):
    """Every connection is a behaviour's."""

    def __init__(self, behaviour: Behaviour, address: str = ADDRESS) -> None:
        super().__init__()
        self._behaviour = behaviour
        self.queries: list[str] = []
        self.connections = 0
        self.port = self.enter_context(server(self._serve, address=address))

    def _serve(self, connected: socket.socket) -> None:
        self.connections += 1
        line = connected.makefile("rb").readline()
        self.queries.append(line.decode("latin-1"))
        self._behaviour(connected, line.decode("latin-1").strip())


def saying(text: str | bytes | Callable[[str], str]) -> Behaviour:
    """Answer and close."""

    def behave(connected: socket.socket, query: str) -> None:
        answer = text(query) if callable(text) else text
        connected.sendall(answer.encode() if isinstance(answer, str) else answer)

    return behave


Start = Callable[..., Any]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """IANA's server and another, and the world that leads to them. No RDAP server is known unless a test names one."""
    servers: list[Server] = []

    def begin(registry: Behaviour, *, iana: Behaviour | None = None, more_hosts: str = "", rdap: str = "") -> Any:
        root = Server(iana or saying(f"refer: {REGISTRY}\n"))
        other = Server(registry)
        servers.extend((root, other))
        names = ",".join(f"{name}={ADDRESS}" for name in (IANA, REGISTRY, REGISTRAR)) + more_hosts
        bootstrap = tmp_path / "rdap.json"
        services = [[["com"], [rdap]]] if rdap else []
        bootstrap.write_text(json.dumps({"publication": "2026-11-20T00:00:00Z", "services": services}))
        settings = Settings(
            rdap_bootstrap=str(bootstrap),
            hosts=names,
            egress_allow=f"{ADDRESS}/32",
            dns_server=f"{ADDRESS}:9",
            whois_iana=f"{IANA}:{root.port}",
            whois_port=other.port,
            now="2026-11-21T15:00:00Z",
        )
        ports = WorkerPorts(settings, ChildPool())
        return ports, root, other

    yield begin
    for each in servers:
        each.close()


def call(ports: WorkerPorts, domain: str) -> Any:
    outcome = execute(ENDPOINT, json.dumps({"domain": domain}).encode(), Context("0x0", ports))
    return json.loads(outcome.body) if isinstance(outcome, Ok) else outcome


def reason(ports: WorkerPorts, domain: str) -> str | None:
    outcome = call(ports, domain)
    assert isinstance(outcome, Failed), outcome
    return outcome.reason


def test_a_call(start: Start) -> None:
    """IANA for the top-level domain, the registry for the domain; each query is one line."""
    ports, root, registry = start(saying(lambda query: RECORD.format(query.split()[-1])))
    given = call(ports, "www.a.com")
    assert isinstance(given, dict)
    assert (given["domain"], given["registrar"], given["daysUntilExpiry"]) == ("a.com", "R", 40)
    assert (root.queries, registry.queries) == (["com\r\n"], ["domain a.com\r\n"])
    assert given["serversQueried"] == [IANA, REGISTRY]
    assert given["ageSeconds"] == 0


def test_what_was_asked_a_moment_ago_is_not_asked_again(start: Start) -> None:
    """Not of the registry, and not of IANA for another domain either."""
    ports, root, registry = start(saying(lambda query: RECORD.format(query.split()[-1])))
    assert call(ports, "a.com") == call(ports, "www.a.com")
    call(ports, "b.com")
    assert (len(root.queries), len(registry.queries)) == (1, 2)


def test_the_age_of_an_answer(start: Start) -> None:
    """It is reported, and has a limit."""
    ports, _, registry = start(saying(RECORD.format("a.com")))
    now = [100.0]
    client = WhoisClient(
        ports.connector, root=ports.settings.whois_iana, port=ports.settings.whois_port, clock=lambda: now[0]
    )
    deadline = time.monotonic() + 60
    assert client.ask(REGISTRY, "a.com", deadline=deadline).age_s == 0
    now[0] += 179
    assert client.ask(REGISTRY, "a.com", deadline=deadline).age_s == 179
    now[0] += 2
    assert client.ask(REGISTRY, "a.com", deadline=deadline).age_s == 0
    assert len(registry.queries) == 2


def _silence(connected: socket.socket, query: str) -> None:
    connected.recv(1)


def _drip(connected: socket.socket, query: str) -> None:
    while True:
        connected.sendall(b"a")
        time.sleep(0.05)


def _drip_lines(connected: socket.socket, query: str) -> None:
    connected.sendall(RECORD.format("a.com").encode())
    while True:
        connected.sendall(b"\n")
        time.sleep(0.05)


@pytest.mark.parametrize("behaviour", [_silence, _drip, _drip_lines])
def test_a_connection_has_its_time(start: Start, monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour) -> None:
    """For everything together: bytes that drip do not lengthen it."""
    monkeypatch.setattr(adapter, "CONNECTION_S", 0.4)
    ports, _, _ = start(behaviour)
    began = time.monotonic()
    assert reason(ports, "a.com") == "timeout"
    assert 0.3 < time.monotonic() - began < SLACK_S
    ports, _, _ = start(saying(""), iana=behaviour)
    assert reason(ports, "a.com") == "timeout"


def test_an_answer_of_ten_megabytes(start: Start) -> None:
    """Is read up to 64 KB, and the connection closed."""
    sent = [0]

    def flood(connected: socket.socket, query: str) -> None:
        connected.sendall(RECORD.format("a.com").encode())
        for _ in range(160):
            connected.sendall(b"% " + b"x" * 65_533 + b"\n")
            sent[0] += 65_536

    ports, _, _ = start(flood)
    given = call(ports, "a.com")
    assert isinstance(given, dict)
    assert (given["registered"], given["registrar"], given["rawTruncated"]) == (True, "R", True)
    assert len(given["raw"].encode()) <= 65_536
    assert sent[0] < 10 * 1024 * 1024


def test_nothing_at_all(start: Start) -> None:
    """An empty answer is none."""
    ports, _, _ = start(saying("\r\n"))
    assert reason(ports, "a.com") == "bad_content"


def test_nobody_listens(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection, and a name for which no name server answers."""
    monkeypatch.setattr(adapter, "CONNECTION_S", 0.5)
    ports, _, registry = start(saying(""))
    registry.close()
    assert reason(ports, "a.com") == "connection_refused"
    ports, _, _ = start(saying(""), iana=saying("refer: whois.nowhere.example.org\n"))
    assert reason(ports, "a.com") in ("dns_failure", "timeout")


def test_a_server_that_resets(start: Start) -> None:
    """After all has been said it has said it; before that it has not."""

    def reset(connected: socket.socket, query: str) -> None:
        if query.endswith("b.com"):
            connected.sendall(RECORD.format("b.com").encode())
            time.sleep(0.1)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")

    ports, _, _ = start(reset)
    assert reason(ports, "a.com") == "connection_refused"
    given = call(ports, "b.com")
    assert isinstance(given, dict)
    assert given["registered"] is True


def test_a_throttled_registry_is_left_alone(start: Start) -> None:
    """After three refusals nothing is sent any more, and the caller learns why."""
    ports, _, registry = start(saying("Query rate limit exceeded. Try again later.\n"))
    for name in ("a.com", "b.com", "c.com", "d.com", "e.com"):
        assert reason(ports, name) == "rate_limited"
    assert len(registry.queries) == 3


def test_a_refusal_is_not_kept(start: Start) -> None:
    """The next call asks again."""
    answers = iter(["Quota exceeded\n", RECORD.format("a.com")])
    ports, _, registry = start(saying(lambda query: next(answers)))
    assert reason(ports, "a.com") == "rate_limited"
    assert isinstance(call(ports, "a.com"), dict)
    assert len(registry.queries) == 2


@pytest.mark.parametrize("refer", ["127.0.0.1", "localhost", "inside.example.org", "2130706433", "[::1]", "0x7f.1"])
def test_a_referral_inside(start: Start, refer: str) -> None:
    """From IANA or from a registry: the canary that listens there sees nobody."""
    inside = ",inside.example.org=127.0.0.1"
    ports, _, registry = start(saying("x\n"), iana=saying(f"refer: {refer}\n"), more_hosts=inside)
    canary = Server(saying(RECORD.format("a.com")), "127.0.0.1")
    client = WhoisClient(ports.connector, root=ports.settings.whois_iana, port=canary.port)
    ports.__dict__["whois"] = client
    outcome = call(ports, "a.com")
    assert isinstance(outcome, Failed)
    assert outcome.code == "blocked_address" or outcome.reason == "no_whois_server"

    thin = f"Domain Name: A.COM\nRegistrar WHOIS Server: {refer}\nName Server: ns1.a.com\n"
    ports, _, registry = start(saying(thin), more_hosts=inside)
    given = call(ports, "a.com")
    assert isinstance(given, dict)
    assert given["serversQueried"] == [IANA, REGISTRY]
    assert len(registry.queries) == 1
    canary.close()
    assert canary.connections == 0


def test_a_registrar_on_the_way(start: Start) -> None:
    """Asked on the same port, and only when something is missing."""

    def both(query: str) -> str:
        if query == "domain a.com":
            return f"Domain Name: A.COM\nRegistrar WHOIS Server: {REGISTRAR}\nName Server: ns1.a.com\n"
        return RECORD.format("a.com") + f"Registrar WHOIS Server: {REGISTRY}\n"

    ports, _, registry = start(saying(both))
    given = call(ports, "a.com")
    assert isinstance(given, dict)
    assert registry.queries == ["domain a.com\r\n", "a.com\r\n"]
    assert (given["registrar"], given["serversQueried"]) == ("R", [IANA, REGISTRY, REGISTRAR])


def test_a_query_of_two_lines_is_never_sent(start: Start) -> None:
    """The handler's domains have none; the adapter does not rely on it."""
    ports, _, registry = start(saying("x"))
    for query in ("a.com\r\nb.com", "a.com\n", "a.com\x00", "ä.com", "", "a" * 400):
        with pytest.raises(ValueError, match="one line"):
            ports.whois.ask(REGISTRY, query, deadline=time.monotonic() + 5)
    assert registry.connections == 0


def test_the_policy_holds_for_the_adapter_too(start: Start) -> None:
    """Whatever a name leads to."""
    ports, _, registry = start(saying("x"), more_hosts=",inside.example.org=10.0.0.1")
    with pytest.raises(BlockedAddress):
        ports.whois.ask("inside.example.org", "a.com", deadline=time.monotonic() + 5)
    with pytest.raises(UpstreamFailed):
        ports.whois.ask(REGISTRY, "a.com", deadline=time.monotonic() - 1)
    assert registry.connections == 0


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254"])
def test_an_rdap_server_inside(start: Start, address: str) -> None:
    """A name of the bootstrap file that leads inside is not called, and WHOIS's failure stays."""
    ports, _, _ = start(
        saying("Access denied\n"), more_hosts=f",rdap.example.org={address}", rdap="https://rdap.example.org/"
    )
    assert reason(ports, "a.com") == "rate_limited"
    with pytest.raises(BlockedAddress):
        ports.rdap.ask("a.com", deadline=time.monotonic() + 5)


def test_a_bootstrap_file_that_is_wrong_stops_the_worker(tmp_path: Path) -> None:
    """At its start: also a file that names what may never be called."""
    for text in ("x", "{}", '{"publication": "", "services": [[["com"], ["https://127.0.0.1/"]]]}'):
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises(InvalidSetting, match="COINSLOT_RDAP_BOOTSTRAP"):
            WorkerPorts(Settings(rdap_bootstrap=str(tmp_path / "wrong.json")), ChildPool())


@pytest.fixture(scope="module")
def sandbox(upstreams: Upstreams) -> WorkerPorts:
    """As a worker of the sandbox has it: with servers of both protocols, and an authority."""
    settings = {PREFIX + name: value for name, value in upstreams.settings.items()}
    return WorkerPorts(Settings.from_env({**settings, f"{PREFIX}NOW": "2026-11-21T15:00:00Z"}), ChildPool())


@pytest.mark.parametrize(
    ("domain", "reason", "retryable"),
    [
        ("example.dev", "no_whois_server", False),
        ("foo.nosuchtld", "no_whois_server", False),
        ("example.info", "rate_limited", True),
        ("busy.app", "rate_limited", True),
        ("elsewhere.app", "bad_content", True),
        ("lost.app", "bad_content", True),
    ],
)
def test_what_fails(sandbox: WorkerPorts, domain: str, reason: str, *, retryable: bool) -> None:
    """A top-level domain without a server, one that does not exist, servers that have had enough, a redirect to a host that is
    not in the bootstrap file, and a 404 of something else than RDAP."""
    outcome = call(sandbox, domain)
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.reason, outcome.retryable) == ("upstream_failed", reason, retryable)


def test_rdap(sandbox: WorkerPorts) -> None:
    """Over TLS with the sandbox's authority: where IANA names no WHOIS server, and where that server refuses."""
    found = call(sandbox, "www.example.app")
    assert (found["source"], found["registered"], found["registrar"]) == ("rdap", True, "Example Registrar, Inc.")
    assert (found["daysUntilExpiry"], found["nameServers"]) == (161, ["a.iana-servers.net", "b.iana-servers.net"])
    assert (found["whoisServer"], found["serversQueried"][1:]) == ("", ["rdap.registry.example.net"])
    assert json.loads(found["raw"])["objectClassName"] == "domain"
    busy = call(sandbox, "example.biz")
    assert (busy["source"], busy["registered"], busy["whoisServer"]) == ("rdap", True, "whois.busy.example.net")
    free, bare, reserved = (call(sandbox, f"{name}.app") for name in ("free", "bare", "reserved"))
    assert (free["registered"], free["registeredReason"]) == (False, None)
    assert (bare["registered"], bare["raw"]) == (False, "")
    assert (reserved["registered"], reserved["registeredReason"]) == (None, "reserved")


def test_a_redirect_to_a_known_server_is_followed(sandbox: WorkerPorts) -> None:
    """Here to the record of another name, which proves nothing."""
    moved = call(sandbox, "moved.app")
    assert (moved["registered"], moved["registeredReason"]) == (None, "unclear")
    assert json.loads(moved["raw"])["ldhName"] == "example.app"
