"""Receipts and transfers of an EVM network."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from ops.chains import TIMEOUT_S, Fee, Transfer
from shared.nodes.json_rpc import Call, JsonRpc, RpcError
from shared.settings.rails import EvmRailSettings, RailSettings
from shared.x402.evm import domain_separator, keccak256, selector
from shared.x402.evm_channel_ids import CONTRACT, FINAL_BLOCKS, MOST_BLOCKS, MOST_TOPICS
from shared.x402.networks import EVM_USDC, EvmToken, Token

COIN = ("ETH", 18)
PAYERS_PAY = False
MOST_CALLS = 100
"""In one request to the node."""
_TRANSFER = "0x" + keccak256(b"Transfer(address,address,uint256)").hex()


def fees(url: str, transactions: Sequence[str]) -> Mapping[str, Fee]:
    """What the receipts say, with the fee for the first layer where the network has one."""
    asked = [Call("eth_getTransactionReceipt", (name,)) for name in transactions]
    return {
        name: Fee(
            _number(receipt["gasUsed"]) * _number(receipt["effectiveGasPrice"])
            + _number(receipt.get("l1Fee") or "0x0"),
            receipt["from"].lower(),
        )
        for name, receipt in zip(transactions, _ask_all(JsonRpc(url, timeout_s=TIMEOUT_S), asked), strict=True)
        if receipt is not None
    }


def transfers(url: str, own: RailSettings, token: Token, since: int) -> Iterator[Transfer]:
    """The token's events Transfer to the recipient."""
    node = JsonRpc(url, timeout_s=TIMEOUT_S)
    search = {"address": token.address, "topics": [_TRANSFER, None, _topic(own.pay_to)]}  # type: ignore[union-attr]
    for window in _windows(node, [search], block_at(url, since), _number(node("eth_blockNumber"))):
        times = _times(node, {event["blockNumber"] for event in window})
        for event in window:
            yield Transfer(
                event["transactionHash"],
                _number(event["logIndex"]),
                "0x" + event["topics"][1][-40:],
                str(_number(event["data"])),
                times[event["blockNumber"]],
            )


def holds(url: str, token: EvmToken, holder: str) -> int:
    """What the token's contract says."""
    data = f"0x{selector('balanceOf(address)').hex()}{_topic(holder)[2:]}"
    return int(JsonRpc(url, timeout_s=TIMEOUT_S)("eth_call", {"to": token.address, "data": data}, "latest"), 16)


def is_final(url: str, own: EvmRailSettings, transaction: str) -> bool:
    """As the setting `finality` has it. Some nodes show a receipt before there is a block of its number."""
    asked = [Call("eth_getTransactionReceipt", (transaction,)), Call("eth_blockNumber")]
    receipt, newest = _ask_all(JsonRpc(url, timeout_s=TIMEOUT_S), asked)
    if receipt is None or own.finality == "preconfirmed":
        return receipt is not None
    on_top = int(own.finality) if own.finality.isdecimal() else 0
    return _number(receipt["blockNumber"]) + on_top <= _number(newest)


def finality(own: EvmRailSettings) -> str:
    """The setting, in words."""
    known = {"preconfirmed": "a receipt, before its block", "included": "a block that has it"}
    return known.get(own.finality, f"a block that has it and {own.finality} on top")


def final_block(url: str) -> int:
    """The newest block that no reorganisation takes back."""
    node = JsonRpc(url, timeout_s=TIMEOUT_S)
    try:
        return _number(node("eth_getBlockByNumber", "finalized", False)["number"])
    except (RpcError, TypeError):
        return max(0, _number(node("eth_blockNumber")) - FINAL_BLOCKS)


def block_at(url: str, since: int) -> int:
    """The first block whose time is not before `since`, in Unix seconds."""
    node = JsonRpc(url, timeout_s=TIMEOUT_S)
    low, high = 0, _number(node("eth_blockNumber")) + 1
    while low < high:
        middle = (low + high) // 2
        if _number(node("eth_getBlockByNumber", hex(middle), False)["timestamp"]) < since:
            low = middle + 1
        else:
            high = middle
    return low


