"""The exchange of `Buyer`: its requests, pauses and functions block the thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, TypeVar

import httpx

from coinslot.exchange import HTTP_ERRORS, Received, Reply, as_json, client_options, connection_lost

T = TypeVar("T")


class BlockingExchange:
    """Connections to one server. A context manager.

    Args:
        base_url: of the server.
        timeout_s: longest wait for one answer.
        sleep: replaced in tests.
    """

    def __init__(self, base_url: str, *, timeout_s: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._timeout_s = timeout_s
        self._sleep = sleep
        self._client = httpx.Client(**client_options(base_url, timeout_s))

    async def post(self, url: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        """As `Exchange` says."""
        return self._send("POST", url, body or b"", as_json(body, headers))

    async def get(self, url: str) -> Reply:
        """As `Exchange` says."""
        return self._send("GET", url, None, {})

    async def pause(self, seconds: float) -> None:
        """As `Exchange` says."""
        self._sleep(seconds)

    async def run(self, function: Callable[[], T]) -> T:
        """As `Exchange` says."""
        return function()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> BlockingExchange:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        received = Received(self._timeout_s)
        try:
            with self._client.stream(method, url, content=body, headers=headers) as response:
                for chunk in response.iter_raw():
                    received.add(chunk)
                return received.reply(response)
        except HTTP_ERRORS as error:
            raise connection_lost(error, self._timeout_s) from None


def completed(steps: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for a BlockingExchange alone, so it ends without an event loop."""
    try:
        steps.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise RuntimeError("a purchase over a BlockingExchange has waited for an event loop")
