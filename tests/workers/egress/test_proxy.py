"""The proxy between a browser and the world, by real sockets: httpx through it, and bytes that no client would send."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from compose.sandbox.upstreams.authority import Authority
from tests.each import each
from tests.sites import PUBLIC, on_any_port
from tests.workers.egress.hostile import Canary, connector, head_of, repeating, saying
from tests.workers.egress.name_server import NameServer, silence
from tests.workers.egress.proxy_server import real_proxy
from tests.workers.servers import ADDRESS, server
from workers.egress.allowance import Job, Slot
from workers.egress.exits import Exits
from workers.egress.proxy import Proxy

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
HOSTS = {f"{name}.example.com": ADDRESS for name in ("a", "b", *(f"h{n}" for n in range(30)))}
SITE = on_any_port({*HOSTS, "evil.example.com", "itself.example.com"})


class Way:
    """A slot of a proxy."""

    def __init__(self, proxy: Proxy, slot: Slot, port: int) -> None:
        self.proxy, self.slot, self.port = proxy, slot, port

    def serving(self, job: Job) -> contextlib.AbstractContextManager[Job]:
        """Serve this job."""
        return self.proxy.serving(job, self.slot)


@contextlib.asynccontextmanager
async def slot_of(proxy: Proxy) -> AsyncIterator[Way]:
    """A slot, which is closed at the end with the proxy."""
    listening = socket.create_server(("127.0.0.1", 0))
    slot = await proxy.listen(listening)
    yield Way(proxy, slot, listening.getsockname()[1])
    slot.close()
    await proxy.close()


@pytest.fixture
async def way() -> AsyncIterator[Way]:
    """Reaches the one address that is allowed."""
    hosts = {**HOSTS, "evil.example.com": "127.0.0.1", "itself.example.com": ADDRESS}
    async with slot_of(Proxy(connector(hosts=hosts), SITE)) as opened:
        yield opened


class Line:
    """A connection to the proxy, byte by byte."""

    def __init__(self, way: Way) -> None:
        self._port = way.port

    async def __aenter__(self) -> "Line":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *error: object) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    async def ask(self, line: str, headers: str = "", body: bytes = b"") -> None:
        """A request's head and what follows."""
        self.writer.write(f"{line} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode("latin-1") + body)
        await self.writer.drain()

    async def status(self) -> str:
        """A response's first line without its version."""
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)
        return head.split(b"\r\n")[0].decode().removeprefix("HTTP/1.1 ")

    async def rest(self) -> bytes:
        """All that is still said."""
        return await asyncio.wait_for(self.reader.read(), 10)


async def asked(way: Way, line: str, headers: str = "", body: bytes = b"") -> str:
    """The first line of what is answered."""
    async with Line(way) as connection:
        await connection.ask(line, headers, body)
        return await connection.status()


def client(way: Way, verify: ssl.SSLContext | bool = False) -> httpx.AsyncClient:
    """A real one, which gives a password that nobody has asked for."""
    through = httpx.Proxy(f"http://127.0.0.1:{way.port}", auth=("user", "password"))
    return httpx.AsyncClient(proxy=through, verify=verify, trust_env=False, timeout=10)


@pytest.mark.anyio
async def test_http_through_the_proxy(way: Way) -> None:
    """The request goes on by the name of its URL, and without what was for the proxy."""
    heads: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        heads.append(head_of(connection))
        connection.sendall(
            b"HTTP/1.1 200 Fine\r\nX-Kept: 1\r\nConnection: keep-alive, X-Gone\r\nX-Gone: 1\r\nKeep-Alive: timeout=5\r\n"
            b"Proxy-Authenticate: Basic realm=x\r\nContent-Length: 5\r\n\r\nhello"
        )
        connection.recv(1)  # it does not close

    with server(answer) as upstream, way.serving(Job()) as job:
        async with client(way) as browser:
            headers = {
                "Host": "other.example.org",
                "Proxy-Connection": "x",
                "TE": "trailers",
                "X-Mine": "1",
                "Connection": "X-Gone",
                "X-Gone": "1",
            }
            url = f"http://a.example.com:{upstream}/path;a=b//c?q=" + "x" * 5_000
            response = await browser.get(url, headers=headers)
    assert (response.status_code, response.reason_phrase, response.text) == (200, "Fine", "hello")
    assert response.headers["x-kept"] == "1"
    assert not {"x-gone", "keep-alive", "proxy-authenticate"} & set(response.headers)
    assert response.headers["connection"] == "close"
    line, *sent = heads[0].decode().lower().split("\r\n")
    assert line == "get /path;a=b//c?q=" + "x" * 5_000 + " http/1.1"
    assert [header for header in sent if header.startswith("host:")] == [f"host: a.example.com:{upstream}"]
    assert "x-mine: 1" in sent
    assert "connection: close" in sent
    for gone in ("proxy-", "te:", "x-gone", "keep-alive"):
        assert not any(header.startswith(gone) or gone in header.partition(":")[2] for header in sent)
    assert job.refusals == {}


