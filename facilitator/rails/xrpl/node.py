"""A node of the XRP Ledger."""

from typing import Any

from facilitator import json_rpc
from facilitator.json_rpc import JsonClient
from shared.nodes.xrpl_rpc import Json, XrplError, request_of, result_of

MOST_CONNECTIONS = 32
NODE_ERRORS = (*json_rpc.NODE_ERRORS, XrplError, ArithmeticError)
"""What asking the node raises when it does not answer, or not as it should."""


class XrplNode(JsonClient):
    """Asks one node. Every call is bounded in time and in size."""

    def __init__(self, url: str) -> None:
        super().__init__(url, connections=MOST_CONNECTIONS)

    async def ask(self, method: str, **parameters: Any) -> Json:
        """The `result` of a method. Raises what is in NODE_ERRORS."""
        _, content = await self.post(request_of(method, parameters))
        return result_of(content)
