"""The guarded HTTP client against real servers: redirects, codings, lies, endless answers, and certificates."""

import contextlib
import datetime
import gzip
import resource
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from compose.sandbox.upstreams.authority import Authority, Identity
from jobs.hosts import PublicUrl, public_url
from jobs.ports import Page
from jobs.site import Site
from shared.outcome import BlockedAddress, JobFailure, UpstreamFailed
from shared.settings.service import Settings
from tests.sites import FREE_PORTS
from tests.time_limits import SLACK_S, patience
from tests.workers.egress.raw_server import Server, response, serving
from tests.workers.servers import ADDRESS
from workers.children import ChildPool
from workers.egress.deadline import left_s
from workers.egress.http import HttpClient
from workers.ports import WorkerPorts

LIMIT = 100_000
SOON_S = 0.4
SITE = Site(own=(), ports=FREE_PORTS)
"""A redirect may go to the ports of the test."""


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def client(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> HttpClient:
    """As a worker makes it; a.example.com is the server, inside.example.com what must not be reached."""
    settings = Settings(
        hosts=f"a.example.com={ADDRESS},b.example.com={ADDRESS},inside.example.com=127.0.0.1,meta.example.com=169.254.169.254",
        egress_allow=f"{ADDRESS}/32",
        ca_file=str(authority.write_root(tmp_path_factory.mktemp("trust") / "ca.pem")),
    )
    made = WorkerPorts(settings, ChildPool())
    made.site = SITE
    return made.pages


@pytest.fixture
def canary() -> Iterator[Server]:
    """It listens where only this machine may."""
    with serving(response(b"secret"), address="127.0.0.1") as server:
        yield server
        assert server.connections == 0


def url(server: Server, target: str = "/feed", *, scheme: str = "http", host: str = "a.example.com") -> PublicUrl:
    return PublicUrl(scheme, host, server.port, target)


def get(client: HttpClient, at: PublicUrl, *, seconds: float = 10, limit: int = LIMIT) -> Page:
    return client.get(at, limit_bytes=limit, deadline=time.monotonic() + seconds)


def failure(client: HttpClient, at: PublicUrl, **more: Any) -> UpstreamFailed:
    with pytest.raises(UpstreamFailed) as caught:
        get(client, at, **more)
    return caught.value


def reason(client: HttpClient, *answers: Any, **more: Any) -> str | None:
    with serving(*answers) as server:
        return failure(client, url(server), **more).reason


# ---- what is asked and what comes back


def test_a_request_says_who_asks_and_nothing_else(client: HttpClient) -> None:
    """Host with its port, our own agent, codings that are decoded here; no cookies, no referrer."""
    with serving(response(b"hello", "X-One: a", "x-ONE: b", "Set-Cookie: a=b")) as server:
        page = get(client, url(server, "/feed?a=1"))
        get(client, url(server))
    assert (page.status, page.body, page.url) == (200, b"hello", f"http://a.example.com:{server.port}/feed?a=1")
    assert [value for name, value in page.headers if name == "x-one"] == ["a", "b"]
    lines = server.requests[0].decode().split("\r\n")
    assert lines[0] == "GET /feed?a=1 HTTP/1.1"
    names = {line.partition(":")[0].lower(): line.partition(": ")[2] for line in lines[1:] if line}
    assert set(names) == {"host", "user-agent", "accept", "accept-encoding", "connection"}
    assert names["host"] == f"a.example.com:{server.port}"
    assert names["user-agent"].startswith("coinslot (+http")
    assert names["accept-encoding"] == "gzip, deflate"
    assert b"Cookie" not in server.requests[1]


def test_a_post_carries_its_content(client: HttpClient) -> None:
    """With its length, so that no server waits."""
    with serving(response(b"{}")) as server:
        page = client.exchange(
            "POST", url(server), limit_bytes=LIMIT, deadline=time.monotonic() + 5, content=b"abc", headers={"X-A": "1"}
        )
    assert page.body == b"{}"
    assert server.requests[0].startswith(b"POST /feed HTTP/1.1")
    assert b"Content-Length: 3" in server.requests[0]
    assert b"X-A: 1" in server.requests[0]


@pytest.mark.parametrize("status", ["200 OK", "206 x", "400 x", "404 Not Found", "500 ", "599 x", "999 x"])
def test_any_status_is_an_answer(client: HttpClient, status: str) -> None:
    """What it means is the caller's affair."""
    with serving(response(b"body", status=status)) as server:
        page = get(client, url(server))
    assert (page.status, page.body) == (int(status[:3]), b"body")


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
@pytest.mark.parametrize("headers", ["", "Content-Length: 999999999\r\n", "Content-Encoding: gzip\r\n"])
def test_what_has_no_body_is_not_waited_for(client: HttpClient, status: str, headers: str) -> None:
    """204 and 304 may say how long the body would have been, and how it would be coded."""
    stays_open = hold(f"HTTP/1.1 {status}\r\n{headers}\r\n".encode())
    with serving(stays_open) as server:
        page = get(client, url(server), seconds=2)
    assert (page.status, page.body) == (int(status[:3]), b"")


def test_head_has_no_body(client: HttpClient) -> None:
    """Whatever its headers say."""
    with serving(hold(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\nContent-Encoding: br\r\n\r\n")) as server:
        page = client.exchange("HEAD", url(server), limit_bytes=10, deadline=time.monotonic() + 2)
    assert (page.status, page.body) == (200, b"")


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.0 200 OK\r\n\r\nbody",
        b"HTTP/1.1 200\r\nConnection: close\r\n\r\nbody",
        b"HTTP/1.1 200 OK\nContent-Length: 4\n\nbody",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodyMORE",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\nbody",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2;a=b\r\ndy\r\n0\r\nX-Trailer: 1\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + response(b"body"),
    ],
    ids=["1.0", "until close", "bare LF", "shorter than said", "twice the same length", "chunked", "interim"],
)
def test_a_body_ends_where_http_says(client: HttpClient, raw: bytes) -> None:
    """By length, by chunks, by the end of the connection; interim answers come before it."""
    with serving(raw) as server:
        assert get(client, url(server)).body == b"body"


def test_an_answer_before_the_whole_request(client: HttpClient) -> None:
    """A server that refuses what is sent may close before it has read it."""
    with socket.create_server((ADDRESS, 0)) as listener, ThreadPoolExecutor(1) as thread:
        at = PublicUrl("http", "a.example.com", listener.getsockname()[1], "/")
        content, deadline = b"x" * 20_000_000, time.monotonic() + 5
        asked = thread.submit(client.exchange, "POST", at, limit_bytes=LIMIT, deadline=deadline, content=content)
        connected, _ = listener.accept()
        with connected:
            connected.recv(1000)
            connected.sendall(response(b"too much", status="413 x"))
            time.sleep(0.05)
        page = asked.result(2 * SLACK_S)
    assert (page.status, page.body) == (413, b"too much")


# ---- what is no answer


def hold(*parts: bytes, pause_s: float = 0.0) -> Callable[[socket.socket], None]:
    """Send these, and leave the connection open."""

    def answer(connected: socket.socket) -> None:
        for part in parts:
            connected.sendall(part)
            time.sleep(pause_s)
        connected.settimeout(10)
        connected.recv(1)

    return answer


def endless(part: bytes, *, head: bytes = b"", pause_s: float = 0.0) -> Callable[[socket.socket], None]:
    """Send for ever."""

    def answer(connected: socket.socket) -> None:
        connected.sendall(head)
        for _ in range(1_000_000):
            connected.sendall(part)
            time.sleep(pause_s)

    return answer


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "connection_refused"),
        (b"hello", "bad_content"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "bad_content"),
        (b"\x00\x01\x02" * 100 + b"\r\n\r\n", "bad_content"),
        (b"HTTP/1.1 200 OK\r\nContent-Len", "bad_content"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody", "bad_content"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody!", "bad_content"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nbody", "bad_content"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\nbody", "bad_content"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nbody", "bad_content"),
        (b"HTTP/1.1 20 OK\r\n\r\n", "bad_content"),
        (b"HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", "bad_content"),
        (b"HTTP/1.1 200 OK\r\nA: b\x00c\r\n\r\n", "bad_content"),
        (CHUNKED + b"zz\r\nbody\r\n0\r\n\r\n", "bad_content"),
        (CHUNKED + b"4\r\nbodyX\r\n0\r\n\r\n", "bad_content"),
        (CHUNKED + b"4\r\nbody\r\n", "bad_content"),
        (CHUNKED + b"-4\r\nbody\r\n0\r\n\r\n", "bad_content"),
        (CHUNKED + b"f" * 400 + b"\r\nbody", "bad_content"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", "bad_content"),
    ],
    ids=[
        *("nothing", "no HTTP", "SSH", "binary", "cut in the head", "cut in the body", "two lengths", "negative"),
        *("huge length", "coding without chunks", "status 20", "space in a name", "NUL in a value", "no chunk size"),
        *("chunk too long", "chunks cut off", "negative chunk", "huge chunk", "101"),
    ],
)
def test_what_is_not_http_is_told(client: HttpClient, raw: bytes, expected: str) -> None:
    """At once, with a reason."""
    assert reason(client, raw, seconds=5) == expected


