"""The clients of nodes, over real connections: to the sandbox's own servers, and to one that says what the test wants."""

import base64
import gc
import json
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from compose.sandbox.node_server import JsonRpcServer
from shared.nodes.connections import NodeFailed
from shared.nodes.json_rpc import Call, JsonRpc, RpcError
from shared.nodes.xrpl_rpc import XrplError, XrplRpc
from tests.each import each

SECRET = "hunter2"
Answer = Callable[[bytes], bytes]


class EchoServer(JsonRpcServer):
    """The sandbox's own server. Counts connections."""

    connections = 0

    def call(self, method: str, params: Any) -> Any:
        match method:
            case "echo":
                return params
            case "revert":
                raise RpcError(3, f"execution reverted at {SECRET}", "0x08c379a0")
        raise RpcError(-32601, "unknown")

    def get_request(self) -> Any:
        self.connections += 1
        return super().get_request()


@pytest.fixture
def server() -> Iterator[EchoServer]:
    with EchoServer(0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def client_of(server: EchoServer, **options: Any) -> JsonRpc:
    return JsonRpc(f"http://127.0.0.1:{server.server_address[1]}/v2/{SECRET}", **options)


class Script:
    """Answers the requests of each connection by a list of functions from request to bytes. After them it hangs up.

    Attributes:
        seen: every request, headers included, by connection.
    """

    def __init__(self, *connections: list[Answer | None]) -> None:
        self.seen: list[list[bytes]] = []
        self._connections = connections
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(60)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v2/{SECRET}?key={SECRET}"

    def __enter__(self) -> "Script":
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        for answers in self._connections:
            connection, _ = self._listener.accept()
            self.seen.append([])
            with connection:
                for answer in answers:
                    request = _read_request(connection)
                    if not request:
                        break
                    self.seen[-1].append(request)
                    if answer is None:
                        # A reset instead of an orderly end.
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        break
                    try:
                        connection.sendall(answer(request))
                    except OSError:
                        break


def _read_request(connection: socket.socket) -> bytes:
    content = b""
    while b"\r\n\r\n" not in content:
        part = connection.recv(65_536)
        if not part:
            return b""
        content += part
    head, _, body = content.partition(b"\r\n\r\n")
    (length,) = (int(line[16:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def http(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def number_of(request: bytes) -> int:
    return int(json.loads(request.partition(b"\r\n\r\n")[2])["id"])


def good(request: bytes) -> bytes:
    return http(json.dumps({"id": number_of(request), "result": "0x1"}).encode())


def failure(rpc: JsonRpc | XrplRpc, *call: Any) -> NodeFailed:
    with pytest.raises(NodeFailed) as caught:
        rpc(*(call or ("eth_chainId",)))
    assert str(caught.value).startswith(f"{rpc.place}: ")
    assert SECRET not in f"{caught.value}{caught.value!r}"
    return caught.value


def test_calls_share_a_connection(server: EchoServer) -> None:
    """By position, by name, failed ones and batches alike."""
    with closing(client_of(server)) as rpc:
        assert rpc("echo", 1, "two") == [1, "two"]
        assert rpc.named("echo", a=1) == {"a": 1}
        with pytest.raises(RpcError) as caught:
            rpc("revert")
        assert (caught.value.code, caught.value.data, str(caught.value)) == (3, "0x08c379a0", "JSON-RPC error 3")
        found = rpc.batch([Call("echo", [1]), Call("revert"), Call("nothing"), Call("echo", {"b": 2})])
        assert (found[0], found[1].code, found[2].code, found[3]) == ([1], 3, -32601, {"b": 2})
        assert rpc.batch([]) == []
        assert server.connections == 1


def test_threads_do_not_mix_their_answers(server: EchoServer) -> None:
    """Each call has a connection of its own while it lasts, and no more are made than calls were made at a time."""
    with closing(client_of(server)) as rpc, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda n: rpc("echo", n), range(400))) == [[n] for n in range(400)]
    assert server.connections <= 16  # eight are kept; a thread may just find none


def test_a_closed_client_can_be_used_again(server: EchoServer) -> None:
    """close() ends connections, not the client."""
    with closing(client_of(server)) as rpc:
        assert rpc("echo") == []
        rpc.close()
        assert rpc("echo") == []
        assert server.connections == 2


def test_a_client_that_is_dropped_leaves_no_open_socket(server: EchoServer) -> None:
    """Even in a reference cycle. pytest makes an error of a socket that the garbage collector has to close."""
    cycle: dict[str, Any] = {"rpc": client_of(server)}
    cycle["self"] = cycle
    assert cycle["rpc"]("echo") == []
    del cycle
    gc.collect()


def test_what_is_sent() -> None:
    """Path and query as they are, JSON, and a user of the URL as a header."""
    with Script([good]) as script:
        url = script.url.replace("http://", f"http://us%40er:{SECRET}@")
        with closing(JsonRpc(url)) as rpc:
            assert rpc("eth_call", {"to": "0x"}, "latest") == "0x1"
    head, _, body = script.seen[0][0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == f"POST /v2/{SECRET}?key={SECRET} HTTP/1.1"
    assert f"Host: {url.partition('@')[2].partition('/')[0]}" in lines
    assert "Content-Type: application/json" in lines
    assert f"Authorization: Basic {base64.b64encode(f'us@er:{SECRET}'.encode()).decode()}" in lines
    sent = json.loads(body)
    assert (sent["jsonrpc"], sent["method"], sent["params"]) == ("2.0", "eth_call", [{"to": "0x"}, "latest"])


@each(
    "answer",
    [
        lambda request: good(request)[:-1] + b"!",
        lambda request: http(b'{"id":1,"result":'),
        lambda request: http(json.dumps({"id": number_of(request) + 1, "result": 1}).encode()),
        lambda request: http(b"[]"),
    ],
    ids=["broken", "truncated", "another id", "a list"],
)
def test_an_answer_to_no_call_of_ours_ends_the_connection(answer: Answer) -> None:
    """What comes over it next might be the answer to another call."""
    with Script([answer, good], [good]) as script, closing(JsonRpc(script.url)) as rpc:
        assert failure(rpc).reason == "bad_answer"
        assert rpc("eth_chainId") == "0x1"
    assert [len(requests) for requests in script.seen] == [1, 1]


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: http(b" " * 20_000_000),
        lambda _: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"100000\r\n" + b" " * 0x100000 + b"\r\n",
    ],
    ids=["20 MB", "chunks without end"],
)
def test_a_long_answer_is_not_read(answer: Answer) -> None:
    """Whether the node says its length or not."""
    with Script([answer]) as script, closing(JsonRpc(script.url, max_answer_bytes=1_000_000)) as rpc:
        assert failure(rpc).reason == "too_large"


def test_an_answer_of_just_the_limit_is_read() -> None:
    """The limit is a length that is allowed."""
    with Script([good]) as script:
        length = len(json.dumps({"id": 1, "result": "0x1"}))
        with closing(JsonRpc(script.url, max_answer_bytes=length)) as rpc:
            assert rpc("eth_chainId") == "0x1"


@each("status", [201, 204, 301, 307, 401, 403, 429, 500, 503])
def test_another_status_than_200_is_a_failure(status: int) -> None:
    """It is told by number; no redirect is followed, and no text of the node is repeated."""
    elsewhere = f"Location: http://127.0.0.1:9/{SECRET}"
    body = b"" if status == 204 else SECRET.encode()
    with Script([lambda _: http(body, f"{status} {SECRET}", elsewhere)]) as script, closing(JsonRpc(script.url)) as rpc:
        failed = failure(rpc)
    assert (failed.reason, failed.status) == ("status", status)


@each(
    ("answer", "said"),
    [
        (lambda _: b"", "cut off"),
        (lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", "cut off"),
        (lambda _: b"SSH-2.0-hunter2\r\n", "not HTTP"),
        (lambda _: b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000, ""),
        (None, "reset"),
    ],
    ids=["hangs up", "cut off", "SSH", "headers without end", "reset"],
)
def test_a_broken_answer_is_a_failure(answer: Answer | None, said: str) -> None:
    """On a new connection nothing is repeated."""
    with Script([answer]) as script, closing(JsonRpc(script.url)) as rpc:
        failed = failure(rpc)
    assert failed.reason == "unreachable"
    assert said in str(failed)
    assert [len(requests) for requests in script.seen] == [1]


@pytest.mark.parametrize("last", [lambda _: b"", None], ids=["closed", "reset"])
def test_a_kept_connection_that_the_node_has_given_up_is_replaced(last: Answer | None) -> None:
    """The call is sent once more, over a new connection."""
    with Script([good, last], [good]) as script, closing(JsonRpc(script.url)) as rpc:
        assert [rpc("eth_chainId"), rpc("eth_chainId")] == ["0x1", "0x1"]
    assert [len(requests) for requests in script.seen] == [2, 1]


def test_a_connection_that_was_closed_while_idle_is_replaced() -> None:
    """As nodes do it after a minute or so."""
    with Script([good], [good]) as script, closing(JsonRpc(script.url)) as rpc:
        assert rpc("eth_chainId") == "0x1"
        assert rpc("eth_chainId") == "0x1"
    assert [len(requests) for requests in script.seen] == [1, 1]


def test_a_call_is_repeated_once() -> None:
    """A node that hangs up on each call is down."""
    with Script([good, lambda _: b""], [lambda _: b""]) as script, closing(JsonRpc(script.url)) as rpc:
        assert rpc("eth_chainId") == "0x1"
        assert failure(rpc).reason == "unreachable"
    assert [len(requests) for requests in script.seen] == [2, 1]


@pytest.mark.parametrize(
    "last", [lambda _: b"HTTP/1.1 200", lambda request: good(request)[:-1], lambda _: http(b"", "503 Busy")]
)
def test_a_call_is_not_repeated_once_an_answer_has_begun(last: Answer) -> None:
    """The node has seen it, and may have done it."""
    with Script([good, last]) as script, closing(JsonRpc(script.url)) as rpc:
        assert rpc("eth_chainId") == "0x1"
        assert failure(rpc).reason in ("unreachable", "status")
    assert [len(requests) for requests in script.seen] == [2]


def test_a_node_that_closes_each_connection() -> None:
    """As HTTP says it: with a header."""
    last = "Connection: close"

    def closes(request: bytes) -> bytes:
        return good(request).replace(b"\r\n\r\n", f"\r\n{last}\r\n\r\n".encode(), 1)

    with Script([closes], [closes]) as script, closing(JsonRpc(script.url)) as rpc:
        assert [rpc("a"), rpc("b")] == ["0x1", "0x1"]


def test_a_node_that_does_not_answer_in_time() -> None:
    """Nothing is sent again: it may still be at it."""
    done = threading.Event()

    def slow(request: bytes) -> bytes:
        done.wait(20)
        return good(request)

    with Script([slow], [slow]) as script, closing(JsonRpc(script.url, timeout_s=0.2)) as rpc:
        assert failure(rpc).reason == "timeout"
        with pytest.raises(NodeFailed, match="in time"):
            rpc.call(Call("eth_chainId"), timeout_s=0.0)
        done.set()
        assert rpc.call(Call("eth_chainId"), timeout_s=20) == "0x1"


def test_the_time_limit_is_for_the_whole_answer() -> None:
    """A node that sends a byte now and then does not hold its caller."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def trickle() -> None:
            connection, _ = listener.accept()
            with connection:
                _read_request(connection)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not done.wait(0.02):
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        return

        thread = threading.Thread(target=trickle)
        thread.start()
        started = time.monotonic()
        with closing(JsonRpc(f"http://127.0.0.1:{listener.getsockname()[1]}/{SECRET}", timeout_s=0.5)) as rpc:
            assert failure(rpc).reason == "timeout"
        assert time.monotonic() - started < 20
        done.set()
        thread.join()


def test_no_node_at_all() -> None:
    """It is an OSError, as of any other connection that fails."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    failed = failure(JsonRpc(f"http://127.0.0.1:{port}/{SECRET}"))
    assert failed.reason == "unreachable"
    assert isinstance(failed, OSError)
    assert "refused" in str(failed)


def test_a_node_without_tls() -> None:
    """https:// to a server that speaks something else."""
    with Script([]) as script, closing(JsonRpc(script.url.replace("http://", "https://"), timeout_s=20)) as rpc:
        assert failure(rpc).reason == "unreachable"


def test_an_xrpl_server_is_asked_in_its_own_form() -> None:
    """Without ids; errors are results."""
    answers: list[Answer | None] = [
        lambda _: http(b'{"result":{"status":"success","info":1}}'),
        lambda _: http(b'{"result":{"status":"error","error":"txnNotFound","searched_all":true}}'),
        lambda _: http(b'{"result":[]}'),
    ]
    with Script(answers) as script, closing(XrplRpc(script.url, timeout_s=20)) as rpc:
        assert rpc("server_info")["info"] == 1
        with pytest.raises(XrplError, match=r"^txnNotFound$") as caught:
            rpc("tx", transaction="00")
        assert caught.value.result["searched_all"] is True
        assert failure(rpc, "fee").reason == "bad_answer"
    sent = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in script.seen[0]]
    assert sent[1] == {"method": "tx", "params": [{"api_version": 2, "transaction": "00"}]}


def test_keys_are_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """Of ours or of the HTTP library's, at any level."""
    caplog.set_level(logging.DEBUG)
    with Script([good, lambda _: http(b"", "429 Busy")]) as script, closing(JsonRpc(script.url)) as rpc:
        assert rpc("eth_chainId") == "0x1"
        failure(rpc)
    assert "httpcore" in caplog.text
    assert SECRET not in caplog.text
