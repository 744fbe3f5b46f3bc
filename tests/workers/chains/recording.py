"""What a node says of thirty blocks, as JSON-RPC: ten written by hand and twenty generated. Every answer is unlike every other,
so that an answer to another question is never a right one by chance."""

import json
import random
from collections.abc import Mapping
from typing import Any, NamedTuple

from jobs.ports.chains import (
    Balance,
    BlockTime,
    Call,
    ChainCall,
    Code,
    EstimateGas,
    GasPrice,
    Nonce,
    ReceiptByHash,
    Reverted,
    Storage,
    TransactionByHash,
    Unavailable,
)

FIRST = 1_000
STEP_S = 12
TOKEN, ACCOUNT = "0x" + "70" * 20, "0x" + "ac" * 20
SYMBOL = bytes.fromhex("95d89b41")


class Question(NamedTuple):
    """A read, how it goes out (the block's number goes where `None` stands), and what comes back.

    Attributes:
        reply: `result` or `error` of the JSON-RPC reply.
        right: the result that the port promises.
    """

    call: ChainCall
    method: str
    params: list[Any]
    reply: dict[str, Any]
    right: Any


def _call(data: bytes, reply: dict[str, Any], right: Any) -> Question:
    call = Call(to=TOKEN, data=data)
    return Question(call, "eth_call", [{"to": TOKEN, "data": "0x" + data.hex()}, None], reply, right)


def _error(code: int, message: str, data: Any = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message} | ({} if data is None else {"data": data})}


def _result(result: Any) -> dict[str, Any]:
    return {"result": result}


_REASON = "08c379a0" + f"{32:064x}" + f"{4:064x}" + b"no!!".hex().ljust(64, "0")
_MINED, _WAITING, _UNKNOWN, _OLD = (f"0x{byte * 32}" for byte in ("a1", "a2", "a3", "a4"))
_BYTES32 = b"MKR".ljust(32, b"\0")

BY_HAND: list[list[Question]] = [
    [  # Nothing at all, and as much as there can be.
        Question(Balance(ACCOUNT), "eth_getBalance", [ACCOUNT, None], _result("0x0"), 0),
        Question(Nonce(ACCOUNT), "eth_getTransactionCount", [ACCOUNT, None], _result(hex(2**64 - 2)), 2**64 - 2),
        Question(Code(ACCOUNT), "eth_getCode", [ACCOUNT, None], _result("0x"), b""),
        _call(SYMBOL, _result("0x"), b""),
    ],
    [  # The edges of storage.
        Question(
            Storage(TOKEN, 0), "eth_getStorageAt", [TOKEN, f"0x{0:064x}", None], _result("0x" + "f" * 64), b"\xff" * 32
        ),
        Question(
            Storage(TOKEN, 2**256 - 1), "eth_getStorageAt", [TOKEN, "0x" + "f" * 64, None],
            _result("0x1"), (1).to_bytes(32),
        ),
    ],
    [  # A reason, in the three places where nodes put it.
        _call(b"\1", _error(3, "execution reverted: no!!", "0x" + _REASON), Reverted(bytes.fromhex(_REASON))),
        _call(b"\2", _error(-32015, "VM execution error.", "Reverted 0x" + _REASON), Reverted(bytes.fromhex(_REASON))),
        _call(b"\3", _error(-32603, "Error: reverted", {"data": "0x" + _REASON}), Reverted(bytes.fromhex(_REASON))),
    ],
    [  # No reason, or one that looks like the node's own trouble.
        _call(b"\4", _error(3, "execution reverted"), Reverted(b"")),
        _call(b"\5", _error(-32000, "execution reverted: rate limit, header not found"), Reverted(b"")),
        _call(b"\6", _error(3, "execution reverted", "0x"), Reverted(b"")),
    ],
    [  # The EVM stopped by itself.
        _call(b"\7", _error(-32000, "out of gas"), Reverted(b"", "out_of_gas")),
        _call(b"\x08", _error(-32003, "EVM error InvalidFEOpcode"), Reverted(b"", "invalid_opcode")),
        _call(b"\x09", _error(-32000, "invalid opcode: INVALID"), Reverted(b"", "invalid_opcode")),
        _call(b"\x0a", _error(-32000, "stack underflow (0 <=> 1)"), Reverted(b"", "halted")),
        _call(b"\x0b", _error(-32000, "insufficient funds for gas * price + value"), Reverted(b"", "insufficient_funds")),
    ],
    [  # Estimates.
        Question(
            EstimateGas(to=TOKEN, data=b"", sender=ACCOUNT, value=7),
            "eth_estimateGas",
            [{"to": TOKEN, "data": "0x", "from": ACCOUNT, "value": "0x7"}, None],
            _result("0x5208"),
            21_000,
        ),
        Question(
            EstimateGas(to=TOKEN, data=b"\1"),
            "eth_estimateGas",
            [{"to": TOKEN, "data": "0x01"}, None],
            _error(-32000, "gas required exceeds allowance (0)"),
            Reverted(b"", "out_of_gas"),
        ),
    ],
    [  # Old state that is not kept, in the words of four nodes.
        Question(Code("0x" + f"{n:040x}"), "eth_getCode", ["0x" + f"{n:040x}", None], _error(code, words), Unavailable())
        for n, (code, words) in enumerate(
            [
                (-32000, "missing trie node 4f... (path ) state 0x... is not available"),
                (-32602, "BlockOutOfRangeError: block height is 1509 but requested was 0"),
                (-32000, "state already discarded"),
                (-32614, "historical state unavailable in database, the node is pruned"),
            ]
        )
    ],
    [  # Transactions: mined, waiting, unknown, and unknown as some nodes say it.
        Question(
            TransactionByHash(_MINED), "eth_getTransactionByHash", [_MINED], _result({"hash": _MINED, "blockNumber": "0x3ef"}),
            {"hash": _MINED, "blockNumber": "0x3ef"},
        ),
        Question(
            ReceiptByHash(_MINED), "eth_getTransactionReceipt", [_MINED], _result({"transactionHash": _MINED, "status": "0x1"}),
            {"transactionHash": _MINED, "status": "0x1"},
        ),
        Question(
            TransactionByHash(_WAITING), "eth_getTransactionByHash", [_WAITING],
            _result({"hash": _WAITING, "blockNumber": None}),
            {"hash": _WAITING, "blockNumber": None},
        ),
        Question(ReceiptByHash(_WAITING), "eth_getTransactionReceipt", [_WAITING], _result(None), None),
        Question(TransactionByHash(_UNKNOWN), "eth_getTransactionByHash", [_UNKNOWN], _result(None), None),
        Question(
            ReceiptByHash(_OLD), "eth_getTransactionReceipt", [_OLD], _error(-32001, "resource not found"), None
        ),
    ],
    [  # What is of no block.
        Question(GasPrice(), "eth_gasPrice", [], _result("0x3b9aca00"), 10**9),
        Question(
            BlockTime(17), "eth_getBlockByNumber", ["0x11", False], _result({"number": "0x11", "timestamp": "0x5"}), 5
        ),
        Question(BlockTime(10**9), "eth_getBlockByNumber", [hex(10**9), False], _result(None), None),
    ],
    [  # A creation, a delegation, and a symbol of 32 bytes.
        Question(
            Call(to=None, data=b"\xfe", sender=ACCOUNT, value=1, gas=99),
            "eth_call",
            [{"data": "0xfe", "from": ACCOUNT, "value": "0x1", "gas": "0x63"}, None],
            _error(-32000, "InvalidInstruction: Invalid opcode 0xfe @ 0"),
            Reverted(b"", "invalid_opcode"),
        ),
        Question(
            Code(ACCOUNT, is_constant=True), "eth_getCode", [ACCOUNT, None], _result("0xef0100" + "70" * 20),
            b"\xef\x01\x00" + b"\x70" * 20,
        ),
        Question(
            Call(to=TOKEN, data=SYMBOL, is_constant=True), "eth_call", [{"to": TOKEN, "data": "0x95d89b41"}, None],
            _result("0x" + _BYTES32.hex()), _BYTES32,
        ),
    ],
]  # fmt: skip


