"""How an EVM node's answers are read, and what several parts of the rail ask it."""

import re
from typing import Any

from facilitator.json_rpc import JsonRpcNode
from facilitator.rails.evm.calldata import authorization_state
from shared.nodes.json_rpc import REVERTED, Call, RpcError
from shared.x402.networks import EvmToken

_FAILS = re.compile(r"revert|out ?of ?gas|invalid ?(?:fe)?opcode|gas required exceeds", re.IGNORECASE)


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
    if answer.code == REVERTED or _FAILS.search(answer.message):
        return True
    raise answer


def view(address: str, data: bytes) -> Call:
    """Asks a contract for the result of a view function."""
    return Call("eth_call", ({"to": address, "data": "0x" + data.hex()}, "latest"))


async def is_nonce_used(node: JsonRpcNode, token: EvmToken, payer: str, nonce: bytes) -> bool:
    """Whether the payer's nonce was used, by a transfer or by a cancellation. Raises what is in NODE_ERRORS."""
    call = view(token.address, authorization_state(payer, nonce))
    return any(bytes_of(await node.ask(call.method, *call.params)))
