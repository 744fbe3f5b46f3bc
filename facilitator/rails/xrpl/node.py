"""A node of the XRP Ledger: JSON-RPC over one pool of connections. xrpl-py would make a new HTTP client for every request."""

from __future__ import annotations

from typing import Any

import aiohttp
import msgspec

RPC_TIMEOUT_S = 4.0
MAX_ANSWER_BYTES = 2 * 1024 * 1024
API_VERSION = 2

Json = dict[str, Any]


class NodeSaysNo(Exception):
    """The node answered with an error.

    Args:
        code: its `error`, for instance ``txnNotFound``.
        result: all that it said.
    """

    def __init__(self, code: str, result: Json) -> None:
        super().__init__(code)
        self.code = code
        self.result = result


NODE_ERRORS = (
    *(NodeSaysNo, aiohttp.ClientError, OSError, TimeoutError),
    *(ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError),
)
"""What asking the node raises when it does not answer, or not as it should."""


class XrplNode:
    """Asks one node. Every call is bounded in time and in size."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, method: str, **parameters: Any) -> Json:
        """The `result` of a method. Raises what is in NODE_ERRORS."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=RPC_TIMEOUT_S))
        request = {"method": method, "params": [{"api_version": API_VERSION, **parameters}]}
        async with self._session.post(
            self._url,
            data=msgspec.json.encode(request),
            headers={"Content-Type": "application/json"},
            allow_redirects=False,
        ) as response:
            if response.status != 200:
                raise ValueError(f"status {response.status}")
            content = b""
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) > MAX_ANSWER_BYTES:
                    raise ValueError("an answer without end")
        result = msgspec.json.decode(content)["result"]
        if result.get("status") != "success":
            raise NodeSaysNo(str(result.get("error")), result)
        return dict(result)

    async def close(self) -> None:
        """Close the connections. It can be asked again."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
