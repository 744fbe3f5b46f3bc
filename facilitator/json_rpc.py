"""JSON-RPC with a node from the event loop. shared/nodes/ has the same for threads."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from facilitator.json_client import CLIENT_ERRORS, JsonClient
from shared.nodes.json_rpc import Call, RpcError, request_of, result_of, results_of

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