def test_a_reset_is_a_closed_connection(client: HttpClient) -> None:
    """Before the answer or within it."""

    def reset(connected: socket.socket) -> None:
        connected.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbo")
        time.sleep(0.05)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        connected.close()

    assert reason(client, reset) == "connection_refused"


def test_nobody_listens(client: HttpClient) -> None:
    """The port is closed."""
    with serving(b"") as server:
        at = url(server)
    assert failure(client, at).reason == "connection_refused"


# ---- bounds


def test_headers_have_a_bound(client: HttpClient) -> None:
    """32 KB and 100 of them, exactly."""
    just = response(b"ok", *[f"X-{n}: y" for n in range(99)])
    with serving(just) as server:
        assert get(client, url(server)).body == b"ok"
    assert reason(client, response(b"ok", *[f"X-{n}: y" for n in range(100)])) == "too_large"
    room = 32 * 1024 - len(response(b"", "X: "))
    with serving(response(b"", "X: " + "y" * room)) as server:
        assert len(get(client, url(server)).header("x") or "") == room
    assert reason(client, response(b"", "X: " + "y" * (room + 1))) == "too_large"


@pytest.mark.parametrize(
    "answer",
    [
        endless(b"X-A: b\r\n", head=b"HTTP/1.1 200 OK\r\n"),
        endless(b"y" * 1000, head=b"HTTP/1.1 200 OK\r\nX: "),
        endless(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
        endless(b"HTTP/1.1 100 Continue\r\n\r\n"),
        endless(b"x" * 1000),
        response(b"", "Location: /" + "a" * 100_000, status="302 Found"),
    ],
    ids=["headers", "one header", "103", "100", "status line", "Location of 100 KB"],
)
def test_endless_headers_end(client: HttpClient, answer: Any) -> None:
    """Interim answers count: a server can send them for ever."""
    assert reason(client, answer, seconds=patience(5)) == "too_large"


@pytest.mark.parametrize(
    "answer",
    [
        hold(f"HTTP/1.1 200 OK\r\nContent-Length: {LIMIT + 1}\r\n\r\n".encode()),
        response(b"x" * (LIMIT + 1)),
        endless(b"x" * 10_000, head=b"HTTP/1.1 200 OK\r\n\r\n"),
        endless(b"3e8\r\n" + b"x" * 1000 + b"\r\n", head=CHUNKED),
        response(gzip.compress(b"x" * (LIMIT + 1)), "Content-Encoding: gzip"),
        response(zlib.compress(b"x" * (LIMIT + 1)), "Content-Encoding: deflate"),
    ],
    ids=["only said", "sent", "endless", "endless chunks", "gzip", "deflate"],
)
def test_a_body_has_a_bound(client: HttpClient, answer: Any) -> None:
    """As it is sent, as it is decoded, and as it is announced: that ends the call before anything is read."""
    assert reason(client, answer, seconds=patience(5)) == "too_large"


def test_a_body_may_be_exactly_as_long(client: HttpClient) -> None:
    """The bound itself is allowed."""
    with serving(response(b"x" * LIMIT)) as server:
        assert len(get(client, url(server)).body) == LIMIT
    with serving(response(gzip.compress(b"x" * LIMIT), "Content-Encoding: gzip")) as server:
        assert len(get(client, url(server)).body) == LIMIT


def test_a_bomb_takes_no_memory(client: HttpClient) -> None:
    """200 MB in 200 KB: what is over the limit is never made."""
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    bomb = b"".join([*(packed.compress(zeros) for _ in range(200)), packed.flush()])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert reason(client, response(bomb, "Content-Encoding: gzip"), limit=2_000_000) == "too_large"
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 30_000


def test_what_surrounds_a_body_is_bounded_too(client: HttpClient) -> None:
    """Chunks of one byte are a body; a thousand bytes of extension around each of them are none."""
    with serving(CHUNKED + b"1\r\nx\r\n" * 40_000 + b"0\r\n\r\n") as server:
        assert get(client, url(server), seconds=20).body == b"x" * 40_000
    assert reason(client, endless(b"1;" + b"e" * 1_000 + b"\r\nx\r\n", head=CHUNKED), seconds=30) == "too_large"


def test_a_body_in_single_bytes_is_refused(client: HttpClient) -> None:
    """Each part is work; nobody sends a feed like this."""
    body = b"".join(b"1\r\nx\r\n" for _ in range(60_000)) + b"0\r\n\r\n"
    assert reason(client, CHUNKED + body) == "bad_content"


@pytest.mark.parametrize(
    "answer",
    [
        hold(),
        hold(b"HTTP/1.1 200 OK\r\n"),
        hold(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
        endless(b"x", head=b"HTTP/1.1 200 OK\r\n\r\n", pause_s=0.02),
        endless(b"X: y\r\n", head=b"HTTP/1.1 200 OK\r\n", pause_s=0.02),
        endless(b"HTTP/1.1 100 Continue\r\n\r\n", pause_s=0.05),
    ],
    ids=["silent", "half a head", "half a body", "a byte at a time", "a header at a time", "interim answers"],
)
def test_a_slow_server_is_left(client: HttpClient, answer: Any) -> None:
    """At the deadline of the whole call, however much is still coming."""
    start = time.monotonic()
    assert reason(client, answer, seconds=SOON_S) == "timeout"
    assert SOON_S * 0.9 < time.monotonic() - start < SOON_S + SLACK_S


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_reads_slowly_is_left(client: HttpClient, authority: Authority, scheme: str) -> None:
    """What is sent has the same deadline."""
    trust = authority.identity("a.example.com").server_context()
    content, seconds = b"x" * 50_000_000, 4 * SOON_S  # it has to connect first
    with socket.create_server((ADDRESS, 0)) as listener, ThreadPoolExecutor(1) as thread:
        listener.settimeout(10)
        at = PublicUrl(scheme, "a.example.com", listener.getsockname()[1], "/")
        start = time.monotonic()
        asked = thread.submit(client.exchange, "POST", at, limit_bytes=LIMIT, deadline=start + seconds, content=content)
        connected, _ = listener.accept()
        if scheme == "https":
            connected = trust.wrap_socket(connected, server_side=True)
        with connected, contextlib.suppress(OSError):
            while not asked.done() and time.monotonic() < start + 2 * SLACK_S:
                connected.recv(100_000)
                time.sleep(0.02)
        with pytest.raises(UpstreamFailed) as caught:
            asked.result(2 * SLACK_S)
    assert caught.value.reason == "timeout"
    assert time.monotonic() - start < seconds + SLACK_S


def test_one_deadline_for_all_redirects(client: HttpClient) -> None:
    """Each is quick enough; together they are not."""
    with serving(hold(b"", b"HTTP/1.1 302 F\r\nLocation: /x\r\n\r\n", pause_s=0.15)) as server:
        start = time.monotonic()
        assert failure(client, url(server), seconds=SOON_S).reason == "timeout"
    assert time.monotonic() - start < SOON_S + SLACK_S


def test_a_deadline_that_has_passed(client: HttpClient) -> None:
    """Nothing is asked, and no operation of a socket begins."""
    with serving(response()) as server:
        assert failure(client, url(server), seconds=-1).reason == "timeout"
        assert server.requests == []
    with pytest.raises(TimeoutError):
        left_s(time.monotonic())


# ---- content codings


def raw_deflate(body: bytes) -> bytes:
    packed = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packed.compress(body) + packed.flush()


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(b"body" * 1000)),
        ("X-GZIP", gzip.compress(b"body" * 1000)),
        ("gzip", gzip.compress(b"body" * 400) + gzip.compress(b"") + gzip.compress(b"body" * 600)),
        ("gzip", gzip.compress(b"body" * 1000) + b"\0" * 100),
        ("deflate", zlib.compress(b"body" * 1000)),
        ("deflate", raw_deflate(b"body" * 1000)),
        ("identity", b"body" * 1000),
        ("", b"body" * 1000),
    ],
    ids=["gzip", "x-gzip", "gzip members", "gzip padded", "deflate", "raw deflate", "identity", "empty"],
)
def test_codings(client: HttpClient, coding: str, packed: bytes) -> None:
    """Also in parts of one byte each."""
    slowly = b"".join(b"1\r\n%c\r\n" % byte for byte in packed) + b"0\r\n\r\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    with serving(response(packed, f"Content-Encoding: {coding}"), head + slowly) as server:
        assert get(client, url(server)).body == b"body" * 1000
        assert get(client, url(server)).body == b"body" * 1000


