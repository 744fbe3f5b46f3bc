"""HTTP POST to a blockchain node that the operator has chosen, over connections that are kept between calls.

It connects to whatever the URL names. A URL that a caller sends must never come here: `workers/egress/` is for those.
"""

import base64
import socket
import ssl
import time
import weakref
from functools import cached_property
from typing import Any, Literal
from urllib.parse import SplitResult, unquote, urlsplit

import httpcore

MAX_IDLE_CONNECTIONS = 8
_CHUNK_BYTES = 64 * 1024

Reason = Literal["timeout", "unreachable", "status", "too_large", "bad_answer"]


class NodeFailed(OSError):
    """A node gave no usable answer. The text names the node by scheme, host and port: the rest of its URL may hold a key.

    Attributes:
        reason: `timeout`, `unreachable` (no connection, or a broken one), `status` (not 200), `too_large` or `bad_answer`.
        status: of the HTTP response, with the reason `status`; otherwise 0.
    """

    def __init__(self, place: str, reason: Reason, detail: str, *, status: int = 0) -> None:
        super().__init__(f"{place}: {detail}")
        self.reason = reason
        self.status = status


def place_of(url: str) -> str:
    """Scheme, host and port of a URL, which are all of it that may be shown.

    Raises:
        ValueError: it is not an http or https URL. The text does not repeat it.
    """
    return _place(_parsed(url))


class NodeConnections:
    """Connections to one node. Any number of threads may use them at the same time.

    Args:
        url: http or https. Its path and query are sent as they are; a user name and a password become an Authorization header.
        max_answer_bytes: of an answer's body.
        max_idle: connections that are kept between calls: as many as there are threads that call again and again.

    Raises:
        ValueError: the URL is none.
    """

    def __init__(self, url: str, *, max_answer_bytes: int, max_idle: int = MAX_IDLE_CONNECTIONS) -> None:
        parts = _parsed(url)
        self.place = _place(parts)
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._is_tls = parts.scheme == "https"
        self._url = httpcore.URL(
            scheme=parts.scheme,
            host=self._host,
            port=self._port,
            target=f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}",
        )
        self._headers = _headers(parts)
        self._max_answer_bytes = max_answer_bytes
        self._max_idle = max_idle
        self._idle: list[_Connection] = []

    def __repr__(self) -> str:
        return f"NodeConnections({self.place})"

    def post(self, body: bytes, *, deadline: float) -> bytes:
        """The body of the answer.

        A kept connection that the node has closed in the meantime is replaced once, if nothing of an answer has come over it.

        Args:
            body: JSON.
            deadline: monotonic seconds. Looking up the host's name may take longer.

        Raises:
            NodeFailed: there is no answer, or its status is not 200, or it is too large.
        """
        try:
            kept = self._kept()
            if kept is not None:
                try:
                    return self._exchange(kept, body, deadline)
                except (OSError, httpcore.ProtocolError) as error:
                    if isinstance(error, TimeoutError | NodeFailed) or kept.stream.received:
                        raise
                    self.close()  # the others have been idle for longer
            return self._exchange(self._connect(deadline), body, deadline)
        except NodeFailed:
            raise
        except TimeoutError:
            raise NodeFailed(self.place, "timeout", "no answer in time") from None
        except httpcore.ProtocolError:
            raise NodeFailed(self.place, "unreachable", "the answer was cut off, or is not HTTP") from None
        except OSError as error:
            raise NodeFailed(self.place, "unreachable", error.strerror or type(error).__name__) from None

    def close(self) -> None:
        """Close the connections that are not in use. The next call makes a new one."""
        while (kept := self._kept()) is not None:
            kept.stream.close()

    def _kept(self) -> "_Connection | None":
        """The connection that was used last: the node closes it last."""
        try:
            return self._idle.pop()
        except IndexError:  # asking first would let another thread take it in between
            return None

    def _connect(self, deadline: float) -> "_Connection":
        stream = _Stream(socket.create_connection((self._host, self._port), _left_s(deadline)), deadline)
        if self._is_tls:
            stream.secure(self._trust, self._host)
        return _Connection(self._url.origin, stream)

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        return httpcore.default_ssl_context()

    def _exchange(self, connection: "_Connection", body: bytes, deadline: float) -> bytes:
        stream = connection.stream
        stream.deadline, stream.received = deadline, 0
        headers = [*self._headers, (b"Content-Length", str(len(body)).encode())]
        content = bytearray()
        try:
            response = connection.http.handle_request(
                httpcore.Request("POST", self._url, headers=headers, content=body)
            )
            if response.status != 200:
                raise NodeFailed(self.place, "status", f"status {response.status}", status=response.status)
            for part in response.iter_stream():
                content += part
                if len(content) > self._max_answer_bytes:
                    raise NodeFailed(self.place, "too_large", f"an answer of over {self._max_answer_bytes} bytes")
        except BaseException:
            stream.close()
            raise
        response.close()
        if connection.http.is_idle() and len(self._idle) < self._max_idle:
            self._idle.append(connection)
        else:
            stream.close()
        return bytes(content)


class _Connection:
    def __init__(self, origin: httpcore.Origin, stream: "_Stream") -> None:
        self.stream = stream
        self.http = httpcore.HTTP11Connection(origin, stream)


class _Stream(httpcore.NetworkStream):
    """A connected socket for httpcore, on which no operation outlives the deadline.

    Attributes:
        deadline: of the call, monotonic seconds.
        received: bytes of the call's answer so far.
    """

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._socket = connected
        # A client that is dropped and not closed leaves no open socket. __del__ would come too late in a reference cycle.
        self._close = weakref.finalize(self, connected.close)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.deadline = deadline
        self.received = 0

    def secure(self, trust: ssl.SSLContext, host: str) -> None:
        """A TLS handshake."""
        try:
            self._socket.settimeout(_left_s(self.deadline))
            self._socket = trust.wrap_socket(self._socket, server_hostname=host)
            self._close.detach()
            self._close = weakref.finalize(self, self._socket.close)
        except BaseException:
            self.close()
            raise

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has come, at most `max_bytes`."""
        self._socket.settimeout(_left_s(self.deadline))
        received = self._socket.recv(max_bytes)
        self.received += len(received)
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """All of it. `sendall` over TLS would give every part the whole time."""
        rest = memoryview(buffer)
        try:
            while rest:
                self._socket.settimeout(_left_s(self.deadline))
                rest = rest[self._socket.send(rest[:_CHUNK_BYTES]) :]
        except (BrokenPipeError, ConnectionResetError):
            raise httpcore.WriteError from None  # httpcore then reads: the node may have answered before it hung up

    def close(self) -> None:
        """At once."""
        self._close()

    def get_extra_info(self, info: str) -> Any:
        """Nothing that httpcore needs."""
        return None


def _parsed(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for a port that is none
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isascii() and url.isprintable()
    except ValueError:
        is_one = False
    if not is_one or " " in url:
        raise ValueError("not an http(s) URL")
    return parts


def _place(parts: SplitResult) -> str:
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _headers(parts: SplitResult) -> list[tuple[bytes, bytes]]:
    headers = [
        (b"Host", parts.netloc.rpartition("@")[2].encode()),
        (b"Content-Type", b"application/json"),
        (b"Accept", b"application/json"),
        (b"Accept-Encoding", b"identity"),
        (b"User-Agent", b"coinslot"),
    ]
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers.append((b"Authorization", b"Basic " + base64.b64encode(user)))
    return headers


def _left_s(deadline: float) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s
