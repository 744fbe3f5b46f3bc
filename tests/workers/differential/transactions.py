"""Transactions by chance: of the scene's tokens, and of contracts that emit whatever they like."""

import random
import time
from typing import Any, NamedTuple

from eth_abi import encode
from web3 import Web3
from web3._utils.events import get_event_data
from web3.exceptions import LogTopicError

from compose.sandbox import fixtures
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm import keccak256
from tests.workers.differential.bytecode import logging, selector, word

PARTIES = (fixtures.HOLDER, fixtures.FRIEND, fixtures.DUSTY, fixtures.OLD_SPENDER)
FUNGIBLE = (fixtures.ERC20, fixtures.BYTES32_ERC20, fixtures.BARE_ERC20, fixtures.COPYCAT, fixtures.USDC[fixtures.BASE])
WETH = "0x4200000000000000000000000000000000000006"
TRANSFER = keccak256(b"Transfer(address,address,uint256)")
SINGLE = keccak256(b"TransferSingle(address,address,address,uint256,uint256)")
BATCH = keccak256(b"TransferBatch(address,address,address,uint256[],uint256[])")
DEPOSIT, WITHDRAWAL = keccak256(b"Deposit(address,uint256)"), keccak256(b"Withdrawal(address,uint256)")
GAS = 3_000_000


class Moved(NamedTuple):
    """A transfer as the answer has it."""

    standard: str
    token: str
    sender: str
    to: str
    amount: int
    token_id: int | None
    log_index: int


def send(rpc: JsonRpc, source: random.Random) -> str:
    """One transaction, mined. Some fail. Returns its hash."""
    make = source.choices((_fungible, _collectible, _many, _swap, _emitter), (5, 2, 2, 1, 6))[0]
    sender, to, data = make(rpc, source)
    asked = {"from": sender, "to": to, "data": "0x" + data.hex(), "gas": hex(GAS)}
    sent: str = rpc("eth_sendTransaction", asked)
    give_up_at = time.monotonic() + 30
    while rpc("eth_getTransactionReceipt", sent) is None:
        assert time.monotonic() < give_up_at, f"{sent} was not mined"
        time.sleep(0.002)
    return sent


def _call(signature: str, *values: Any) -> bytes:
    return selector(signature) + encode(signature.partition("(")[2].removesuffix(")").split(","), values)


def _fungible(rpc: JsonRpc, source: random.Random) -> tuple[str, str, bytes]:
    amount = source.choice([0, 1, source.randrange(1_000), 2**255])
    to = source.choice(PARTIES)
    calls = (
        _call("transfer(address,uint256)", to, amount),
        _call("transferFrom(address,address,uint256)", fixtures.HOLDER, to, amount),
        _call("approve(address,uint256)", to, amount),
    )
    return source.choice((fixtures.HOLDER, fixtures.FRIEND)), source.choice(FUNGIBLE), source.choice(calls)


def _collectible(rpc: JsonRpc, source: random.Random) -> tuple[str, str, bytes]:
    giver, taker = source.sample((fixtures.HOLDER, fixtures.FRIEND), 2)
    token_id = source.choice([1, 2, 3, 2**256 - 1])
    return giver, fixtures.ERC721, _call("transferFrom(address,address,uint256)", giver, taker, token_id)


def _many(rpc: JsonRpc, source: random.Random) -> tuple[str, str, bytes]:
    giver, taker = source.sample((fixtures.HOLDER, fixtures.FRIEND), 2)
    amounts = [source.choice([0, 0, 1]) for _ in range(source.randrange(5))]
    calls = (
        _call("safeTransferFrom(address,address,uint256,uint256,bytes)", giver, taker, 7, source.randrange(3), b""),
        _call(
            "safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)",
            giver,
            taker,
            [7] * len(amounts),
            amounts,
            b"",
        ),
    )
    return giver, fixtures.ERC1155, source.choice(calls)


def _swap(rpc: JsonRpc, source: random.Random) -> tuple[str, str, bytes]:
    usdc = fixtures.USDC[fixtures.BASE]
    data = _call(
        "swap(address,uint256,address,uint256)", usdc, source.randrange(100), fixtures.ERC20, source.randrange(100)
    )
    return fixtures.HOLDER, fixtures.OLD_SPENDER, data


def _emitter(rpc: JsonRpc, source: random.Random) -> tuple[str, str, bytes]:
    """A contract that is put there for this transaction alone."""
    where = source.choice([WETH, "0x" + source.randbytes(20).hex()])
    count = source.choice([1, 2, 3, 10, 250])
    code = b"".join(logging(*_event(source)) for _ in range(count)) + b"\x00"
    rpc("anvil_setCode", where, "0x" + code.hex())
    return fixtures.HOLDER, where, b""


