"""x402-discover over real connections and real children: the sandbox's shops, and servers that do their worst."""

import contextlib
import gzip
import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from jobs.ports import Context
from jobs.x402_discover import fetching, survey
from jobs.x402_discover.endpoint import Request, run
from shared.outcome import BlockedAddress, UpstreamFailed
from shared.settings.service import Settings
from tests.sites import FREE_PORTS, decoded
from tests.workers.egress.hostile import Canary, head_of
from tests.workers.memory import growth_below
from tests.workers.servers import server as server_of
from workers.children import ChildPool
from workers.ports import WorkerPorts

ADDRESS = "127.77.61.2"
PORT = 8080
SITE = f"http://shop.example.com:{PORT}"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
OFFER = {"scheme": "exact", "network": "eip155:8453", "asset": USDC, "payTo": "0xPayee", "amount": "5000"}

Answer = Callable[[socket.socket], None]


class Server(contextlib.ExitStack):
    """Answers by path; everything else is 404. Keeps the request lines, and all that came."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer | bytes] = {}
        self.asked: list[str] = []
        self.received = b""
        self.enter_context(server_of(self._answer, address=ADDRESS, port=PORT))

    def _answer(self, connection: socket.socket) -> None:
        head = head_of(connection)
        if not head:
            return
        self.received += head
        method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
        self.asked.append(f"{method} {path}")
        answer = self.answers.get(f"{method} {path}", response(b"{}", 404))
        if callable(answer):
            answer(connection)
        else:
            connection.sendall(answer)


def response(body: Any = b"", status: int = 200, **headers: str) -> bytes:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "text/html" if raw.startswith(b"<") else "application/json"
    lines = {
        "Content-Type": kind,
        "Content-Length": str(len(raw)),
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + raw


def challenge(amount: str = "5000") -> bytes:
    return response({"x402Version": 2, "accepts": [{**OFFER, "amount": amount}]}, 402)


def hang(connection: socket.socket) -> None:
    connection.recv(1)


def trickle(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
    while True:
        connection.sendall(b" ")
        time.sleep(0.05)


@pytest.fixture
def server() -> Iterator[Server]:
    """A shop."""
    server = Server()
    yield server
    server.close()


@pytest.fixture
def canary() -> Iterator[Canary]:
    """On a port of 127.0.0.1 that URLs may name."""
    with Canary(("127.0.0.1", 0)) as listening:
        yield listening
        assert listening.calls == 0


@pytest.fixture
def ports(net_children: ChildPool) -> WorkerPorts:
    """The shop is where it says, and rebinding.example.com is at home."""
    names = f"shop.example.com={ADDRESS},api.example.com={ADDRESS},rebinding.example.com=127.0.0.1"
    made = WorkerPorts(Settings(hosts=names, egress_allow=f"{ADDRESS}/32"), net_children)
    made.site = replace(made.site, ports=FREE_PORTS)
    return made


def report(ports: WorkerPorts, url: str = SITE + "/", **more: Any) -> dict[str, Any]:
    result = run(decoded(Request, {"url": url, **more}, ports.site), Context(payer="0x1", ports=ports))
    answer: dict[str, Any] = json.loads(msgspec.json.encode(result))
    return answer


def errors(answer: dict[str, Any]) -> dict[str, Any]:
    return {catalog["url"].removeprefix(SITE): catalog["error"] for catalog in answer["catalogs"]}


def test_redirects(ports: WorkerPorts, server: Server) -> None:
    """Five hops, and the report is about the last."""
    server.answers = {f"GET /{n}": response(b"", 302, Location=f"/{n + 1}") for n in range(5)} | {"GET /5": challenge()}
    answer = report(ports, f"{SITE}/0")
    assert (answer["finalUrl"], answer["endpoints"][0]["url"]) == (f"{SITE}/5", f"{SITE}/5")
    assert len(server.asked) == fetching.MAX_REQUESTS


def test_nothing_leads_to_this_machine(ports: WorkerPorts, server: Server, canary: Canary) -> None:
    """Links, catalogs, redirects and names that lead to loopback: the canary sees nobody."""
    (port,) = canary.ports
    home = f"http://127.0.0.1:{port}"
    page = f"""<link rel=x402 href="{home}/bazaar.json"><a href="http://rebinding.example.com:{port}/bazaar.json">x</a>
    <a href="http://localhost:{port}/.well-known/x402">x</a><meta name=x402 content="http://[::1]:{port}/x">"""
    server.answers = {
        "GET /": response(page.encode()),
        "GET /.well-known/x402": response(b"", 302, Location=f"{home}/x402"),
        "GET /.well-known/x402.json": response(b"", 307, Location=f"http://rebinding.example.com:{port}/x402"),
        "GET /bazaar.json": response({"x402Version": 2, "items": [{"resource": f"{home}/paid", "accepts": [OFFER]}]}),
        "GET /openapi.json": response(
            {"openapi": "3.1.0", "servers": [{"url": home}], "paths": {"/a": {"get": {"x-price": "$1"}}}}
        ),
    }
    answer = report(ports)
    assert errors(answer)["/.well-known/x402"] == "blocked_address"
    assert errors(answer)["/.well-known/x402.json"] == "blocked_address"
    assert errors(answer)[f"http://rebinding.example.com:{port}/bazaar.json"] == "blocked_address"
    assert [(call["url"], call["crossOrigin"]) for call in answer["endpoints"]] == [
        (f"{home}/paid", True),
        (f"{home}/a", True),
    ]
    for location in (f"{home}/", f"http://rebinding.example.com:{port}/", f"//127.0.0.1:{port}/"):
        server.answers["GET /moved"] = response(b"", 302, Location=location)
        with pytest.raises(BlockedAddress):
            report(ports, f"{SITE}/moved")
    with pytest.raises(BlockedAddress):
        report(ports, f"http://rebinding.example.com:{port}/")


def test_nothing_is_ever_paid(ports: WorkerPorts, server: Server) -> None:
    """No request carries anything like a payment, and only a call that takes no GET is posted to."""
    server.answers = {"GET /x": response(b"", 405, Allow="POST"), "POST /x": challenge()}
    report(ports, f"{SITE}/x")
    assert [asked for asked in server.asked if not asked.startswith("GET")] == ["POST /x"]
    assert b"payment" not in server.received.lower()


def test_slow_catalogs(ports: WorkerPorts, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its time, all together have theirs, and what answered is reported."""
    monkeypatch.setattr(survey, "CATALOG_LIMIT_S", 0.4)
    server.answers = {"GET /": challenge(), "GET /.well-known/x402": hang, "GET /bazaar.json": trickle}
    server.answers["GET /openapi.json"] = response({"openapi": "3.1.0", "paths": {"/a": {"get": {"x-price": "$1"}}}})
    started = time.monotonic()
    answer = report(ports)
    assert time.monotonic() - started < 5
    assert [call["source"] for call in answer["endpoints"]] == ["challenge", "openapi"]
    assert (errors(answer)["/.well-known/x402"], errors(answer)["/bazaar.json"]) == ("timeout", "timeout")