def _generated(random: random.Random) -> list[Question]:
    made = []
    for _ in range(random.randrange(1, 12)):
        address, number = "0x" + random.randbytes(20).hex(), random.getrandbits(200)
        data = random.randbytes(random.randrange(4, 100))
        choices = [
            Question(Balance(address), "eth_getBalance", [address, None], _result(hex(number)), number),
            Question(Nonce(address), "eth_getTransactionCount", [address, None], _result(hex(number)), number),
            Question(Code(address), "eth_getCode", [address, None], _result("0x" + data.hex()), data),
            Question(
                Storage(address, number), "eth_getStorageAt", [address, f"0x{number:064x}", None],
                _result(f"0x{number + 1:064x}"), (number + 1).to_bytes(32),
            ),
            _call(data, _result("0x" + data[::-1].hex()), data[::-1]),
            _call(data, _error(3, "execution reverted", "0x" + data[:4].hex()), Reverted(data[:4])),
        ]  # fmt: skip
        made.append(random.choice(choices))
    return made


_RANDOM = random.Random(20_261_122)
BLOCKS: list[list[Question]] = BY_HAND + [_generated(_RANDOM) for _ in range(20)]
HEAD = FIRST + len(BLOCKS) - 1


def number_of(index: int) -> int:
    """Of the block at that place in BLOCKS."""
    return FIRST + index


def reply_of(method: str, params: list[Any], now: int, head: int = HEAD) -> dict[str, Any]:
    """What a node answers whose newest block is `head`, mined at `now`."""
    if method == "eth_getBlockByNumber" and params[0] != hex(17):
        number = head if params[0] == "latest" else int(params[0], 16)
        if number > head:
            return _result(None)
        return _result({"number": hex(number), "timestamp": hex(now - (head - number) * STEP_S), "transactions": []})
    for index, questions in enumerate(BLOCKS):
        for question in questions:
            written = [hex(number_of(index)) if one is None else one for one in question.params]
            if (question.method, question.params.count(None)) == (method, 1) and params[-1] == written[-1]:
                if int(params[-1], 16) > head:
                    return _error(-32000, "header not found")
                if json.dumps(written) == json.dumps(params):
                    return question.reply
            elif (question.method, written) == (method, params):
                return question.reply
    return _error(-32000, "the recording has no such question")


def with_id(reply: Mapping[str, Any], number: Any) -> dict[str, Any]:
    """A whole reply."""
    return {"jsonrpc": "2.0", "id": number, **reply}
