"""The connection to an EVM node, and what several parts of the rail ask it."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Sequence
from typing import Any

import aiohttp
import msgspec

from facilitator.rails.evm.calldata import authorization_state
from shared.nodes.json_rpc import Call, RpcError, result_of, results_of
from shared.x402.networks import EvmToken

RPC_TIMEOUT_S = 4.0
MOST_CALLS = 100
"""Calls in one request. Many providers allow no more."""
NODE_ERRORS = (RpcError, aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError, LookupError, AttributeError)
"""What a call to the node raises when it does not answer, or not as it should."""

_IDLE_S = 4.0
"""A connection that was idle for longer is not used again: Node's servers close theirs after 5 s."""
_REVERTED = 3
_FAILS = re.compile(r"revert|out ?of ?gas|invalid ?(?:fe)?opcode|gas required exceeds", re.IGNORECASE)


class EvmNode:
    """A JSON-RPC client of one node. Its connections are kept. Every method raises what is in NODE_ERRORS."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ids = itertools.count(1)
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, method: str, *params: Any) -> Any:
        """The result of one call."""
        number = next(self._ids)
        return result_of(await self._post(_request(number, Call(method, params))), number)

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        """The results of many calls, in their order, from as few requests as possible. An error of one is an RpcError there."""
        parts = [calls[start : start + MOST_CALLS] for start in range(0, len(calls), MOST_CALLS)]
        found = await asyncio.gather(*(self._ask_part(part) for part in parts))
        return [value for values in found for value in values]

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _ask_part(self, calls: Sequence[Call]) -> list[Any]:
        numbers = [next(self._ids) for _ in calls]
        try:
            body = [_request(number, call) for number, call in zip(numbers, calls, strict=True)]
            return results_of(await self._post(body), numbers)
        except RpcError:
            # The node takes no requests of several calls, or none of so many.
            return await asyncio.gather(*(self._answer(call) for call in calls))

    async def _answer(self, call: Call) -> Any:
        try:
            return await self.ask(call.method, *call.params)
        except RpcError as error:
            return error

    async def _post(self, body: Any) -> bytes:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_S)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        async with self._session.post(
            self._url,
            data=msgspec.json.encode(body),
            headers={"Content-Type": "application/json"},
            timeout=aiohttp.ClientTimeout(total=RPC_TIMEOUT_S),
            allow_redirects=False,
        ) as response:
            return await response.read()


def value_of(answer: Any) -> Any:
    """An answer of `ask_all` that must be no error. Raises RpcError."""
    if isinstance(answer, RpcError):
        raise answer
    return answer


def number_of(answer: Any) -> int:
    """A quantity, ``0x1f``. Raises ValueError and TypeError for anything else, and RpcError."""
    return int(value_of(answer), 16)


def bytes_of(answer: Any) -> bytes:
    """Data, ``0x00ff``. Raises what `number_of` raises."""
    return bytes.fromhex(value_of(answer).removeprefix("0x"))


def is_failure(answer: Any) -> bool:
    """Whether a call was executed and failed: it reverted, or used all its gas.

    Raises:
        RpcError: the node did not execute it.
    """
    if not isinstance(answer, RpcError):
        return False
    if answer.code == _REVERTED or _FAILS.search(answer.message):
        return True
    raise answer


def view(address: str, data: bytes) -> Call:
    """Asks a contract for the result of a view function."""
    return Call("eth_call", ({"to": address, "data": "0x" + data.hex()}, "latest"))


async def is_nonce_used(node: EvmNode, token: EvmToken, payer: str, nonce: bytes) -> bool:
    """Whether the payer's nonce was used, by a transfer or by a cancellation. Raises what is in NODE_ERRORS."""
    call = view(token.address, authorization_state(payer, nonce))
    return any(bytes_of(await node.ask(call.method, *call.params)))


def _request(number: int, call: Call) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": call.method, "params": call.params}
