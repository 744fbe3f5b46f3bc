"""The exchange of `Buyer`: its requests, pauses and functions block the thread."""

import ssl
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

import httpcore

from coinslot.exchange import Received, Reply, connection_lost, pool_options, request_options

T = TypeVar("T")

# The socket takes one such part at once when it takes anything, so each gets what is left of the time.
_PART_BYTES = 16 * 1024


class BlockingExchange:
    """An `Exchange` with one server. A context manager.

    Args:
        base_url: of the server.
        timeout_s: longest wait for one answer.
        sleep: replaced in tests.
    """

    def __init__(self, base_url: str, *, timeout_s: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._timeout_s = timeout_s
        self._sleep = sleep
        self._network = DeadlineNetwork()
        self._pool = httpcore.ConnectionPool(**pool_options(base_url), network_backend=self._network)

    async def send(self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Reply:
        received = Received(self._timeout_s)
        options = request_options(method, url, body, headers, self._timeout_s)
        # Received sees only the body: headers may trickle, too.
        self._network.deadline = time.monotonic() + self._timeout_s
        try:
            with self._pool.stream(**options) as response:
                for chunk in response.iter_stream():
                    received.add(chunk)
                return received.reply(response)
        except Exception as error:
            raise connection_lost(error, self._timeout_s) from None

    async def pause(self, seconds: float) -> None:
        self._sleep(seconds)

    async def run(self, function: Callable[[], T]) -> T:
        return function()

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def __enter__(self) -> "BlockingExchange":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def completed(steps: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits only for a BlockingExchange, so it ends without an event loop."""
    try:
        steps.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise RuntimeError("a purchase over a BlockingExchange has waited for an event loop")


class DeadlineNetwork(httpcore.NetworkBackend):
    """Sockets that block, for one thread.

    Attributes:
        deadline: of the present request, in monotonic seconds. Connecting has a limit of httpcore.
    """

    def __init__(self) -> None:
        self.deadline = 0.0
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self, self._sockets.connect_tcp(host, port, timeout, local_address, socket_options))

    def left_s(self) -> float:
        """Seconds to the deadline. Raises httpcore.ReadTimeout when it is over."""
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise httpcore.ReadTimeout
        return left_s


class _Stream(httpcore.NetworkStream):
    """A connection on which no operation outlives the deadline."""

    def __init__(self, network: DeadlineNetwork, stream: httpcore.NetworkStream) -> None:
        self._network = network
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._network.left_s())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PART_BYTES):
            self._stream.write(buffer[start : start + _PART_BYTES], self._network.left_s())

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._network, self._stream.start_tls(ssl_context, server_hostname, timeout))

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
