"""Transactions and receipts as nodes send them, to be put on a fake chain."""

from typing import Any

import eth_abi
from eth_abi import grammar

from jobs.engines.evm.selectors import selector, topic
from jobs.tx_explain.endpoint import ENDPOINT
from tests.jobs.engines.evm.fake_chains import CONTRACT, HEAD, FakeChain, FakeChains, answered

HASH = "0x" + "ab" * 32
ALICE = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
BOB = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
CAROL = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc"
ROUTER = "0x2626664c2603336e57b271c5c0b26f421741e481"
USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
WETH = "0x4200000000000000000000000000000000000006"
UNKNOWN_TOKEN = "0x5555555555555555555555555555555555555555"
CATS = "0x7777777777777777777777777777777777777777"
NOBODY = "0x" + "0" * 40
BLOCK = HEAD - 11

TRANSFER = "Transfer(address,address,uint256)"
APPROVAL = "Approval(address,address,uint256)"


def padded(address: str) -> str:
    """An address as a topic."""
    return "0x" + address[2:].rjust(64, "0")


def number(value: int) -> str:
    """A number as a topic or as data."""
    return f"0x{value:064x}"


def log(address: str, signature: str, *topics: str, data: str = "0x") -> dict[str, Any]:
    """An event."""
    return {"address": address, "topics": [topic(signature), *topics], "data": data, "logIndex": "0x4"}


def moved(token: str, sender: str, to: str, amount: int) -> dict[str, Any]:
    """ERC-20."""
    return log(token, TRANSFER, padded(sender), padded(to), data=number(amount))


def nft(token: str, sender: str, to: str, token_id: int) -> dict[str, Any]:
    """ERC-721."""
    return log(token, TRANSFER, padded(sender), padded(to), number(token_id))


def calldata(signature: str, *values: Any) -> str:
    """A call."""
    parsed = grammar.parse(signature[signature.index("(") :]) if values else None
    types = [each.to_type_str() for each in parsed.components] if parsed else []
    encoded = eth_abi.encode(types, values)
    return "0x" + (selector(signature) + encoded).hex()


def put(
    chain: FakeChain,
    *,
    data: str = "0x",
    to: str | None = BOB,
    value: int = 0,
    logs: list[dict[str, Any]] | None = None,
    status: str | None = "0x1",
    mined: bool = True,
    gas: int = 80_000,
    sent: dict[str, Any] | None = None,
    got: dict[str, Any] | None = None,
) -> None:
    """Put a transaction of Alice on a chain."""
    chain.transactions[HASH] = {
        "hash": HASH,
        "type": "0x2",
        "from": ALICE,
        "to": to,
        "value": hex(value),
        "input": data,
        "gas": hex(gas),
        "gasPrice": hex(200_000_000),
        "nonce": "0x7",
        "blockNumber": hex(BLOCK) if mined else None,
    } | (sent or {})
    if mined:
        chain.receipts[HASH] = {
            "transactionHash": HASH,
            "status": status,
            "blockNumber": hex(BLOCK),
            "gasUsed": hex(50_000),
            "effectiveGasPrice": hex(199_900_000),
            "l1Fee": hex(5_000_000_000),
            "contractAddress": None,
            "logs": logs or [],
        } | (got or {})


def usual_chains() -> FakeChains:
    """Base with some contracts."""
    chains = FakeChains()
    chains.base.token(USDC, "USDC", 6)
    chains.base.token(WETH, "WETH", 18)
    chains.base.token(UNKNOWN_TOKEN, "FREE \u202eclaim at evil.example", 18)
    chains.base.token(CATS, "CATS", b"")
    chains.base.code[ROUTER] = CONTRACT
    return chains


def explained(chains: FakeChains, **body: Any) -> dict[str, Any]:
    """The answer, as JSON in and out."""
    return answered(ENDPOINT, chains, {"txHash": HASH} | body)


def answer_about(**transaction: Any) -> dict[str, Any]:
    """The answer for one transaction on Base."""
    chains = usual_chains()
    put(chains.base, **transaction)
    return explained(chains)


def codes(answer: dict[str, Any]) -> list[str]:
    """Of the signals."""
    return [each["code"] for each in answer["signals"]]