@pytest.mark.anyio
async def test_bodies_in_both_directions(way: Way) -> None:
    """With a length and in chunks."""
    got: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        received = head_of(connection)
        while not received.endswith((b"end", b"0\r\n\r\n")):
            received += connection.recv(65536)
        got.append(received.partition(b"\r\n\r\n")[2])
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"
        )

    async def parts() -> AsyncIterator[bytes]:
        yield b"x" * 100_000
        yield b"end"

    with server(answer) as upstream, way.serving(Job()):
        async with client(way) as browser:
            url = f"http://a.example.com:{upstream}/"
            assert (await browser.post(url, content=b"y" * 100_000 + b"end")).text == "abcdef"
            assert (await browser.post(url, content=parts())).text == "abcdef"
    assert got[0] == b"y" * 100_000 + b"end"
    assert got[1].endswith(b"3\r\nend\r\n0\r\n\r\n")


@pytest.mark.anyio
async def test_a_client_that_waits_to_send_its_body(way: Way) -> None:
    """Is told to, by the proxy: what the server would say is not known before the body is."""
    heads: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        heads.append(head_of(connection))
        connection.sendall(OK)

    with server(answer) as upstream, way.serving(Job()):
        async with Line(way) as line:
            await line.ask(f"POST http://a.example.com:{upstream}/", "Expect: 100-continue\r\nContent-Length: 4\r\n")
            assert await line.status() == "100 Continue"
            line.writer.write(b"body")
            assert await line.status() == "200 OK"
    assert b"expect" not in heads[0].lower()


@pytest.mark.anyio
async def test_tls_through_a_tunnel(way: Way) -> None:
    """End to end: the client verifies the server's certificate."""
    authority = Authority()
    theirs = authority.identity("a.example.com").server_context()
    trust = ssl.create_default_context(cadata=authority.root.public_bytes(Encoding.PEM).decode())

    def answer(connection: socket.socket) -> None:
        with theirs.wrap_socket(connection, server_side=True) as secured:
            head_of(secured)
            secured.sendall(OK)

    with server(answer) as upstream, way.serving(Job()):
        async with client(way, trust) as browser:
            assert (await browser.get(f"https://a.example.com:{upstream}/")).text == "hello"
            with pytest.raises(httpx.ConnectError, match="certificate"):
                await browser.get(f"https://b.example.com:{upstream}/")


@pytest.mark.anyio
async def test_what_comes_right_behind_a_connect_and_half_an_end(way: Way) -> None:
    """Belongs to the tunnel; one side may end before the other."""

    def answer(connection: socket.socket) -> None:
        received = b""
        while part := connection.recv(100):
            received += part
        connection.sendall(b"got " + received)

    with server(answer) as upstream, way.serving(Job()):
        async with Line(way) as line:
            await line.ask(f"CONNECT a.example.com:{upstream}", body=b"first ")
            assert await line.status() == "200 Connection established"
            line.writer.write(b"second")
            line.writer.write_eof()
            assert await line.rest() == b"got first second"


@pytest.mark.anyio
async def test_a_socket_of_its_own_tells_whose_a_request_is(way: Way) -> None:
    """One job after the other: in between, and after the slot is closed, nobody is served."""
    with server(saying(OK)) as upstream:
        line = f"GET http://a.example.com:{upstream}/"
        assert await asked(way, line) == "400 bad_request"
        with way.serving(Job()) as first:
            assert await asked(way, line) == "200 OK"
            assert (first.requests, first.received_bytes) == (199, len(OK))
            assert await asked(way, "GET http://127.0.0.1/") == "403 blocked_address"
        with way.serving(Job()) as second:
            assert await asked(way, line) == "200 OK"
            assert second.refusals == {}
        assert (first.requests, second.requests) == (199, 199)
        assert await asked(way, line) == "400 bad_request"
    way.slot.close()
    with pytest.raises(ConnectionRefusedError):
        await asked(way, line)


