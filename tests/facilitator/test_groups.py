"""Payments that are settled by one transaction: each is answered by its own logs, and none can spoil it for the others."""

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from facilitator.rails.evm.calldata import MULTICALL3
from shared.settings.service import Settings
from shared.x402.evm import keccak256
from tests.facilitator.bench import (
    OPEN,
    TOKEN,
    Bench,
    FaultyNode,
    Payer,
    payment_id,
    settle,
    until,
    with_evm,
)
from tests.facilitator.conftest import Build, running
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

ELSEWHERE = "0x" + "66" * 20
BURNS_ALL = "0xfe"


@pytest.fixture
def settings(settings: Settings, node: FaultyNode) -> Settings:
    """The facilitator knows the chain through the node that fails on demand."""
    return with_evm(settings, rpc_url=node.url)


@pytest.fixture(scope="module")
def payers(bench: Bench) -> list[Payer]:
    return [bench.payer() for _ in range(6)]


async def settle_together(
    facilitator: httpx.AsyncClient,
    node: FaultyNode,
    bench: Bench,
    calls: list[Any],
    *,
    before: Callable[[], object] = lambda: None,
) -> list[Any]:
    """Settle all in one group: they become ready while the transaction of another payment is being sent.

    Args:
        before: is called when all were checked, before their transaction is sent.
    """
    node.seen.clear()
    sends = 0

    def hold_the_first(_: Any) -> None:
        nonlocal sends
        sends += 1
        give_up_at = time.monotonic() + patience(10)
        while sends == 1 and node.seen.count("eth_getCode") <= len(calls) and time.monotonic() < give_up_at:
            time.sleep(0.01)
        time.sleep(0.1)  # the last answer is on its way
        if sends == 2:
            before()

    node.faults["eth_sendRawTransaction"] = hold_the_first
    first = asyncio.create_task(settle(facilitator, bench.payer().call(ELSEWHERE)))
    await until(lambda: "eth_sendRawTransaction" in node.seen)
    settlements = await asyncio.gather(*(settle(facilitator, call) for call in calls))
    assert (await first)["success"]
    node.faults.pop("eth_sendRawTransaction")
    return settlements


def to_of(bench: Bench, transaction: str) -> str:
    to: str = bench.rpc("eth_getTransactionByHash", transaction)["to"]
    return to.lower()


async def test_one_transaction_settles_all(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, payers: list[Payer], pay_to: str
) -> None:
    """Each hears of the same transaction, has its own transfer in it, and its evidence; a lone payment goes to the token."""
    calls = [payer.call(pay_to) for payer in payers]

    settlements = await settle_together(facilitator, node, bench, calls)
    lone = await settle(facilitator, payers[0].call(pay_to))

    (transaction,) = {one["transaction"] for one in settlements}
    assert all(one["success"] for one in settlements)
    assert [one["payer"] for one in settlements] == [payer.address for payer in payers]
    assert bench.transfers(pay_to) == [transaction] * len(calls) + [lone["transaction"]]
    assert to_of(bench, transaction) == MULTICALL3.lower()
    assert to_of(bench, lone["transaction"]) == bench.sandbox.usdc.lower()
    assert [await settle(facilitator, call) for call in calls] == settlements
    for call in calls:
        shown = (await facilitator.get(f"/settlements/{payment_id(call)}")).json()
        assert (shown["status"], shown["transaction"], shown["payTo"]) == ("settled", transaction, pay_to)


@pytest.mark.parametrize("is_there", [False, True], ids=["no Multicall3", "COINSLOT_EVM_BATCH=1"])
async def test_one_by_one(
    build: Build, settings: Settings, node: FaultyNode, bench: Bench, payers: list[Payer], pay_to: str, is_there: bool
) -> None:
    """Without the contract, or with that setting, each payment has its own transaction."""
    if not is_there:
        node.edits["eth_getCode"] = lambda _: "0x"
    async with running(build(with_evm(settings, batch=1 if is_there else 50))) as facilitator:
        settlements = await settle_together(facilitator, node, bench, [one.call(pay_to) for one in payers])

    assert all(one["success"] for one in settlements)
    assert len({one["transaction"] for one in settlements}) == len(payers)


async def test_a_node_that_takes_one_call_at_a_time(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, payers: list[Payer], pay_to: str
) -> None:
    """It refuses requests of several calls: each call then has a request of its own."""
    node.takes_batches = False

    settlements = await settle_together(facilitator, node, bench, [payer.call(pay_to) for payer in payers])

    assert all(one["success"] for one in settlements)
    assert len({one["transaction"] for one in settlements}) == 1