@pytest.mark.parametrize(
    "answer",
    [
        response(b"\x8b\x00\x80abc\x03", "Content-Encoding: br"),
        response(b"\x28\xb5\x2f\xfd", "Content-Encoding: zstd"),
        response(gzip.compress(gzip.compress(b"a")), "Content-Encoding: gzip, gzip"),
        response(gzip.compress(gzip.compress(b"a")), "Content-Encoding: gzip", "Content-Encoding: gzip"),
        response(b"no gzip", "Content-Encoding: gzip"),
        response(b"\xff no deflate", "Content-Encoding: deflate"),
        response(gzip.compress(b"body" * 1000)[:-9], "Content-Encoding: gzip"),
        response(gzip.compress(b"body")[:-8] + b"\0" * 8, "Content-Encoding: gzip"),
        response(gzip.compress(b"") * 1000, "Content-Encoding: gzip"),
    ],
    ids=["br", "zstd", "stacked", "stacked in two headers", "no gzip", "no deflate", "cut off", "checksum", "members"],
)
def test_codings_that_are_refused(client: HttpClient, answer: bytes) -> None:
    """Only what was asked for, once, whole."""
    assert reason(client, answer) == "bad_content"


def test_a_coding_of_nothing(client: HttpClient) -> None:
    """A body of no bytes is none, however it is coded."""
    with serving(response(b"", "Content-Encoding: gzip")) as server:
        assert get(client, url(server)).body == b""


