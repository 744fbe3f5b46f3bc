"""The JSON-RPC methods of the py-evm chain: what a wallet, a facilitator and web3 ask of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from eth.abc import BlockAPI, LogAPI
from eth_typing import Hash32

from compose.sandbox.pyevm_node import Mined, Node
from compose.sandbox.pyevm_wire import (
    block_json,
    from_hex,
    log_json,
    receipt_json,
    to_address,
    to_hex,
    to_message,
    transaction_json,
)
from shared.json_rpc import RpcError

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
_TIP_WEI = 10**9
_NEWEST = ("latest", "pending", "safe", "finalized")


def answer(node: Node, method: str, params: Sequence[Any]) -> Any:
    """The result of one call.

    Raises:
        RpcError: also for a method that is not served here and for parameters that do not fit.
    """
    serve = _METHODS.get(method)
    if serve is None:
        raise RpcError(METHOD_NOT_FOUND, f"the method {method} does not exist/is not available")
    try:
        return serve(node, *params)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise RpcError(INVALID_PARAMS, f"invalid parameters for {method}: {error}") from error


# What is asked of a block.


def _number_of(node: Node, block: str | int | None) -> int | None:
    """The number of a block that was named by number or tag; None for the newest, whatever its name."""
    if block is None or block in _NEWEST:
        return None
    # The newest block by its number is not the same: a call on it runs at that block's time instead of the clock's.
    return 0 if block == "earliest" else int(block, 16) if isinstance(block, str) else block


def _head(node: Node) -> int:
    return len(node.blocks) - 1


def _block_number(node: Node) -> str:
    node.keep_up()
    return hex(_head(node))


def _get_block_by_number(node: Node, block: str, full: bool = False) -> Any:
    number = _number_of(node, block)
    if number is None:
        node.keep_up()
    number = _head(node) if number is None else number
    return block_json(node, node.blocks[number], full) if 0 <= number <= _head(node) else None


def _get_block_by_hash(node: Node, block_hash: str, full: bool = False) -> Any:
    wanted = from_hex(block_hash)
    return next((block_json(node, block, full) for block in node.blocks if block.hash == wanted), None)


def _fee_history(node: Node, count: str | int, newest: str, percentiles: Sequence[float] | None = None) -> Any:
    number = _number_of(node, newest)
    last = _head(node) if number is None else min(number, _head(node))
    first = max(0, last - (int(count, 16) if isinstance(count, str) else count) + 1)
    headers = [block.header for block in node.blocks[first : last + 1]]
    next_fee = (node.blocks[last + 1].header.base_fee_per_gas or 0) if last < _head(node) else node.next_base_fee()
    history = {
        "oldestBlock": hex(first),
        "baseFeePerGas": [*(hex(header.base_fee_per_gas or 0) for header in headers), hex(next_fee)],
        "gasUsedRatio": [header.gas_used / header.gas_limit for header in headers],
    }
    return history | ({"reward": [[hex(_TIP_WEI) for _ in percentiles] for _ in headers]} if percentiles else {})


# What is asked of the state.


def _get_balance(node: Node, account: str, block: str | None = None) -> str:
    return hex(node.state(_number_of(node, block)).get_balance(to_address(account)))


def _get_code(node: Node, account: str, block: str | None = None) -> str:
    return to_hex(node.state(_number_of(node, block)).get_code(to_address(account)))


def _get_storage_at(node: Node, account: str, slot: str, block: str | None = None) -> str:
    value = node.state(_number_of(node, block)).get_storage(to_address(account), int(slot, 16))
    return to_hex(value.to_bytes(32, "big"))


def _get_transaction_count(node: Node, account: str, block: str | None = None) -> str:
    return hex(node.nonce(to_address(account), _number_of(node, block)))


def _call(node: Node, call: dict[str, Any], block: str | None = None) -> str:
    return to_hex(node.call(to_message(call), _number_of(node, block)))


def _estimate_gas(node: Node, call: dict[str, Any], block: str | None = None) -> str:
    return hex(node.estimate(to_message(call), _number_of(node, block)))


# What is asked of transactions.


def _send_raw_transaction(node: Node, raw: str) -> str:
    return to_hex(node.send(from_hex(raw)))


def _get_transaction_by_hash(node: Node, transaction_hash: str) -> Any:
    wanted = Hash32(from_hex(transaction_hash))
    if mined := node.mined(wanted):
        return transaction_json(node, mined.transaction, mined)
    waiting = node.waiting(wanted)
    return transaction_json(node, waiting, None) if waiting else None


def _get_transaction_receipt(node: Node, transaction_hash: str) -> Any:
    mined = node.mined(Hash32(from_hex(transaction_hash)))
    return receipt_json(mined) if mined else None


def _get_logs(node: Node, wanted: dict[str, Any]) -> list[Any]:
    if "blockHash" in wanted:
        block_hash = from_hex(wanted["blockHash"])
        blocks = [block for block in node.blocks if block.hash == block_hash]
        if not blocks:
            raise RpcError(-32000, "unknown block")
    else:
        first, last = (_number_of(node, wanted.get(end)) for end in ("fromBlock", "toBlock"))
        blocks = node.blocks[_head(node) if first is None else first : None if last is None else last + 1]
    addresses = wanted.get("address") or []
    addresses = {to_address(one) for one in ([addresses] if isinstance(addresses, str) else addresses)}
    topics = [_alternatives(topic) for topic in wanted.get("topics") or []]
    return [
        log_json(mined, index, log)
        for mined, index, log in _logs_of(node, blocks)
        if (not addresses or log.address in addresses) and _topics_match(log, topics)
    ]


def _logs_of(node: Node, blocks: Sequence[BlockAPI]) -> Iterator[tuple[Mined, int, LogAPI]]:
    for block in blocks:
        for transaction in block.transactions:
            mined = node.mined(transaction.hash)
            if mined:
                yield from ((mined, index, log) for index, log in enumerate(mined.receipt.logs))


def _alternatives(topic: str | list[str] | None) -> set[int]:
    """The values that are wanted at one place; none means anything."""
    return {int(one, 16) for one in ([topic] if isinstance(topic, str) else topic or [])}


def _topics_match(log: LogAPI, wanted: Sequence[set[int]]) -> bool:
    if len(wanted) > len(log.topics):
        return False
    return all(not values or topic in values for topic, values in zip(log.topics, wanted, strict=False))


_METHODS: dict[str, Callable[..., Any]] = {
    "eth_accounts": lambda node: [],
    "eth_blockNumber": _block_number,
    "eth_call": _call,
    "eth_chainId": lambda node: hex(node.chain_id),
    "eth_estimateGas": _estimate_gas,
    "eth_feeHistory": _fee_history,
    "eth_gasPrice": lambda node: hex(node.next_base_fee() + _TIP_WEI),
    "eth_getBalance": _get_balance,
    "eth_getBlockByHash": _get_block_by_hash,
    "eth_getBlockByNumber": _get_block_by_number,
    "eth_getCode": _get_code,
    "eth_getLogs": _get_logs,
    "eth_getStorageAt": _get_storage_at,
    "eth_getTransactionByHash": _get_transaction_by_hash,
    "eth_getTransactionCount": _get_transaction_count,
    "eth_getTransactionReceipt": _get_transaction_receipt,
    "eth_maxPriorityFeePerGas": lambda node: hex(_TIP_WEI),
    "eth_sendRawTransaction": _send_raw_transaction,
    "eth_syncing": lambda node: False,
    "net_version": lambda node: str(node.chain_id),
    "web3_clientVersion": lambda node: "coinslot-sandbox/py-evm",
}
