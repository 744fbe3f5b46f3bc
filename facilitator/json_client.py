"""The HTTP client of the facilitator and the claimer: JSON to one address, over connections that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aiohttp
import msgspec

from shared.nodes.json_rpc import MAX_ANSWER_BYTES

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