# ---- redirects


def redirect(location: str, status: str = "302 Found", *more: str) -> bytes:
    return response(b"moved", f"Location: {location}", *more, status=status)


@pytest.mark.parametrize("status", ["301 x", "302 x", "303 x", "307 x", "308 x"])
def test_redirects_are_followed(client: HttpClient, status: str) -> None:
    """All kinds, and the page says where it came from."""
    with serving(redirect("/there?x=1#part", status), response(b"here")) as server:
        page = get(client, url(server))
    assert (page.body, page.url) == (b"here", f"http://a.example.com:{server.port}/there?x=1")
    assert [request.split(b" ")[1] for request in server.requests] == [b"/feed", b"/there?x=1"]


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("other", b"/a/other"),
        ("../up", b"/up"),
        ("?q", b"/a/feed?q"),
        ("//b.example.com:{port}/x", b"/x"),
        ("http://B.example.com:{port}/x", b"/x"),
        ("/a b", b"/a%20b"),
        ("/caf\u00c3\u00a9", b"/caf%C3%A9"),
        ("/caf\u00e9", b"/caf%C3%A9"),
        ("/日本".encode().decode("latin-1"), b"/%E6%97%A5%E6%9C%AC"),
        ("", b"/a/feed"),
    ],
)
def test_where_a_redirect_leads(client: HttpClient, location: str, target: bytes) -> None:
    """Relative to the page, and as browsers read what is no URL to the letter."""
    with serving(b"", response()) as server:
        server.answers[0] = redirect(location.replace("{port}", str(server.port)))
        get(client, url(server, "/a/feed"))
    assert server.requests[1].split(b" ")[1] == target