@pytest.mark.anyio
async def test_what_is_not_public_is_refused(way: Way) -> None:
    """By the same reading and the same policy as everything else: nobody is called."""
    with Canary(("127.0.0.1", 0), ("::1", 0)) as canary, way.serving(Job()) as job:
        there = canary.ports[0]
        for host in (
            *("127.0.0.1", "127.1", "0x7f.1", "2130706433", "localhost", "localhost.", "[::1]", "[::ffff:127.0.0.1]"),
            "redis",
            *("evil.example.com", "EVIL.example.com.", "169.254.169.254", "metadata.google.internal"),
        ):
            assert await asked(way, f"GET http://{host}:{there}/") == "403 blocked_address", host
            assert await asked(way, f"CONNECT {host}:{there}") == "403 blocked_address", host
        assert await asked(way, f"GET http://[::1]:{canary.ports[1]}/") == "403 blocked_address"
        assert (
            await asked(way, f"GET http://127.0.0.1:{there}/", f"Host: a.example.com:{there}\r\n") == "400 bad_request"
        )
        assert canary.calls == 0
        assert job.refusals["evil.example.com"] == "blocked_address"


@pytest.mark.anyio
async def test_ports_that_nobody_added_are_refused() -> None:
    """As in a URL that a caller names."""
    async with slot_of(Proxy(connector(), PUBLIC)) as way:
        with way.serving(Job()):
            for port_ in (22, 25, 6379, 11211, 0):
                assert await asked(way, f"GET http://example.com:{port_}/") == "403 blocked_address"
                assert await asked(way, f"CONNECT example.com:{port_}") == "403 blocked_address"
            for port_ in (80, 8080):
                assert await asked(way, f"CONNECT example.com:{port_}") == "403 blocked_address"


@pytest.mark.anyio
async def test_the_proxy_does_not_call_itself() -> None:
    """Even where a sandbox allows its address."""
    proxy = Proxy(connector(hosts={"itself.example.com": "127.0.0.1"}, allow="127.0.0.1/32"), SITE)
    async with slot_of(proxy) as way:
        with way.serving(Job()) as job:
            assert await asked(way, f"GET http://itself.example.com:{way.port}/") == "403 blocked_address"
            assert await asked(way, f"CONNECT itself.example.com:{way.port}") == "403 blocked_address"
            assert job.requests == 198


@pytest.mark.anyio
@each(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n",
        b"GET a.example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET https://a.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET ftp://a.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET file:///etc/hostname HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http:///a.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://u:p@a.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://a.example.com\\@127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://a.example.com/#frag HTTP/1.1\r\nHost: x\r\n\r\n",
        b"TRACE http://a.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT a.example.com HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT http://a.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT a.example.com:443/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT u@a.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT a.example.com:99999 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT a.example.com:+443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST http://a.example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST http://a.example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        b"POST http://a.example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST http://a.example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST http://a.example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"GET http://a.example.com/ HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"GET http://a.example.com/ HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET http://a.example.com/ HTTP/1.1\r\n\r\n",
        b"GET http://a.example.com/ HTTP/2.0\r\nHost: x\r\n\r\n",
        b"GET http://a.example.com/ x HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 not HTTP at all\r\n\r\n",
        b"GET http://a.example.com/ HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 100 + b"\r\n",
        b"GET http://a.example.com/ HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 33_000 + b"\r\n\r\n",
        b"GET http://a.example.com/" + b"y" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
async def test_what_is_no_request_for_a_proxy_is_refused(way: Way, request_: bytes) -> None:
    """With 400, before anybody is asked for a name."""
    with way.serving(Job()) as job:
        async with Line(way) as line:
            line.writer.write(request_)
            assert await line.status() == "400 bad_request"
        assert job.requests == 200


@pytest.mark.anyio
async def test_one_request_to_a_connection(way: Way) -> None:
    """What follows is not forwarded, neither behind a body nor behind none."""
    heads: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        received = head_of(connection)
        connection.sendall(OK)
        while part := connection.recv(65536):
            received += part
        heads.append(received)

    with server(answer) as upstream, way.serving(Job()) as job:
        second = f"GET http://a.example.com:{upstream}/smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
        for headers, body in (
            ("", b""),
            ("Content-Length: 4\r\n", b"body"),
            ("Transfer-Encoding: chunked\r\n", b"1\r\nx\r\n0\r\n\r\n"),
        ):
            async with Line(way) as line:
                await line.ask(f"POST http://a.example.com:{upstream}/", headers, body + second.encode())
                answered = await line.rest()
                assert answered.count(b"HTTP/1.1") == 1
                assert answered.lower().count(b"connection: close") == 1
        await asyncio.sleep(0.1)
        assert job.requests == 197
    assert len(heads) == 3
    assert not any(b"smuggled" in head for head in heads)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"220 smtp.example.com ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * 11 + OK,
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 101 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 40_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400_000,
    ],
)
async def test_what_is_no_answer_is_not_passed_on(way: Way, response: bytes) -> None:
    """502."""
    with server(saying(response)) as upstream, way.serving(Job()) as job:
        assert await asked(way, f"GET http://a.example.com:{upstream}/") == "502 bad_content"
        assert job.refusals == {"a.example.com": "bad_content"}


