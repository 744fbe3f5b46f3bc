"""The exchange of `AsyncBuyer`: asyncio and trio run other tasks while it waits."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import anyio
import anyio.to_thread
import httpcore

from coinslot.exchange import ConnectionLost, Received, Reply, connection_lost, pool_options, request_options

T = TypeVar("T")


class AsyncExchange:
    """An `Exchange` with one server. Functions run in threads.

    Args:
        base_url: of the server.
        timeout_s: longest wait for one answer.
    """

    def __init__(self, base_url: str, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._pool = httpcore.AsyncConnectionPool(**pool_options(base_url))

    async def send(self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Reply:
        received = Received(self._timeout_s)
        options = request_options(method, url, body, headers, self._timeout_s)
        try:
            # Received sees only the body: headers may trickle, too. httpcore's limits come first: they know what was sent.
            with anyio.fail_after(self._timeout_s * 1.1):
                async with self._pool.stream(**options) as response:
                    async for chunk in response.aiter_stream():
                        received.add(chunk)
                    return received.reply(response)
        except TimeoutError:
            raise ConnectionLost(f"the answer was not complete after {self._timeout_s:g} s", sent=True) from None
        except Exception as error:
            raise connection_lost(error, self._timeout_s) from None

    async def pause(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def run(self, function: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(function)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.aclose()