def test_a_redirect_counts_without_its_body(client: HttpClient) -> None:
    """It may be endless, and in any coding."""
    head = b"HTTP/1.1 302 F\r\nLocation: /x\r\nContent-Encoding: br\r\nContent-Length: 99999999\r\n\r\n"
    with serving(endless(b"x" * 1000, head=head), response(b"here")) as server:
        assert get(client, url(server), seconds=5).body == b"here"


@pytest.mark.parametrize("status", ["300 x", "304 x", "302 x"])
def test_what_leads_nowhere_is_an_answer(client: HttpClient, status: str) -> None:
    """Without a Location, or where it means nothing."""
    location = () if status.startswith("302") else ("Location: /x",)
    with serving(response(b"", *location, status=status)) as server:
        assert get(client, url(server)).status == int(status[:3])
    assert len(server.requests) == 1


def test_link_and_refresh_headers_lead_nowhere(client: HttpClient, canary: Server) -> None:
    """Only Location does; nor does what a page says."""
    at = f"http://127.0.0.1:{canary.port}/"
    page = f'<meta http-equiv="refresh" content="0;url={at}"><script>location="{at}"</script>'.encode()
    with serving(response(page, f"Refresh: 0; url={at}", f"Link: <{at}>; rel=preload")) as server:
        assert get(client, url(server)).body == page
    assert len(server.requests) == 1