def _event(source: random.Random) -> tuple[list[bytes], bytes]:
    """Topics and data: those of a standard, or nearly so."""
    one, other, third = (bytes(12) + source.randbytes(20) for _ in range(3))
    number = word(source.choice([0, 1, 7, 2**256 - 1]))
    dirty = b"\x01" + bytes(11) + source.randbytes(20)
    size = source.randrange(4)
    batch = encode(["uint256[]", "uint256[]"], [[source.randrange(9) for _ in range(size)] for _ in range(2)])
    uneven = encode(["uint256[]", "uint256[]"], [[1, 2], [3]])
    return source.choice(
        [
            ([TRANSFER, one, other], number),
            ([TRANSFER, one, bytes(32)], number),
            ([TRANSFER, one, other, number], b""),
            ([TRANSFER], one + other + number),
            ([SINGLE, one, other, third], number + number),
            ([BATCH, one, other, third], batch),
            ([DEPOSIT, one], number),
            ([WITHDRAWAL, one], number),
            # Nearly.
            ([TRANSFER, dirty, other], number),
            ([TRANSFER, one, dirty, number], b""),
            ([TRANSFER], dirty + other + number),
            ([TRANSFER, one, other], b""),
            ([TRANSFER, one, other], number[:31]),
            ([TRANSFER, one, other], number + number),
            ([TRANSFER, one, other, number], number),
            ([TRANSFER, one], other + number),
            ([SINGLE, one, other, third], number),
            ([SINGLE, one, other], third + number + number),
            ([BATCH, one, other, third], uneven),
            ([BATCH, one, other, third], batch[:-1]),
            ([BATCH, one, dirty, third], batch),
            ([DEPOSIT, one], b""),
            ([keccak256(b"Other()"), one], number),
            ([], number),
        ]
    )


def _abi(name: str, *inputs: str) -> Any:
    """Of an event; ``address!`` is indexed."""
    parts = [
        {"name": f"a{at}", "type": kind.removesuffix("!"), "indexed": kind.endswith("!")}
        for at, kind in enumerate(inputs)
    ]
    return {"type": "event", "name": name, "anonymous": False, "inputs": parts}


_SHAPES = (
    # standard, event, bytes of data (None: any)
    ("erc20", _abi("Transfer", "address!", "address!", "uint256"), 32),
    ("erc721", _abi("Transfer", "address!", "address!", "uint256!"), 0),
    ("old", _abi("Transfer", "address", "address", "uint256"), 96),
    ("single", _abi("TransferSingle", "address!", "address!", "address!", "uint256", "uint256"), 64),
    ("batch", _abi("TransferBatch", "address!", "address!", "address!", "uint256[]", "uint256[]"), None),
    ("deposit", _abi("Deposit", "address!", "uint256"), 32),
    ("withdrawal", _abi("Withdrawal", "address!", "uint256"), 32),
)


def moved(web3: Web3, tx_hash: str) -> list[Moved]:
    """What eth_getLogs has of a transaction, as web3 decodes it."""
    block = web3.eth.get_transaction_receipt(tx_hash)["blockHash"]  # type: ignore[arg-type]
    logs = [log for log in web3.eth.get_logs({"blockHash": block}) if log["transactionHash"].hex() == tx_hash[2:]]
    return [each for log in logs for each in _of_log(web3, log)]


def _of_log(web3: Web3, log: Any) -> list[Moved]:
    for standard, abi, size in _SHAPES:
        if size is not None and len(log["data"]) != size:
            continue
        try:
            values = list(get_event_data(web3.codec, abi, log)["args"].values())
        except LogTopicError:
            continue
        except Exception:  # of eth_abi, by what is wrong: unclean, too short, too long
            continue
        return [Moved(*rest, log["logIndex"]) for rest in _rows(standard, log["address"], values)]
    return []


def _rows(standard: str, token: str, values: list[Any]) -> list[tuple[Any, ...]]:
    zero = "0x" + "0" * 40
    match standard:
        case "erc20":
            return [(standard, token, *values, None)]
        case "erc721":
            return [(standard, token, values[0], values[1], 1, values[2])]
        case "old":  # its token says no decimals: then it is one of NFTs
            return [("erc721", token, values[0], values[1], 1, values[2])]
        case "single":
            return [("erc1155", token, values[1], values[2], values[4], values[3])]
        case "batch" if len(values[3]) == len(values[4]):
            return [
                ("erc1155", token, values[1], values[2], amount, number)
                for number, amount in zip(*values[3:], strict=True)
            ]
        case "deposit" if token == WETH:
            return [("erc20", token, zero, values[0], values[1], None)]
        case "withdrawal" if token == WETH:
            return [("erc20", token, values[0], zero, values[1], None)]
    return []
