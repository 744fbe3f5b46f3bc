"""How the py-evm chain reads and writes JSON-RPC values: hex, calls, blocks, transactions, receipts and logs."""

from __future__ import annotations

from typing import Any

from eth.abc import BlockAPI, LogAPI, SignedTransactionAPI
from eth.vm.forks.byzantium.constants import EIP658_TRANSACTION_STATUS_CODE_SUCCESS
from eth_typing import Address
from eth_utils.address import to_checksum_address

from compose.sandbox.pyevm_node import Message, Mined, Node
from compose.sandbox.scene_state import GAS_LIMIT


def to_hex(value: bytes) -> str:
    """Bytes as 0x hex."""
    return "0x" + value.hex()


def to_word(value: int) -> str:
    """A number as 32 bytes of 0x hex."""
    return to_hex(value.to_bytes(32, "big"))


def from_hex(value: str) -> bytes:
    """0x hex as bytes; ValueError otherwise."""
    if not value.startswith("0x"):
        raise ValueError("hex must start with 0x")
    return bytes.fromhex(value[2:])


def to_address(value: str) -> Address:
    """0x hex as an address; ValueError unless it has 20 bytes."""
    address = from_hex(value)
    if len(address) != 20:
        raise ValueError("an address has 20 bytes")
    return Address(address)


def to_message(call: dict[str, Any]) -> Message:
    """The first parameter of eth_call and eth_estimateGas. Prices and nonces in it change nothing here and are ignored."""
    data = call.get("input") or call.get("data") or "0x"
    return Message(
        sender=to_address(call.get("from") or "0x" + "00" * 20),
        to=to_address(call["to"]) if call.get("to") else Address(b""),
        data=from_hex(data),
        value=int(call.get("value") or "0x0", 16),
        gas=min(int(call.get("gas") or hex(GAS_LIMIT), 16), GAS_LIMIT),
    )


def block_json(node: Node, block: BlockAPI, full: bool) -> dict[str, Any]:
    """A block, with its transactions or their hashes."""
    header = block.header
    mined = [one for transaction in block.transactions if (one := node.mined(transaction.hash))]
    return {
        "hash": to_hex(header.hash),
        "parentHash": to_hex(header.parent_hash),
        "number": hex(header.block_number),
        "timestamp": hex(header.timestamp),
        "baseFeePerGas": hex(header.base_fee_per_gas or 0),
        "gasLimit": hex(header.gas_limit),
        "gasUsed": hex(header.gas_used),
        "miner": to_checksum_address(header.coinbase),
        "difficulty": hex(header.difficulty),
        "totalDifficulty": "0x0",
        "extraData": to_hex(header.extra_data),
        "mixHash": to_hex(header.mix_hash),
        "nonce": to_hex(header.nonce),
        "sha3Uncles": to_hex(header.uncles_hash),
        "uncles": [],
        "logsBloom": to_hex(header.bloom.to_bytes(256, "big")),
        "stateRoot": to_hex(header.state_root),
        "transactionsRoot": to_hex(header.transaction_root),
        "receiptsRoot": to_hex(header.receipt_root),
        "size": hex(sum(len(one.transaction.encode()) for one in mined) + 600),
        "transactions": [
            transaction_json(node, one.transaction, one) if full else to_hex(one.transaction.hash) for one in mined
        ],
    }


def transaction_json(node: Node, transaction: SignedTransactionAPI, mined: Mined | None) -> dict[str, Any]:
    """A transaction; one that waits is in no block yet."""
    kind = transaction.type_id
    written: dict[str, Any] = {
        "hash": to_hex(transaction.hash),
        "type": hex(kind or 0),
        "chainId": hex(node.chain_id),
        "nonce": hex(transaction.nonce),
        "from": to_checksum_address(transaction.sender),
        "to": to_checksum_address(transaction.to) if transaction.to else None,
        "value": hex(transaction.value),
        "gas": hex(transaction.gas),
        "gasPrice": hex(mined.gas_price if mined else transaction.max_fee_per_gas),
        "input": to_hex(transaction.data),
        "r": hex(transaction.r),
        "s": hex(transaction.s),
        "v": hex(transaction.y_parity if kind else transaction.y_parity + 2 * node.chain_id + 35),
        "blockHash": to_hex(mined.block.hash) if mined else None,
        "blockNumber": hex(mined.block.number) if mined else None,
        "transactionIndex": "0x0" if mined else None,
    }
    if kind:
        written |= {
            "maxFeePerGas": hex(transaction.max_fee_per_gas),
            "maxPriorityFeePerGas": hex(transaction.max_priority_fee_per_gas),
            "yParity": hex(transaction.y_parity),
            "accessList": [
                {"address": to_checksum_address(account), "storageKeys": [to_word(slot) for slot in slots]}
                for account, slots in transaction.access_list
            ],
        }
    return written


def receipt_json(mined: Mined) -> dict[str, Any]:
    """What became of a transaction."""
    transaction, receipt = mined.transaction, mined.receipt
    return {
        "transactionHash": to_hex(transaction.hash),
        "transactionIndex": "0x0",
        "type": hex(transaction.type_id or 0),
        "blockHash": to_hex(mined.block.hash),
        "blockNumber": hex(mined.block.number),
        "from": to_checksum_address(transaction.sender),
        "to": to_checksum_address(transaction.to) if transaction.to else None,
        "contractAddress": to_checksum_address(mined.created) if mined.created else None,
        "status": hex(receipt.state_root == EIP658_TRANSACTION_STATUS_CODE_SUCCESS),
        "gasUsed": hex(receipt.gas_used),
        "cumulativeGasUsed": hex(receipt.gas_used),
        "effectiveGasPrice": hex(mined.gas_price),
        "logsBloom": to_hex(receipt.bloom.to_bytes(256, "big")),
        "logs": [log_json(mined, index, log) for index, log in enumerate(receipt.logs)],
    }


def log_json(mined: Mined, index: int, log: LogAPI) -> dict[str, Any]:
    """A log, as in receipts and in eth_getLogs."""
    return {
        "address": to_checksum_address(log.address),
        "topics": [to_word(topic) for topic in log.topics],
        "data": to_hex(log.data),
        "blockHash": to_hex(mined.block.hash),
        "blockNumber": hex(mined.block.number),
        "transactionHash": to_hex(mined.transaction.hash),
        "transactionIndex": "0x0",
        "logIndex": hex(index),
        "removed": False,
    }
