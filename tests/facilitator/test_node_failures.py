"""A node that fails leaves a settlement open: never a success that is none, never a refusal of what may be paid."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.facilitator.bench import OPEN, Bench, FaultyNode, payment_id, settle
from tests.time_limits import patience

pytestmark = pytest.mark.anyio


async def test_a_node_that_is_down(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Nothing is settled, nothing is valid, and there is no evidence."""
    call = bench.payer().call(pay_to)
    node.stop()

    settlement = await settle(faulty_node_facilitator, call)
    verification = (await faulty_node_facilitator.post("/verify", json=call)).json()
    evidence = await faulty_node_facilitator.get(f"/settlements/{payment_id(call)}")

    assert (settlement["success"], settlement["errorReason"]) == (False, "unexpected_settle_error")
    assert (verification["isValid"], verification["invalidReason"]) == (False, "unexpected_verify_error")
    assert (evidence.status_code, evidence.json()["status"]) == (503, "unknown")


async def test_static_refusals_need_no_node(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """A wrong signature is refused for good, node or not."""
    call = bench.payer().call(pay_to)
    call["paymentPayload"]["payload"]["signature"] = "0x" + "ab" * 65
    node.stop()

    assert (await settle(faulty_node_facilitator, call))["errorReason"] == "invalid_exact_evm_payload_signature"


async def test_a_receipt_that_does_not_come(
    faulty_node_facilitator: httpx.AsyncClient,
    node: FaultyNode,
    bench: Bench,
    pay_to: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pending, with the transaction; asked again, the same one is waited for and nothing is sent twice."""
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", 0.3)
    call = bench.payer().call(pay_to)
    node.faults["eth_getTransactionReceipt"] = "null"
    pending = await settle(faulty_node_facilitator, call)
    still_pending = await settle(faulty_node_facilitator, call)
    node.faults.clear()

    settlement = await settle(faulty_node_facilitator, call)

    assert (pending["success"], pending["errorReason"]) == (False, "settlement_pending")
    assert still_pending == pending
    assert (settlement["success"], settlement["transaction"]) == (True, pending["transaction"])
    assert bench.transfers(pay_to) == [pending["transaction"]]
    assert node.seen.count("eth_sendRawTransaction") == 1


async def test_a_node_that_hangs(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """The call ends within the node's time limit, open."""
    node.faults["eth_call"] = "hang"

    settlement = await asyncio.wait_for(
        settle(faulty_node_facilitator, bench.payer().call(pay_to)), timeout=patience(5)
    )

    assert settlement["errorReason"] == "unexpected_settle_error"


async def test_a_refused_transaction_leaves_no_gap(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Given a node that refuses a transaction between others, then those after it settle: its number is used again."""
    payer = bench.payer()
    assert (await settle(faulty_node_facilitator, payer.call(pay_to)))["success"]
    node.faults["eth_sendRawTransaction"] = "error"
    refused = await asyncio.gather(*(settle(faulty_node_facilitator, payer.call(pay_to)) for _ in range(3)))
    node.faults.clear()

    after = await asyncio.gather(*(settle(faulty_node_facilitator, payer.call(pay_to)) for _ in range(3)))

    assert [one["errorReason"] for one in refused] == ["unexpected_settle_error"] * 3
    assert all(one["success"] for one in after)
    assert bench.balance(pay_to) == 4_000


async def test_a_forgotten_transaction_does_not_hold_up_the_others(
    faulty_node_facilitator: httpx.AsyncClient,
    node: FaultyNode,
    bench: Bench,
    pay_to: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a node that took a transaction and lost it, then it is sent again, and it and those after it settle."""
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", patience(0.3))
    payer = bench.payer()
    await settle_in_the_end(faulty_node_facilitator, payer.call(pay_to))
    node.faults["eth_sendRawTransaction"] = "forget"
    lost = payer.call(pay_to)
    pending = await settle(faulty_node_facilitator, lost)
    node.faults.clear()

    for call in (payer.call(pay_to), payer.call(pay_to), lost):
        await settle_in_the_end(faulty_node_facilitator, call)

    assert pending["errorReason"] == "settlement_pending"
    assert bench.balance(pay_to) == 4_000


METHODS = [
    "eth_call",
    "eth_getCode",
    "eth_getBlockByNumber",
    "eth_getTransactionCount",
    "eth_sendRawTransaction",
    "eth_getTransactionReceipt",
]
MOODS = ["error", "garbage", "http429", "reset", "lost"]
NULL = ["eth_getBlockByNumber", "eth_sendRawTransaction", "eth_getTransactionReceipt"]
FAILURES = [(method, fault) for method in METHODS for fault in MOODS] + [(method, "null") for method in NULL]


async def settle_in_the_end(facilitator: httpx.AsyncClient, call: Any) -> Any:
    """As the API does it: the same call again, for as long as its outcome is open."""
    for _ in range(10):
        settlement = await settle(facilitator, call)
        if settlement["success"]:
            return settlement
        assert settlement["errorReason"] in OPEN
    raise AssertionError("the outcome stays open")


@pytest.mark.parametrize(("method", "fault"), FAILURES)
async def test_whatever_fails_the_payment_settles_once_in_the_end(
    faulty_node_facilitator: httpx.AsyncClient,
    node: FaultyNode,
    bench: Bench,
    pay_to: str,
    method: str,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the node fails the payment is open or settled, never refused; afterwards the same call settles it, once."""
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", 0.2)
    call = bench.payer().call(pay_to)
    node.faults[method] = fault
    meanwhile = await settle(faulty_node_facilitator, call)
    node.faults.clear()

    settlement = await settle_in_the_end(faulty_node_facilitator, call)

    assert meanwhile == settlement if meanwhile["success"] else meanwhile["errorReason"] in OPEN
    assert bench.transfers(pay_to) == [settlement["transaction"]]


@pytest.mark.parametrize("fault", MOODS)
async def test_nothing_is_valid_while_the_node_fails(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str, fault: str
) -> None:
    """A simulation that could not be made is not a refusal of the payment."""
    node.faults["eth_call"] = fault

    answer = await faulty_node_facilitator.post("/verify", json=bench.payer().call(pay_to))

    assert answer.status_code == 200
    assert (answer.json()["isValid"], answer.json()["invalidReason"]) == (False, "unexpected_verify_error")


async def test_an_answer_is_read_up_to_a_bound(
    faulty_node_facilitator: httpx.AsyncClient, bench: Bench, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is longer is no answer."""
    monkeypatch.setattr("facilitator.json_rpc.MAX_ANSWER_BYTES", 100)

    answer = await faulty_node_facilitator.post("/verify", json=bench.payer().call(pay_to))

    assert answer.json()["invalidReason"] == "unexpected_verify_error"


async def test_a_stranger_is_faster_and_the_chain_is_silent(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Given a stranger whose transaction came first and a node that then shows no logs, then the outcome stays open."""
    call = bench.payer().call(pay_to)

    def intervene(_: Any) -> None:
        bench.broadcast(call)
        node.faults["eth_getLogs"] = "error"

    node.faults["eth_sendRawTransaction"] = intervene

    settlement = await settle(faulty_node_facilitator, call)
    node.faults.clear()

    assert settlement["success"] is False
    assert settlement["errorReason"] in OPEN
    assert (await settle(faulty_node_facilitator, call))["success"]