def channel_events(
    url: str, token: str, pay_to: str, channels: Collection[str], first: int, last: int
) -> tuple[list[Transfer], dict[str, int]]:
    """What the channels' contract paid out to the recipient in these blocks, and the transactions that it has events of our
    channels in, with their times."""
    node = JsonRpc(url, timeout_s=TIMEOUT_S)
    names = sorted(channels)
    paid = {"address": token, "topics": [_TRANSFER, _topic(CONTRACT), _topic(pay_to)]}
    touched = [
        {"address": CONTRACT, "topics": [None, names[row : row + MOST_TOPICS]]}
        for row in range(0, len(names), MOST_TOPICS)
    ]
    events = [event for window in _windows(node, [paid, *touched], first, last) for event in window]
    times = _times(node, {event["blockNumber"] for event in events})
    payouts = [
        Transfer(event["transactionHash"], _number(event["logIndex"]), CONTRACT, str(_number(event["data"])), at)
        for event in events
        if event["address"].lower() == token.lower()
        for at in (times[event["blockNumber"]],)
    ]
    return payouts, {event["transactionHash"]: times[event["blockNumber"]] for event in events}


def _windows(node: JsonRpc, searches: Sequence[Mapping[str, Any]], first: int, last: int) -> Iterator[list[Any]]:
    for start in range(first, last + 1, MOST_BLOCKS):
        blocks = {"fromBlock": hex(start), "toBlock": hex(min(last, start + MOST_BLOCKS - 1))}
        yield [
            event
            for found in _ask_all(node, [Call("eth_getLogs", (search | blocks,)) for search in map(dict, searches)])
            for event in found
        ]


def _times(node: JsonRpc, blocks: Collection[str]) -> dict[str, int]:
    named = sorted(blocks)
    found = _ask_all(node, [Call("eth_getBlockByNumber", (block, False)) for block in named])
    return {block: _number(shown["timestamp"]) for block, shown in zip(named, found, strict=True)}


def _ask_all(node: JsonRpc, calls: Sequence[Call]) -> list[Any]:
    answers: list[Any] = []
    for start in range(0, len(calls), MOST_CALLS):
        answers += node.batch(calls[start : start + MOST_CALLS])
    if refused := next((answer for answer in answers if isinstance(answer, RpcError)), None):
        raise refused
    return answers


def _topic(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")


def _number(text: str) -> int:
    return int(text, 16) if text != "0x" else 0


def lacks(own: EvmRailSettings, *, timeout_s: float) -> list[str] | None:
    """What the recipient lacks, as sentences; None when the node does not say."""
    token = EVM_USDC.get(own.network)
    if token is None:
        return None
    found = []
    with closing(JsonRpc(own.rpc_url, timeout_s=timeout_s)) as node:
        if (chain := int(node("eth_chainId"), 16)) != token.chain_id:
            return [f"its node serves chain {chain}, not {token.chain_id}"]
        domain = domain_separator(token.name, token.version, token.chain_id, token.address)
        if _word(node, token, "DOMAIN_SEPARATOR()") != int.from_bytes(domain):
            found.append(f"{token.address} has another EIP-712 domain: it takes no payment")
        if (decimals := _word(node, token, "decimals()")) != token.decimals:
            found.append(f"{token.address} has {decimals} decimals, not {token.decimals}")
        if _word(node, token, "isBlacklisted(address)", own.pay_to.removeprefix("0x").rjust(64, "0")):
            found.append(f"{own.pay_to} is on the token's blacklist: it receives nothing")
    return found


def _word(node: JsonRpc, token: EvmToken, function: str, argument: str = "") -> int:
    """What a view function of Circle's FiatTokenV2_2 (https://github.com/circlefin/stablecoin-evm) returns.

    Raises:
        ValueError: it is not one word.
    """
    data = f"0x{selector(function).hex()}{argument}"
    word = bytes.fromhex(node("eth_call", {"to": token.address, "data": data}, "latest").removeprefix("0x"))
    if len(word) != 32:
        raise ValueError("not one word")
    return int.from_bytes(word)
