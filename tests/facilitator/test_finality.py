"""What counts as settled: a preconfirmation, a block of the chain, or blocks on top. A node that preconfirms shows receipts of
blocks that it has not sealed yet, and drops one now and then."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from facilitator.rails.evm import reorgs
from facilitator.rails.evm.calldata import AUTHORIZATION_USED, TRANSFER
from shared.settings.service import Settings
from shared.x402.evm import keccak256
from tests.facilitator.bench import TOKEN, Bench, FaultyNode, settle, until, with_evm
from tests.facilitator.conftest import Build, running
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

Start = Callable[..., Any]


@pytest.fixture
def start(build: Build, settings: Settings, node: FaultyNode, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Runs a facilitator with a finality."""
    for name, seconds in {
        "rail.WATCH_EVERY_S": 0.05,
        "account.STUCK_AFTER_S": 0.2,
        "watcher.LOST_AFTER_S": 0.2,
    }.items():
        monkeypatch.setattr(f"facilitator.rails.evm.{name}", seconds)

    @asynccontextmanager
    async def start(finality: str) -> AsyncIterator[httpx.AsyncClient]:
        async with running(build(with_evm(settings, rpc_url=node.url, finality=finality, batch=1))) as client:
            yield client

    return start


def seals_no_block(node: FaultyNode, bench: Bench) -> None:
    """From now on the node shows this head, whatever the chain has, and receipts of what comes after it."""
    sealed = bench.rpc("eth_getBlockByNumber", "latest", False)
    node.edits["eth_getBlockByNumber"] = lambda block: {**block, "number": sealed["number"], "hash": sealed["hash"]}


def preconfirmed(call: Any, raw: str) -> dict[str, Any]:
    """The receipt of a payment in a block that is to come."""
    authorization = call["paymentPayload"]["payload"]["authorization"]
    payer, to = ("0x" + authorization[name][2:].lower().rjust(64, "0") for name in ("from", "to"))
    topics = (["0x" + AUTHORIZATION_USED.hex(), payer, authorization["nonce"]], ["0x" + TRANSFER.hex(), payer, to])
    datas = "0x", f"0x{int(authorization['value']):064x}"
    logs = [
        {"address": TOKEN.address, "topics": topic, "data": data, "logIndex": hex(index)}
        for index, (topic, data) in enumerate(zip(topics, datas, strict=True))
    ]
    hash_ = "0x" + keccak256(bytes.fromhex(raw[2:])).hex()
    block = {"blockNumber": hex(10**9), "blockHash": "0x" + "77" * 32}
    return {"transactionHash": hash_, "status": "0x1", "logs": logs, **block}


async def test_a_preconfirmed_receipt_is_not_included(
    start: Start, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Its block must be the chain's, by number and hash: before that there is no answer."""
    call = bench.payer().call(pay_to)
    async with start("included") as facilitator:
        seals_no_block(node, bench)
        settling = asyncio.create_task(settle(facilitator, call))
        await until(lambda: bench.is_used(call))
        node.seen.clear()
        await until(lambda: node.seen.count("eth_getBlockByNumber") > 2)
        assert not settling.done()
        node.edits["eth_getBlockByNumber"] = lambda block: {**block, "hash": "0x" + "55" * 32}
        node.seen.clear()
        await until(lambda: node.seen.count("eth_getTransactionReceipt") > 0)
        await until(lambda: node.seen.count("eth_getBlockByNumber") > 2)
        assert not settling.done()
        node.edits.clear()

        assert (await settling)["success"]


async def test_a_preconfirmation_is_enough_when_it_is_said_to_be(
    start: Start, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """The answer does not wait for the block."""
    async with start("preconfirmed") as facilitator:
        seals_no_block(node, bench)

        settlement = await settle(facilitator, bench.payer().call(pay_to))

    assert settlement["success"]
    assert bench.transfers(pay_to) == [settlement["transaction"]]


async def test_blocks_on_top(start: Start, bench: Bench, pay_to: str) -> None:
    """Two more blocks are awaited when two are demanded."""
    call = bench.payer().call(pay_to)
    async with start("2") as facilitator:
        settling = asyncio.create_task(settle(facilitator, call))
        await until(lambda: bench.is_used(call))
        for _ in range(2):
            bench.mint(pay_to, 1)

        settlement = await settling

    block = int(bench.receipt(settlement["transaction"])["blockNumber"], 16)
    assert settlement["success"]
    assert int(bench.rpc("eth_blockNumber"), 16) >= block + 2


async def test_what_was_preconfirmed_and_dropped_is_sent_again(
    start: Start, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """One in ten is reported and then forgotten: all are on the chain in the end, and the caller's transaction made each."""
    payer = bench.payer()
    calls = [payer.call(pay_to) for _ in range(10)]
    dropped = calls[3]
    shown: list[dict[str, Any]] = []

    def drop(params: Any) -> str | None:
        if dropped["paymentPayload"]["payload"]["authorization"]["nonce"][2:] not in params[0] or shown:
            return None
        shown.append(preconfirmed(dropped, params[0]))
        return "forget"

    def show(params: Any) -> Any:
        is_it = len(shown) == 1 and params[0] == shown[0]["transactionHash"]
        return {"result": shown.append(shown[0]) or shown[0]} if is_it else None  # type: ignore[func-returns-value]

    node.faults |= {"eth_sendRawTransaction": drop, "eth_getTransactionReceipt": show}
    async with start("preconfirmed") as facilitator:
        settlements = [await settle(facilitator, call) for call in calls]
        await until(lambda: len(bench.transfers(pay_to)) == 10)
        health = await facilitator.get("/healthz")

    assert len(shown) == 2
    assert all(one["success"] for one in settlements)
    assert sorted(bench.transfers(pay_to)) == sorted(one["transaction"] for one in settlements)
    assert health.json()["ok"]


async def test_too_many_reorgs_close_the_rail(
    start: Start, node: FaultyNode, bench: Bench, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payment that is preconfirmed, dropped, and then has expired is lost; with as many as are allowed nothing is taken."""
    monkeypatch.setattr(reorgs, "BUDGET", 1)
    payer = bench.payer()
    call = payer.call(pay_to)
    receipts: list[dict[str, Any]] = []

    def drop(params: Any) -> str | None:
        if call["paymentPayload"]["payload"]["authorization"]["nonce"][2:] not in params[0]:
            return None
        receipts.append(preconfirmed(call, params[0]))
        return "forget"

    def show(params: Any) -> Any:
        return {"result": receipts.pop()} if receipts and params[0] == receipts[0]["transactionHash"] else None

    node.faults |= {"eth_sendRawTransaction": drop, "eth_getTransactionReceipt": show}
    async with start("preconfirmed") as facilitator:
        answer = await settle(facilitator, call)
        later = SimpleNamespace(time=lambda: time.time() + 61, monotonic=time.monotonic)
        monkeypatch.setattr("facilitator.rails.evm.transaction.time", later)
        deadline = time.monotonic() + patience(10)
        while (await facilitator.get("/healthz")).status_code == 200:
            assert time.monotonic() < deadline, "the loss is not noticed"
            await asyncio.sleep(0.05)
        refused = await settle(facilitator, payer.call(pay_to))
        supported = (await facilitator.get("/supported")).json()

    assert answer["success"]
    assert bench.balance(pay_to) == 0
    assert (refused["success"], refused["errorReason"]) == (False, "unexpected_settle_error")
    assert supported["kinds"] == []
