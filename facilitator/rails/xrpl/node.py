"""A node of the XRP Ledger, asked from the event loop. xrpl-py would make a new HTTP client for every request."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from shared.nodes.xrpl_rpc import Json, XrplError, XrplRpc

RPC_TIMEOUT_S = 4.0
MAX_CALLS = 32
"""At a time. Each has a thread; more calls wait for one, within their time limit."""

NodeSaysNo = XrplError
NODE_ERRORS = (XrplError, OSError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)
"""What asking the node raises when it does not answer, or not as it should."""


class XrplNode:
    """Asks one node. Every call is bounded in time and in size."""

    def __init__(self, url: str) -> None:
        self._rpc = XrplRpc(url, timeout_s=RPC_TIMEOUT_S)
        self._threads = ThreadPoolExecutor(MAX_CALLS, "xrpl-node")

    async def ask(self, method: str, **parameters: Any) -> Json:
        """The `result` of a method. Raises what is in NODE_ERRORS."""
        async with asyncio.timeout(RPC_TIMEOUT_S):
            call = partial(self._rpc, method, **parameters)
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def close(self) -> None:
        """Close the connections. It can be asked again."""
        self._rpc.close()
