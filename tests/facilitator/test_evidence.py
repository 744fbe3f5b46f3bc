"""What became of a payment is what the chain shows, and nothing that it does not show."""

from typing import Any

import httpx
import pytest

from tests.facilitator.bench import Bench, FaultyNode, Payer, payment_id, settle

pytestmark = pytest.mark.anyio


async def evidence(facilitator: httpx.AsyncClient, call: Any) -> tuple[int, Any]:
    answer = await facilitator.get(f"/settlements/{payment_id(call)}")
    return answer.status_code, answer.json()


@pytest.fixture(scope="module")
def payer(bench: Bench) -> Payer:
    return bench.payer()


async def test_a_settled_payment(facilitator: httpx.AsyncClient, bench: Bench, payer: Payer, pay_to: str) -> None:
    """The transaction, the recipient and the amount, as the chain has them."""
    call = payer.call(pay_to)
    settlement = await settle(facilitator, call)

    status, found = await evidence(facilitator, call)

    assert (status, found.pop("asOf", 0) >= 0) == (200, True)
    assert found == {
        "status": "settled",
        "network": "eip155:8453",
        "transaction": settlement["transaction"],
        "payer": payer.address,
        "payTo": pay_to,
        "amount": "1000",
    }


async def test_each_payment_has_its_own(facilitator: httpx.AsyncClient, payer: Payer, pay_to: str) -> None:
    """Given two payments of one payer, then each one's evidence names its own transaction and amount."""
    calls = [payer.call(pay_to, price=price) for price in ("0.001", "0.002")]
    settled = [await settle(facilitator, call) for call in calls]

    found = [(await evidence(facilitator, call))[1] for call in calls]

    assert [one["transaction"] for one in found] == [one["transaction"] for one in settled]
    assert [one["amount"] for one in found] == ["1000", "2000"]


async def test_a_payment_that_a_stranger_sent(
    facilitator: httpx.AsyncClient, bench: Bench, payer: Payer, pay_to: str
) -> None:
    """Who sent it does not matter to what it paid."""
    call = payer.call(pay_to)
    theirs = bench.broadcast(call)

    _, found = await evidence(facilitator, call)

    assert (found["status"], found["transaction"]) == ("settled", theirs)


async def test_a_payment_before_and_after_it_is_cancelled(
    facilitator: httpx.AsyncClient, bench: Bench, payer: Payer, pay_to: str
) -> None:
    """Unused as long as nothing happened, void once the payer has cancelled; neither names a transaction."""
    call = payer.call(pay_to)

    before = await evidence(facilitator, call)
    bench.cancel(payer, call)
    after = await evidence(facilitator, call)

    assert [(status, found["status"], found.get("transaction", "")) for status, found in (before, after)] == [
        (200, "unused", ""),
        (200, "void", ""),
    ]


async def test_logs_that_do_not_show_it_are_no_evidence(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, payer: Payer, pay_to: str
) -> None:
    """Given a node that lags behind another, so that the nonce is used and its log is missing, then nothing is concluded."""
    call = payer.call(pay_to)
    settlement = await settle(faulty_node_facilitator, call)
    node.faults["eth_getLogs"] = "empty"

    status, found = await evidence(faulty_node_facilitator, call)
    again = await settle(faulty_node_facilitator, call)
    node.faults.clear()

    assert (status, found["status"]) == (503, "unknown")
    assert (again["success"], again["errorReason"]) == (False, "unexpected_settle_error")
    assert await settle(faulty_node_facilitator, call) == settlement


async def test_a_payment_of_long_ago_is_unknown(
    facilitator: httpx.AsyncClient, bench: Bench, payer: Payer, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies further back than is searched was paid all the same: it is not called void."""
    call = payer.call(pay_to)
    await settle(facilitator, call)
    monkeypatch.setattr("facilitator.rails.evm.evidence.LOOKBACK_BLOCKS", 0)
    bench.mint(pay_to, 1)

    status, found = await evidence(facilitator, call)

    assert (status, found["status"]) == (503, "unknown")


METHODS = ["eth_getBlockByNumber", "eth_call", "eth_getLogs", "eth_getTransactionReceipt"]
MOODS = ["error", "garbage", "http429", "reset", "lost"]
FAILURES = [(method, fault) for method in METHODS for fault in MOODS] + [("eth_getTransactionReceipt", "null")]


@pytest.mark.parametrize(("method", "fault"), FAILURES)
async def test_a_node_that_fails_gives_none(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, payer: Payer, pay_to: str, method: str, fault: str
) -> None:
    """Given a settled payment, then neither /settlements nor /settle says that it is not paid."""
    call = payer.call(pay_to)
    assert (await settle(faulty_node_facilitator, call))["success"]
    node.faults[method] = fault

    status, found = await evidence(faulty_node_facilitator, call)
    again = await settle(faulty_node_facilitator, call)

    assert (status, found["status"]) == (503, "unknown")
    assert (again["success"], again["errorReason"]) == (False, "unexpected_settle_error")
