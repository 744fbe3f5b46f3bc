"""A transaction that offers too little is replaced, and whichever form gets into a block, the payment is settled once."""

import asyncio
import logging
import time
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from eth_account import Account

from shared.settings.service import Settings
from tests.facilitator.bench import FaultyNode, settle, until, with_evm
from tests.facilitator.conftest import Build, running
from tests.facilitator.paused_chain import GWEI, PausedChain
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

DEAR = 40 * GWEI
"""A base fee far above what was offered before it rose."""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A facilitator that pays nearly any price, and settles one by one."""
    return with_evm(settings, max_fee_gwei=1_000, batch=1)


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A facilitator to which a moment is long."""
    for name, seconds in {
        "evm.account.STUCK_AFTER_S": 0.1,
        "evm.account.INHERITED_AFTER_S": 0.4,
        "evm.rail.WATCH_EVERY_S": 0.05,
        "evm.settlements.SETTLE_TIMEOUT_S": patience(1.0),
        "evm.prices.PRICE_AGE_S": 0.0,
        "evm.rail.READ_SOON_S": 0.1,
    }.items():
        monkeypatch.setattr(f"facilitator.rails.{name}", seconds)


def costs(node: FaultyNode, base_fee: int) -> None:
    """What the newest block is said to have cost."""
    node.edits["eth_getBlockByNumber"] = lambda block: {**block, "baseFeePerGas": hex(base_fee)}


def fees(transaction: Any) -> tuple[int, int]:
    return int(transaction["maxFeePerGas"], 16), int(transaction["maxPriorityFeePerGas"], 16)


async def test_stuck_transactions_are_replaced(
    facilitator: httpx.AsyncClient, node: FaultyNode, chain: PausedChain, pay_to: str
) -> None:
    """Given three that the price has left behind, then each is replaced under its number by the same call for more."""
    payer, before = chain.payer(), chain.confirmed
    chain.hold()
    settling = [asyncio.create_task(settle(facilitator, payer.call(pay_to))) for _ in range(3)]
    await until(lambda: len(chain.waiting) == 3)
    old = chain.waiting

    costs(node, DEAR)
    await until(lambda: all(fees(one)[0] >= DEAR for one in chain.waiting.values()))
    new = chain.waiting
    chain.flow()
    settlements = await asyncio.gather(*settling)

    assert sorted(new) == sorted(old) == [before, before + 1, before + 2]
    for number, replaced in old.items():
        assert new[number]["input"] == replaced["input"]
        assert new[number]["hash"] != replaced["hash"]
        max_fee, tip = fees(new[number])
        assert max_fee >= 2 * DEAR + tip
        assert all(now * 8 >= then * 9 for now, then in zip((max_fee, tip), fees(replaced), strict=True))
    assert {one["transaction"] for one in settlements} == {one["hash"] for one in new.values()}
    assert all(one["success"] for one in settlements)
    assert len(chain.transfers(pay_to)) == 3


async def test_the_first_form_may_win(
    facilitator: httpx.AsyncClient, node: FaultyNode, chain: PausedChain, pay_to: str
) -> None:
    """Given a replacement that never reaches a block, then the receipt of what was sent first settles the payment."""
    call = chain.payer().call(pay_to)
    chain.hold()
    settling = asyncio.create_task(settle(facilitator, call))
    await until(lambda: chain.waiting)
    (sent,) = chain.waiting.values()
    node.faults["eth_sendRawTransaction"] = "forget"
    node.seen.clear()

    costs(node, DEAR)
    await until(lambda: "eth_sendRawTransaction" in node.seen)
    chain.flow()
    settlement = await settling

    assert (settlement["success"], settlement["transaction"]) == (True, sent["hash"])
    assert chain.transfers(pay_to) == [sent["hash"]]


@pytest.mark.parametrize("fault", ["reset", "lost", "error", "http429"])
async def test_a_replacement_that_fails_is_tried_again(
    facilitator: httpx.AsyncClient, node: FaultyNode, chain: PausedChain, pay_to: str, fault: str
) -> None:
    """However the node answers, the payment is not given up and is settled once."""
    call = chain.payer().call(pay_to)
    chain.hold()
    settling = asyncio.create_task(settle(facilitator, call))
    await until(lambda: chain.waiting)
    node.faults["eth_sendRawTransaction"] = fault
    node.seen.clear()
    costs(node, DEAR)
    await until(lambda: node.seen.count("eth_sendRawTransaction") > 1)

    node.faults.clear()
    await until(lambda: all(fees(one)[0] >= DEAR for one in chain.waiting.values()))
    await settling
    chain.flow()
    settlement = await settle(facilitator, call)

    assert settlement["success"]
    assert chain.transfers(pay_to) == [settlement["transaction"]]