def test_the_deadline_of_a_report(ports: WorkerPorts, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time is over, no place is asked for any more."""
    monkeypatch.setattr(fetching, "LIMIT_S", 2.4)
    server.answers = {"GET /": challenge(), "GET /.well-known/x402": trickle}
    started = time.monotonic()
    answer = report(ports)
    assert time.monotonic() - started < 5
    assert len(answer["endpoints"]) == 1
    assert server.asked == ["GET /", "GET /.well-known/x402"]
    assert any("few requests" in text for text in answer["warnings"])


def test_a_target_that_hangs(ports: WorkerPorts, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure with its reason, unless a catalog says something."""
    monkeypatch.setattr(survey, "TARGET_LIMIT_S", 0.4)
    server.answers = {"GET /": hang}
    with pytest.raises(UpstreamFailed) as caught:
        report(ports)
    assert caught.value.reason == "timeout"
    server.answers["GET /.well-known/x402"] = response({"version": 1, "resources": ["/a"]})
    answer = report(ports)
    assert (answer["status"], len(answer["endpoints"])) == (None, 1)


def test_nobody_there(ports: WorkerPorts) -> None:
    """Nothing listens."""
    with pytest.raises(UpstreamFailed) as caught:
        report(ports)
    assert caught.value.reason == "connection_refused"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (response(b" " * 1_100_000), "too_large"),
        (response(gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"), "too_large"),
        (response(gzip.compress(b" " * 900_000), Content_Encoding="gzip"), "bad_content"),
        (response(b"x", Content_Encoding="br"), "bad_content"),
        (b"garbage\r\n\r\n", "bad_content"),
        (response(b"[" * 900_000), "bad_content"),
        (response(b"<" * 900_000), "bad_content"),
        (response(b"\xff\xfe" * 100_000), "bad_content"),
        (response(b"{}", 500), "http_status"),
        (response(b"[]")[:-1], "bad_content"),
    ],
    ids=["large", "bomb", "spaces", "brotli", "no-http", "deep", "angles", "bytes", "500", "cut off"],
)
def test_broken_catalogs(ports: WorkerPorts, server: Server, answer: Answer | bytes, error: str) -> None:
    """They are told, and the rest of the report stands."""
    server.answers = {"GET /": challenge(), "GET /.well-known/x402": answer}
    result = report(ports)
    assert len(result["endpoints"]) == 1
    assert errors(result)["/.well-known/x402"] == error
    assert any(f"{SITE}/.well-known/x402" in text for text in result["warnings"])


def test_a_catalog_of_ten_thousand(ports: WorkerPorts, server: Server) -> None:
    """Through a real child: all counted, five hundred shown."""
    items = [{"resource": f"/{number}", "accepts": [{"amount": "1", "payTo": "p"}]} for number in range(10_000)]
    server.answers = {"GET /bazaar.json": response({"x402Version": 2, "items": items})}
    answer = report(ports, limit=500)
    assert (answer["endpointCount"], len(answer["endpoints"]), answer["truncated"]) == (10_000, 500, True)


def test_documents_are_read_in_the_child(ports: WorkerPorts, server: Server) -> None:
    """As large as they may be, deep, wide or compressed: the worker that fetches them stays small."""
    bombs = {
        "GET /.well-known/x402": response(gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"),
        "GET /bazaar.json": response(b"[" + b"{}," * 340_000 + b"{}]"),
        "GET /openapi.json": response(b"[" * 1_000_000),
    }
    server.answers = {"GET /": challenge(), **bombs}
    with growth_below(100):
        for _ in range(3):
            answer = report(ports)
    assert len(answer["endpoints"]) == 1
    assert set(bombs) <= set(server.asked)


def test_a_document_that_keeps_its_child_too_long(
    ports: WorkerPorts, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child is killed, the report says so, and the next one is read."""
    server.answers = {"GET /": challenge(), "GET /bazaar.json": response(b"[" + b"{}," * 250_000 + b"{}]")}
    with monkeypatch.context() as patched:
        patched.setattr(survey, "READING_LIMIT_S", 0.05)
        assert errors(report(ports))["/bazaar.json"] == "bad_content"
    answer = report(ports)
    assert (len(answer["endpoints"]), errors(answer)["/bazaar.json"]) == (1, None)


def test_a_call_on_another_host_of_the_site(ports: WorkerPorts, server: Server) -> None:
    """A link to the same registrable domain is followed."""
    link = f"<link rel=x402 href='http://api.example.com:{PORT}/catalog'>".encode()
    server.answers = {"GET /": response(link), "GET /catalog": response({"version": 1, "resources": ["/x"]})}
    answer = report(ports)
    assert [(call["url"], call["crossOrigin"]) for call in answer["endpoints"]] == [
        (f"http://api.example.com:{PORT}/x", True)
    ]
