"""JSON-RPC with a node from the event loop, over connections that are kept. shared/nodes/ has the same for threads."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import aiohttp
import msgspec

from shared.nodes.json_rpc import MAX_ANSWER_BYTES, Call, RpcError, request_of, result_of, results_of

RPC_TIMEOUT_S = 4.0
MOST_CALLS = 100
"""Calls in one request. Many providers allow no more."""
NODE_ERRORS = (RpcError, aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError, LookupError, AttributeError)
"""What a call to a node raises when it does not answer, or not as it should."""

_IDLE_S = 4.0
"""A connection that was idle for longer is not used again: Node's servers close theirs after 5 s."""


class NodeClient:
    """POSTs JSON to one node. Every method raises what is in NODE_ERRORS.

    Args:
        connections: the most at a time; 0 for no bound. Further requests wait for one, within their time limit.
    """

    def __init__(self, url: str, *, connections: int = 0) -> None:
        self._url = url
        self._most_connections = connections
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: Any) -> bytes:
        """The content of the answer, whatever its status."""
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._most_connections, keepalive_timeout=_IDLE_S)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        content = bytearray()
        async with self._session.post(
            self._url,
            data=msgspec.json.encode(body),
            headers={"Content-Type": "application/json"},
            timeout=aiohttp.ClientTimeout(total=RPC_TIMEOUT_S),
            allow_redirects=False,
        ) as response:
            async for part in response.content.iter_any():
                content += part
                if len(content) > MAX_ANSWER_BYTES:
                    raise ValueError(f"an answer of over {MAX_ANSWER_BYTES} bytes")
        return bytes(content)

    async def close(self) -> None:
        """Close the connections. The client can be used again."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


class JsonRpcNode(NodeClient):
    """A client of one JSON-RPC 2.0 node."""

    def __init__(self, url: str, *, connections: int = 0) -> None:
        super().__init__(url, connections=connections)
        self._ids = itertools.count(1)

    async def ask(self, method: str, *params: Any) -> Any:
        """The result of one call."""
        number = next(self._ids)
        return result_of(await self.post(request_of(number, Call(method, params))), number)

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        """The results of many calls, in their order, from as few requests as possible. An error of one is an RpcError there."""
        parts = [calls[start : start + MOST_CALLS] for start in range(0, len(calls), MOST_CALLS)]
        found = await asyncio.gather(*(self._ask_part(part) for part in parts))
        return [value for values in found for value in values]

    async def _ask_part(self, calls: Sequence[Call]) -> list[Any]:
        numbers = [next(self._ids) for _ in calls]
        try:
            body = [request_of(number, call) for number, call in zip(numbers, calls, strict=True)]
            return results_of(await self.post(body), numbers)
        except RpcError:
            # The node takes no requests of several calls, or none of so many.
            return await asyncio.gather(*(self._answer(call) for call in calls))

    async def _answer(self, call: Call) -> Any:
        try:
            return await self.ask(call.method, *call.params)
        except RpcError as error:
            return error