def test_five_redirects_and_no_more(client: HttpClient) -> None:
    """A loop ends."""
    with serving(*[redirect(f"/{n}") for n in range(5)], response(b"end")) as server:
        assert get(client, url(server)).body == b"end"
    with serving(redirect("/feed")) as server:
        assert failure(client, url(server)).reason == "bad_content"
    assert len(server.requests) == 6


def test_exchange_follows_nothing(client: HttpClient) -> None:
    """It gives the redirect itself, with its body."""
    with serving(redirect("/x")) as server:
        page = client.exchange("GET", url(server), limit_bytes=LIMIT, deadline=time.monotonic() + 5)
    assert (page.status, page.header("location"), page.body) == (302, "/x", b"moved")


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "http://127.1:{port}/",
        "http://0x7f.1:{port}/",
        "http://2130706433:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://localhost:{port}/",
        "//localhost:{port}/",
        "//inside.example.com:{port}/",
        "http://inside.example.com:{port}/",
        "http://INSIDE.example.com.:{port}/",
        "http://meta.example.com/latest",
        "http://169.254.169.254/latest",
        "http://a.example.com:22/",
        "http://internal/",
    ],
)
def test_a_redirect_to_the_inside_is_blocked(client: HttpClient, canary: Server, location: str) -> None:
    """Each is checked as the first URL was; nothing is sent there."""
    with serving(redirect(location.replace("{port}", str(canary.port)))) as server, pytest.raises(BlockedAddress):
        get(client, url(server))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "gopher://a.example.com/",
        "ftp://a.example.com/",
        "javascript:alert(1)",
        "data:text/xml,<rss/>",
        "http://",
        "http://a.example.com:99999/",
        "http://user:pass@a.example.com:{port}/",
        "http://a.example.com\\@127.0.0.1:{port}/",
        "/\x1fx",
        "/" + "a" * 3000,
    ],
)
def test_a_redirect_to_what_is_not_called(client: HttpClient, canary: Server, location: str) -> None:
    """Another scheme, a password, what is no URL."""
    with serving(redirect(location.replace("{port}", str(canary.port)))) as server, pytest.raises(JobFailure) as caught:
        get(client, url(server))
    assert caught.value.reason == "bad_content"
    assert len(server.requests) == 1