@pytest.mark.anyio
async def test_a_connection_that_breaks_off(way: Way) -> None:
    """Is refused with a reason, which the job keeps."""

    def reset(connection: socket.socket) -> None:
        head_of(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with server(reset) as upstream, way.serving(Job()) as job:
        assert await asked(way, f"GET http://a.example.com:{upstream}/") == "502 connection_refused"
        assert job.refusals == {"a.example.com": "connection_refused"}


@pytest.mark.anyio
async def test_half_an_answer_is_seen_to_be_half(way: Way) -> None:
    """The connection breaks off, so that nobody takes it for the whole."""
    half = saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    with server(half) as upstream, way.serving(Job()):
        async with client(way) as browser:
            with pytest.raises(httpx.TransportError):
                await browser.get(f"http://a.example.com:{upstream}/")


@pytest.mark.anyio
async def test_requests_and_hosts_are_counted(way: Way) -> None:
    """200 and 20 by default; hosts that do not exist count as well."""
    assert (Job().requests, Job().hosts, Job().bytes, Job().seconds) == (200, 20, 20_000_000, 25.0)
    with server(saying(OK)) as upstream:
        with way.serving(Job(requests=3)) as job:
            for status in ("200 OK", "200 OK", "200 OK", "403 too_many_requests", "403 too_many_requests"):
                assert (await asked(way, f"GET http://a.example.com:{upstream}/")).startswith(status[:3])
            assert job.exhausted == "too_many_requests"
        with way.serving(Job()) as job:
            for n in range(25):
                expected = "200 " if n < 20 else "403 too_many_hosts"
                assert (await asked(way, f"GET http://h{n}.example.com:{upstream}/")).startswith(expected)
            assert (await asked(way, f"GET http://h3.example.com:{upstream}/")).startswith("200 ")
            assert job.exhausted == "too_many_hosts"
            assert job.refusals == {f"h{n}.example.com": "too_many_hosts" for n in range(20, 25)}


@pytest.mark.anyio
async def test_bytes_are_counted(way: Way) -> None:
    """Of all connections of a job together, in both directions, in the clear and in tunnels."""
    with server(repeating(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000)) as upstream:
        for line in (f"GET http://a.example.com:{upstream}/", f"CONNECT a.example.com:{upstream}"):
            with way.serving(Job(bytes=1_000_000)) as job:
                async with Line(way) as connection:
                    await connection.ask(line)
                    assert (await connection.status()).startswith("200")
                    connection.writer.write(b"GET / HTTP/1.1\r\n\r\n")
                    got = 0
                    with contextlib.suppress(ConnectionResetError):
                        while part := await asyncio.wait_for(connection.reader.read(65536), 10):
                            got += len(part)
                    assert 500_000 < got <= 1_100_000
                assert job.exhausted == "too_many_bytes"
                assert await asked(way, line) == "403 too_many_bytes"

    def swallow(connection: socket.socket) -> None:
        while connection.recv(65536):
            pass

    with server(swallow) as upstream, way.serving(Job(bytes=200_000)) as job:
        body = b"x" * 1_000_000
        line = f"POST http://a.example.com:{upstream}/"
        assert await asked(way, line, f"Content-Length: {len(body)}\r\n", body) == "403 too_many_bytes"


@pytest.mark.anyio
async def test_a_job_ends_with_its_time(way: Way) -> None:
    """What waits gets an answer, what runs is cut, and what comes later is refused."""

    def mute(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.recv(65536)

    with server(mute) as upstream:
        line = f"http://a.example.com:{upstream}/"
        with way.serving(Job(seconds=0.3)) as job:
            assert await asked(way, f"GET {line}") == "504 timeout"
            assert await asked(way, f"GET {line}") == "504 timeout"
        with contextlib.ExitStack() as ending:
            job = ending.enter_context(way.serving(Job()))
            async with Line(way) as tunnel, Line(way) as waiting:
                await tunnel.ask(f"CONNECT a.example.com:{upstream}")
                assert await tunnel.status() == "200 Connection established"
                await waiting.ask(f"GET {line}")
                await asyncio.sleep(0.2)
                assert len(job.tasks) == 2
                ending.close()
                for connection in (tunnel, waiting):
                    with contextlib.suppress(ConnectionResetError):
                        assert await connection.rest() == b""
            assert await asked(way, f"GET {line}") == "400 bad_request"
            assert job.tasks == set()


@pytest.mark.anyio
async def test_failures_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the client by status and reason, and to who asks the job."""
    monkeypatch.setattr("workers.egress.resolver.LOOKUP_S", 0.5)
    with NameServer() as names:
        names.addresses("mixed.example.com", ADDRESS, "127.0.0.1")
        names.addresses("dead.example.com", ADDRESS)
        names.script("hangs.example.com", "A", silence)
        expected = {
            "mixed.example.com": "403 blocked_address",
            "dead.example.com": "502 connection_refused",
            "unknown.example.com": "502 dns_failure",
            "hangs.example.com": "504 timeout",
        }
        async with slot_of(Proxy(connector(server=names.server), SITE)) as way:
            with way.serving(Job()) as job:
                for host, status in expected.items():
                    assert await asked(way, f"CONNECT {host}:9") == status
                assert job.refusals == {host: status.partition(" ")[2] for host, status in expected.items()}


@pytest.mark.anyio
async def test_one_jobs_dead_hosts_do_not_hold_up_another(way: Way) -> None:
    """A job connects to so many at once, and a cut job leaves no connection behind."""
    with socket.socket() as full, contextlib.ExitStack() as waiting, server(saying(OK)) as upstream:
        full.bind((ADDRESS, 0))
        full.listen(0)
        dead = full.getsockname()[1]
        for _ in range(3):
            caller = waiting.enter_context(socket.socket())
            caller.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                caller.connect((ADDRESS, dead))
        async with slot_of(way.proxy) as other, asyncio.TaskGroup() as group:
            with way.serving(Job(seconds=2)), other.serving(Job()):
                stuck = [group.create_task(asked(way, f"CONNECT a.example.com:{dead}")) for _ in range(40)]
                await asyncio.sleep(0.2)
                quick = await asyncio.wait_for(asked(other, f"GET http://b.example.com:{upstream}/"), 1.5)
                assert quick.startswith("200")
                assert {await task for task in stuck} == {"504 timeout"}


@pytest.mark.anyio
async def test_closing_cuts_everything(way: Way) -> None:
    """And waits for nobody."""
    with server(repeating(b"", b".", pause_s=0.05)) as upstream, way.serving(Job()):
        async with Line(way) as line, Line(way) as silent:
            await line.ask(f"CONNECT a.example.com:{upstream}")
            assert await line.status() == "200 Connection established"
            await asyncio.wait_for(way.proxy.close(), 5)
            for connection in (line, silent):
                with contextlib.suppress(ConnectionResetError):
                    assert (await connection.rest()).strip(b".") == b""


@pytest.mark.anyio
async def test_an_operators_proxy_that_fails() -> None:
    """Is the reason of the refusal, so that the page is not blamed."""
    with real_proxy() as upstream:
        upstream.answer = 403
        exits = Exits("render", upstream.always("http"))
        async with slot_of(Proxy(connector(hosts=HOSTS, exits=exits), SITE)) as opened:
            with opened.serving(Job()) as job:
                assert await asked(opened, "CONNECT a.example.com:443") == "502 unavailable"
        assert job.refusals == {"a.example.com": "unavailable"}