async def test_a_node_that_drops_what_offers_too_little(
    facilitator: httpx.AsyncClient, chain: PausedChain, pay_to: str
) -> None:
    """The price rises for real and the node forgets the transaction: its number is filled again, at the new price."""
    payer, before = chain.payer(), chain.confirmed
    call = payer.call(pay_to)
    chain.hold()
    settling = asyncio.create_task(settle(facilitator, call))
    await until(lambda: chain.waiting)
    sent = chain.waiting[before]["hash"]

    chain.rpc("anvil_setNextBlockBaseFeePerGas", hex(DEAR))
    chain.mine()
    await until(lambda: chain.waiting)
    chain.flow()
    settlement = await settling

    assert settlement["success"]
    assert settlement["transaction"] != sent
    assert chain.number_of(settlement["transaction"]) == before
    assert chain.transfers(pay_to) == [settlement["transaction"]]
    assert (await settle(facilitator, payer.call(pay_to)))["success"]
    chain.rpc("anvil_setNextBlockBaseFeePerGas", hex(GWEI))
    chain.mine()


async def test_an_expired_one_is_cancelled(
    facilitator: httpx.AsyncClient,
    node: FaultyNode,
    chain: PausedChain,
    pay_to: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its number is freed without paying, and those after it settle; until that is in a block the payment is not refused."""
    payer, before = chain.payer(), chain.confirmed
    call, good = payer.call(pay_to), payer.call(pay_to, validBefore=str(int(time.time()) + 300))
    chain.hold()
    settling = asyncio.create_task(settle(facilitator, call))
    await until(lambda: chain.waiting)
    pending = await settling
    later = SimpleNamespace(time=lambda: time.time() + 61, monotonic=time.monotonic)
    for module in ("transaction", "simulation"):
        monkeypatch.setattr(f"facilitator.rails.evm.{module}.time", later)

    costs(node, DEAR)
    await until(lambda: [one["input"] for one in chain.waiting.values()] == ["0x"])
    meanwhile = await settle(facilitator, call)
    behind = asyncio.create_task(settle(facilitator, good))
    await until(lambda: len(chain.waiting) == 2)
    (cancelled, _) = (chain.waiting[number] for number in (before, before + 1))
    chain.flow()

    assert pending["errorReason"] == meanwhile["errorReason"] == "settlement_pending"
    assert (cancelled["to"].lower(), int(cancelled["value"], 16)) == (chain.sandbox.settler.lower(), 0)
    assert (await behind)["success"]
    ended = await settle(facilitator, call)
    assert (ended["success"], ended["errorReason"]) == (
        False,
        "invalid_exact_evm_payload_authorization_valid_before",
    )
    assert (chain.balance(pay_to), chain.confirmed) == (1_000, before + 2)


async def test_above_the_ceiling_nothing_is_sent(
    build: Build,
    settings: Settings,
    node: FaultyNode,
    chain: PausedChain,
    pay_to: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What was sent stays pending and the rest unsettled, the log and /healthz say why, and below the ceiling all settle."""
    payer = chain.payer()
    first, second = payer.call(pay_to), payer.call(pay_to)
    chain.hold()
    async with running(build(with_evm(settings, max_fee_gwei=10))) as facilitator:
        settling = asyncio.create_task(settle(facilitator, first))
        await until(lambda: chain.waiting)
        (sent,) = chain.waiting.values()
        costs(node, DEAR)
        node.seen.clear()

        pending, unsent = await settling, await settle(facilitator, second)
        health = await facilitator.get("/healthz")

        assert (pending["errorReason"], pending["transaction"]) == ("settlement_pending", sent["hash"])
        assert (unsent["errorReason"], unsent["transaction"]) == ("unexpected_settle_error", "")
        assert "COINSLOT_EVM_MAX_FEE_GWEI is 10" in unsent["errorMessage"]
        assert "eth_sendRawTransaction" not in node.seen
        assert (health.status_code, health.json()["ok"]) == (503, False)
        assert "COINSLOT_EVM_MAX_FEE_GWEI" in health.json()["rails"]["eip155:8453"]["reason"]
        crossings = [one for one in caplog.records if "nothing is settled: gas costs" in one.getMessage()]
        assert [one.levelno for one in crossings] == [logging.ERROR]

        node.edits.clear()
        chain.flow()
        assert (await settle(facilitator, first))["transaction"] == sent["hash"]
        assert (await settle(facilitator, second))["success"]
        assert (await facilitator.get("/healthz")).status_code == 200
    assert len(chain.transfers(pay_to)) == 2


@pytest.mark.parametrize("offered", [3 * GWEI, 200 * GWEI], ids=["less", "more than we would at first"])
async def test_what_an_earlier_run_left_stuck_is_cancelled(
    build: Build, settings: Settings, node: FaultyNode, chain: PausedChain, pay_to: str, offered: int
) -> None:
    """Given a stuck transaction of which nothing is known, then its number is freed and later payments settle."""
    call, before = chain.payer().call(pay_to), chain.confirmed
    chain.hold()
    account = Account.from_key(chain.sandbox.settler_key)
    transaction = {"type": 2, "chainId": 8453, "nonce": before, "to": account.address, "value": 1, "data": b""}
    limits = {"gas": 21_000, "maxFeePerGas": offered, "maxPriorityFeePerGas": GWEI}
    chain.rpc("eth_sendRawTransaction", account.sign_transaction(transaction | limits).raw_transaction.to_0x_hex())
    costs(node, DEAR)

    async with running(build(settings)) as facilitator:
        waiting = await settle(facilitator, call)
        await until(lambda: int(chain.waiting[before]["value"], 16) == 0)
        chain.flow()
        settlement = await settle(facilitator, call)

    assert waiting["errorReason"] == "unexpected_settle_error"
    assert chain.number_of(settlement["transaction"]) == before + 1
    assert chain.transfers(pay_to) == [settlement["transaction"]]


async def test_many_that_wait_are_a_bound(
    facilitator: httpx.AsyncClient, chain: PausedChain, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a chain without new blocks no more is sent than is kept in mind; afterwards all settle."""
    monkeypatch.setattr("facilitator.rails.evm.account.MOST_UNCONFIRMED", 2)
    payer = chain.payer()
    calls = [payer.call(pay_to) for _ in range(3)]
    chain.hold()

    settlements = await asyncio.gather(*(settle(facilitator, call) for call in calls))
    sent = chain.waiting
    chain.flow()

    assert len(sent) == 2
    assert sorted(one["errorReason"] for one in settlements) == [
        "settlement_pending",
        "settlement_pending",
        "unexpected_settle_error",
    ]
    assert all([(await settle(facilitator, call))["success"] for call in calls])
    assert len(chain.transfers(pay_to)) == 3


async def test_a_group_is_replaced_as_a_whole(
    build: Build, settings: Settings, node: FaultyNode, chain: PausedChain, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a higher price the same payments go under the same number, and all of them are settled by that transaction."""
    payer = chain.payer()
    # The group is sent a second after the first one.
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", patience(2.0))
    async with running(build(with_evm(settings, batch=50, spacing_ms=1_000))) as facilitator:
        chain.hold()
        settling = [asyncio.create_task(settle(facilitator, payer.call(pay_to)))]
        await until(lambda: chain.waiting)
        settling += [asyncio.create_task(settle(facilitator, payer.call(pay_to))) for _ in range(3)]
        await until(lambda: len(chain.waiting) == 2)
        old = chain.waiting

        costs(node, DEAR)
        await until(lambda: all(fees(one)[0] >= DEAR for one in chain.waiting.values()))
        new = chain.waiting
        chain.flow()
        settlements = await asyncio.gather(*settling)

    assert {number: one["input"] for number, one in new.items()} == {
        number: one["input"] for number, one in old.items()
    }
    assert all(one["success"] for one in settlements)
    assert len({one["transaction"] for one in settlements[1:]}) == 1
    assert {one["transaction"] for one in settlements} == {one["hash"] for one in new.values()}