# ---- TLS


def test_https(client: HttpClient, authority: Authority) -> None:
    """A certificate of an authority that is trusted, for this name."""
    with serving(response(b"safe"), trust=authority.identity("a.example.com").server_context()) as server:
        assert get(client, url(server, scheme="https")).body == b"safe"


def _expired(authority: Authority) -> Identity:
    now = datetime.datetime.now(datetime.UTC)
    return authority.identity("a.example.com", not_after=now - datetime.timedelta(hours=1))


def _early(authority: Authority) -> Identity:
    now = datetime.datetime.now(datetime.UTC)
    return authority.identity("a.example.com", not_before=now + datetime.timedelta(hours=1))


@pytest.mark.parametrize(
    ("identity", "why"),
    [
        (lambda authority: authority.identity("b.example.com"), "Hostname mismatch"),
        (lambda authority: authority.identity("*.com"), "Hostname mismatch"),
        (_expired, "certificate has expired"),
        (_early, "certificate is not yet valid"),
        (lambda authority: Authority().identity("a.example.com"), "unable to get local issuer certificate"),
    ],
    ids=["other name", "wildcard of a suffix", "expired", "not yet valid", "unknown authority"],
)
def test_certificates_that_are_refused(client: HttpClient, authority: Authority, identity: Any, why: str) -> None:
    """Nothing is asked over such a connection."""
    with serving(response(b"unsafe"), trust=identity(authority).server_context()) as server:
        refused = failure(client, url(server, scheme="https"))
    assert refused.reason == "tls_failure"
    assert why in refused.detail
    assert server.requests == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "tls_failure"),
        (b"\x15\x03\x01\x00\x02\x02\x28", "tls_failure"),
        (None, "timeout"),
    ],
    ids=["plain HTTP", "an alert", "nothing"],
)
def test_what_is_no_tls(client: HttpClient, said: bytes | None, expected: str) -> None:
    """A server that speaks plainly, one that refuses, one that is silent."""
    with socket.create_server((ADDRESS, 0)) as listener, ThreadPoolExecutor(1) as thread:
        at = PublicUrl("https", "a.example.com", listener.getsockname()[1], "/")
        asked = thread.submit(failure, client, at, seconds=SOON_S if said is None else 5)
        connected, _ = listener.accept()
        with connected:
            connected.recv(65536)
            connected.sendall(said or b"")
            assert asked.result(2 * SLACK_S).reason == expected


def test_a_redirect_from_https_to_http(client: HttpClient, authority: Authority) -> None:
    """Allowed, with the same checks; and back."""
    trust = authority.identity("a.example.com").server_context()
    with serving(b"", response(b"end")) as plain, serving(b"", trust=trust) as secure:
        secure.answers[0] = redirect(f"http://a.example.com:{plain.port}/1")
        plain.answers[0] = redirect(f"http://b.example.com:{plain.port}/2")
        page = get(client, url(secure, scheme="https"))
    assert (page.body, page.url) == (b"end", f"http://b.example.com:{plain.port}/2")


def test_the_first_url_is_checked_where_the_connection_is_made(client: HttpClient, canary: Server) -> None:
    """Whoever made it: the client does not trust its caller with the address."""
    for host in ("127.0.0.1", "inside.example.com"):
        with pytest.raises(JobFailure) as caught:
            get(client, PublicUrl("http", host, canary.port, "/"))
        assert isinstance(caught.value, (BlockedAddress, UpstreamFailed))


def test_urls_are_sent_as_they_were_read(client: HttpClient) -> None:
    """No part of a target can end the request line or begin a header."""
    with serving(response()) as server:
        get(client, public_url(f"http://a.example.com:{server.port}/a%0d%0aX:%20y/\u00e9?q=\u00fc", SITE))
    assert server.requests[0].startswith(b"GET /a%0d%0aX:%20y/%C3%A9?q=%C3%BC HTTP/1.1\r\nHost: ")
