"""How a read of jobs/ports/chains.py goes out as JSON-RPC, and what its result has to look like."""

import re
from typing import Any

from jobs.ports.chains import (
    Balance,
    BlockTime,
    Call,
    ChainCall,
    ChainId,
    Code,
    EstimateGas,
    GasPrice,
    Nonce,
    ReceiptByHash,
    Storage,
    TransactionByHash,
)
from shared.nodes import json_rpc

_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}", re.ASCII)
_BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)


def is_of_block(call: ChainCall) -> bool:
    """Whether the answer depends on the block."""
    return not isinstance(call, GasPrice | ChainId | BlockTime | TransactionByHash | ReceiptByHash)


def header_of(block: int | None) -> json_rpc.Call:
    """The question for a block's header; None: the newest."""
    return json_rpc.Call("eth_getBlockByNumber", ("latest" if block is None else hex(block), False))


def request_of(call: ChainCall, block: int) -> json_rpc.Call:
    """The method and its parameters, at that block where the call is of one."""
    at = hex(block)
    match call:
        case Call():
            return json_rpc.Call("eth_call", (_transaction(call), at))
        case EstimateGas():
            return json_rpc.Call("eth_estimateGas", (_transaction(call), at))
        case Balance(address):
            return json_rpc.Call("eth_getBalance", (address, at))
        case Nonce(address):
            return json_rpc.Call("eth_getTransactionCount", (address, at))
        case Code(address=address):
            return json_rpc.Call("eth_getCode", (address, at))
        case Storage(address, slot):
            return json_rpc.Call("eth_getStorageAt", (address, f"0x{slot:064x}", at))
        case BlockTime(number):
            return header_of(number)
        case TransactionByHash(asked):
            return json_rpc.Call("eth_getTransactionByHash", (asked,))
        case ReceiptByHash(asked):
            return json_rpc.Call("eth_getTransactionReceipt", (asked,))
        case GasPrice():
            return json_rpc.Call("eth_gasPrice")
        case ChainId():
            return json_rpc.Call("eth_chainId")


def result_of(call: ChainCall, value: Any) -> Any:
    """The result as jobs/ports/chains.py describes it.

    Raises:
        ValueError: it is not of the right form, or an answer to another question.
    """
    match call:
        case Call() | Code():
            return _bytes(value)
        case Storage():
            # Some nodes leave zeros out.
            return (0 if value == "0x" else quantity(value)).to_bytes(32)
        case BlockTime(number):
            return None if value is None else header(value, number)[1]
        case TransactionByHash(asked):
            return _found(value, "hash", asked)
        case ReceiptByHash(asked):
            return _found(value, "transactionHash", asked)
        case _:
            return quantity(value)


def quantity(value: Any) -> int:
    """A number of at most 32 bytes. Raises ValueError."""
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise ValueError("not a quantity")
    return int(value, 16)


def header(value: Any, asked: int | None) -> tuple[int, int]:
    """Number and timestamp of a block that was asked for by number; None: the newest.

    Raises:
        ValueError: it is not a block, or another one.
    """
    if not isinstance(value, dict):
        raise ValueError("not a block")
    number, timestamp = quantity(value.get("number")), quantity(value.get("timestamp"))
    if asked is not None and number != asked:
        raise ValueError("another block")
    return number, timestamp


def _transaction(call: Call | EstimateGas) -> dict[str, str]:
    # Some nodes know `input` only, older ones `data` only: all read `data`.
    parts = {"to": call.to, "data": "0x" + call.data.hex(), "from": call.sender}
    written = {name: value for name, value in parts.items() if value is not None}
    if call.value:
        written["value"] = hex(call.value)
    if isinstance(call, Call) and call.gas is not None:
        written["gas"] = hex(call.gas)
    return written


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str) or not _BYTES.fullmatch(value):
        raise ValueError("not bytes")
    return bytes.fromhex(value[2:])


def _found(value: Any, named: str, asked: str) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or str(value.get(named)).lower() != asked:
        raise ValueError("another transaction")
    return value