def leave(bench: Bench, payer: Payer, amount: int) -> None:
    """The payer has moved his USDC but for this amount."""
    balances = 1  # the variable's place in the contract
    slot = keccak256(bytes.fromhex(payer.address[2:]).rjust(32, b"\0") + balances.to_bytes(32))
    bench.rpc("anvil_setStorageAt", TOKEN.address, "0x" + slot.hex(), f"0x{amount:064x}")


async def test_an_inner_failure_is_its_payments_alone(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, payers: list[Payer], pay_to: str
) -> None:
    """Each payment of a transaction with status 1 is answered by its own logs. Of two whose payer has money for one, and of two
    with one nonce, one is refused."""
    poor, nonce = bench.payer(funds=2_000), "0x" + secrets.token_hex(32)
    calls = [
        *(payer.call(pay_to) for payer in payers),
        *(poor.call(pay_to) for _ in range(2)),
        *(payers[0].call(pay_to, price=price, nonce=nonce) for price in ("0.003", "0.004")),
    ]

    settlements = await settle_together(facilitator, node, bench, calls, before=lambda: leave(bench, poor, 1_000))

    assert [one["success"] for one in settlements] == [*(True for _ in payers), True, False, True, False]
    assert not any(one["errorReason"] in OPEN for one in settlements if not one["success"])
    assert sum(int(one["amount"]) for one in settlements if one["success"]) == bench.balance(pay_to)


async def test_a_payer_with_code_burns_his_own_gas(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, payers: list[Payer], pay_to: str
) -> None:
    """Given an account that got code after it was checked (EIP-7702), which burns the group's gas, then all others are paid."""
    griefer = bench.payer()
    calls = [griefer.call(pay_to), *(payer.call(pay_to) for payer in payers)]

    settlements = await settle_together(
        facilitator, node, bench, calls, before=lambda: bench.rpc("anvil_setCode", griefer.address, BURNS_ALL)
    )

    assert [one["success"] for one in settlements] == [False, *(True for _ in payers)]
    assert settlements[0]["errorReason"] not in OPEN
    assert bench.balance(pay_to) == 1_000 * len(payers)


async def test_a_payer_with_code_is_in_no_group(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, payers: list[Payer], pay_to: str
) -> None:
    """Whatever his code does, he is alone: here it is found out before anything is sent for him."""
    griefer = bench.payer()
    bench.rpc("anvil_setCode", griefer.address, BURNS_ALL)
    calls = [griefer.call(pay_to), *(payer.call(pay_to) for payer in payers)]

    settlements = await settle_together(facilitator, node, bench, calls)

    assert [one["success"] for one in settlements] == [False, *(True for _ in payers)]
    assert len({one["transaction"] for one in settlements[1:]}) == 1
    assert node.seen.count("eth_sendRawTransaction") == 2


async def test_what_expires_soon_is_in_no_group(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, payers: list[Payer], pay_to: str
) -> None:
    """A group is cancelled only when its last member has expired, so one that expires much earlier goes alone."""
    soon = payers[0].call(pay_to, validBefore=str(int(time.time()) + 10))
    calls = [soon, *(payer.call(pay_to) for payer in payers)]

    settlements = await settle_together(facilitator, node, bench, calls)

    assert all(one["success"] for one in settlements)
    assert to_of(bench, settlements[0]["transaction"]) == bench.sandbox.usdc.lower()
    assert len({one["transaction"] for one in settlements[1:]}) == 1


async def test_a_receipt_that_lies_of_its_status(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, payers: list[Payer], pay_to: str
) -> None:
    """A status of 0 above logs that show the payments is no failure, and a status of 1 without them is no success."""
    node.edits["eth_getTransactionReceipt"] = lambda receipt: receipt and {**receipt, "status": "0x0"}
    paid = await settle_together(facilitator, node, bench, [payer.call(pay_to) for payer in payers])
    node.edits["eth_getTransactionReceipt"] = lambda receipt: receipt and {**receipt, "status": "0x1", "logs": []}
    node.faults["eth_getLogs"] = "empty"

    unknown = await settle(facilitator, payers[0].call(pay_to))

    assert all(one["success"] for one in paid)
    assert (unknown["success"], unknown["errorReason"] in OPEN) == (False, True)
