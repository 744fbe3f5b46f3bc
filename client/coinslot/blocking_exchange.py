"""The exchange of `Buyer`: its requests, pauses and functions block the thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import httpcore

from coinslot.deadline_network import DeadlineNetwork
from coinslot.exchange import Received, Reply, connection_lost, pool_options, request_options

T = TypeVar("T")


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

    def __enter__(self) -> BlockingExchange:
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
