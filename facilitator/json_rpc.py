"""JSON to one address over connections that are kept, and JSON-RPC with a node, from the event loop. shared/nodes/ has the same
for threads."""

import asyncio
import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import aiohttp
import msgspec

from shared.nodes.json_rpc import MAX_ANSWER_BYTES, Call, RpcError, request_of, result_of, results_of

CLIENT_ERRORS = (aiohttp.ClientError, OSError, TimeoutError, ValueError)
"""What a request raises when there is no answer, or one that is too long."""

_IDLE_S = 4.0
"""A connection that was idle for longer is not used again: Node's servers close theirs after 5 s."""


class JsonClient:
    """POSTs JSON to one address.

    Args:
        connections: the most at a time; 0 for no bound. Further requests wait for one, within their time limit.

    Attributes:
        timeout_s: the time limit of a request.
    """

    timeout_s = 4.0

    def __init__(self, url: str, *, connections: int = 0) -> None:
        self._url = url
        self._most_connections = connections
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: Any, headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        """Status and content of the answer. Raises what is in CLIENT_ERRORS."""
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._most_connections, keepalive_timeout=_IDLE_S)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        content = bytearray()
        async with self._session.post(
            self._url,
            data=msgspec.json.encode(body),
            headers={**(headers or {}), "Content-Type": "application/json"},
            timeout=aiohttp.ClientTimeout(total=self.timeout_s),
            allow_redirects=False,
        ) as response:
            async for part in response.content.iter_any():
                content += part
                if len(content) > MAX_ANSWER_BYTES:
                    raise ValueError(f"an answer of over {MAX_ANSWER_BYTES} bytes")
        return response.status, bytes(content)

    async def close(self) -> None:
        """Close the connections. The client can be used again."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


MOST_CALLS = 100
"""Calls in one request. Many providers allow no more."""
NODE_ERRORS = (RpcError, *CLIENT_ERRORS, TypeError, LookupError, AttributeError)
"""What a call to a node raises when it does not answer, or not as it should."""

log = logging.getLogger(__name__)


class JsonRpcNode(JsonClient):
    """A client of one JSON-RPC 2.0 node. Its methods raise what is in NODE_ERRORS."""

    def __init__(self, url: str, *, connections: int = 0) -> None:
        super().__init__(url, connections=connections)
        self._ids = itertools.count(1)

    async def ask(self, method: str, *params: Any) -> Any:
        """The result of one call."""
        number = next(self._ids)
        _, content = await self.post(request_of(number, Call(method, params)))
        return result_of(content, number)

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        """The results of many calls, in their order, from as few requests as possible. An error of one is an RpcError there."""
        parts = [calls[start : start + MOST_CALLS] for start in range(0, len(calls), MOST_CALLS)]
        found = await asyncio.gather(*(self._ask_part(part) for part in parts))
        return [value for values in found for value in values]

    async def _ask_part(self, calls: Sequence[Call]) -> list[Any]:
        numbers = [next(self._ids) for _ in calls]
        try:
            body = [request_of(number, call) for number, call in zip(numbers, calls, strict=True)]
            _, content = await self.post(body)
            return results_of(content, numbers)
        except RpcError:
            # The node takes no requests of several calls, or none of so many.
            return await asyncio.gather(*(self._answer(call) for call in calls))

    async def _answer(self, call: Call) -> Any:
        try:
            return await self.ask(call.method, *call.params)
        except RpcError as error:
            return error


class NodeFailures:
    """Swallows what a node's calls raise, and logs the first failure of each series.

    Args:
        network: CAIP-2, for the log.
        errors: what a call to the node raises when it fails.
    """

    def __init__(self, network: str, errors: tuple[type[Exception], ...]) -> None:
        self._network = network
        self._errors = errors
        self.is_failing = False

    @contextmanager
    def swallowed(self) -> Iterator[None]:
        """Around the calls to the node."""
        try:
            yield
            self.is_failing = False
        except self._errors as error:
            if not self.is_failing:
                log.warning("%s: the node cannot be asked: %s", self._network, type(error).__name__)
            self.is_failing = True
