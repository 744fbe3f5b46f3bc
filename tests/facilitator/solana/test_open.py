"""What the network loses, holds back or lets fail: open for as long as it may still settle, and settled once at most."""

import asyncio
from typing import Any

import pytest

from facilitator.rails.solana.rail import SolanaRail
from shared.nodes.json_rpc import RpcError
from shared.x402.wire import FacilitatorCall, Settlement
from tests.facilitator.bench import OPEN, FaultyNode, evidence_of
from tests.facilitator.solana.bench import SolanaBench, payment_id
from tests.facilitator.solana.conftest import Running
from tests.time_limits import patience

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("impatient")]


async def test_a_lost_transaction_is_sent_again(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """Within the same call."""
    bench.rpc("sandbox_drop", 2)

    settlement = await rail.settle(bench.call(bench.payer(), pay_to))

    assert settlement.success
    assert bench.transfers(pay_to) == [settlement.transaction]


async def test_a_block_that_does_not_come(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """Pending, with the transaction; asked again, the same one is waited for, and it settles once."""
    call = bench.call(bench.payer(), pay_to)
    bench.rpc("sandbox_hold")
    pending = await rail.settle(call)
    still_pending = await rail.settle(call)
    bench.rpc("sandbox_release")

    settlement = await rail.settle(call)

    assert (pending.success, pending.error_reason) == (False, "settlement_pending")
    assert still_pending == pending
    assert (settlement.success, settlement.transaction) == (True, pending.transaction)
    assert bench.transfers(pay_to) == [pending.transaction]


async def test_another_process_finds_it(running: Running, bench: SolanaBench, pay_to: str) -> None:
    """Given a process that sent a payment and was gone before the block, then the next one settles the same transaction."""
    call = bench.call(bench.payer(), pay_to)
    bench.rpc("sandbox_hold")
    async with running() as first:
        pending = await first.settle(call)
    bench.rpc("sandbox_release")
    async with running() as second:
        settlement = await second.settle(call)

    assert (settlement.success, settlement.transaction) == (True, pending.transaction)
    assert bench.transfers(pay_to) == [pending.transaction]


async def test_long_after_it_settled(running: Running, bench: SolanaBench, pay_to: str) -> None:
    """Its blockhash is dead by then: it is the earlier transaction all the same."""
    call = bench.call(bench.payer(), pay_to)
    async with running() as first:
        settled = await first.settle(call)
    bench.rpc("sandbox_advance", 1_000)
    async with running() as second:
        assert await second.settle(call) == settled


async def test_a_transaction_that_dies_is_refused_only_when_it_is_certain(
    rail: SolanaRail, bench: SolanaBench, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead blockhash alone may be a node that is behind. With time it is certain, and the payer has not paid."""
    payer = bench.payer()
    call = bench.call(payer, pay_to)
    bench.rpc("sandbox_hold")
    pending = await rail.settle(call)
    bench.rpc("sandbox_advance", 152)
    bench.rpc("sandbox_release")

    still_pending = await rail.settle(call)
    monkeypatch.setattr("facilitator.rails.solana.rail.DEAD_AFTER_S", 0.0)
    refused = await rail.settle(call)

    assert still_pending == pending
    assert refused.error_reason == "invalid_exact_svm_payload_blockhash_not_found"
    assert (bench.balance(payer.pubkey()), bench.transfers(pay_to)) == (1_000_000, [])


async def test_money_that_is_gone_before_the_block(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """The transaction fails on the chain: nothing was paid, it can never be, and the evidence says so."""
    payer = bench.payer()
    call = bench.call(payer, pay_to)
    bench.rpc("sandbox_hold")
    await rail.settle(call)
    bench.fund(payer.pubkey(), usdc=0)
    bench.rpc("sandbox_release")

    settlement = await rail.settle(call)
    found = await evidence_of(rail, payment_id(call))

    assert (settlement.success, settlement.transaction) == (False, "")
    assert settlement.error_reason == "invalid_transaction_state"
    assert found.status == "void"
    bench.fund(payer.pubkey(), usdc=1_000_000)
    assert (await rail.settle(call)).error_reason == "invalid_transaction_state"
    assert bench.balance(pay_to) == 0


async def test_whoever_hangs_up_does_not_stop_it(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """The settlement ends well without its caller."""
    call = bench.call(bench.payer(), pay_to)
    asking = asyncio.create_task(rail.settle(call))
    await asyncio.sleep(0)
    asking.cancel()

    assert (await rail.settle(call)).success
    assert len(bench.transfers(pay_to)) == 1


# A node that fails.


async def test_a_node_that_is_down(
    faulty_node_rail: SolanaRail, node: FaultyNode, bench: SolanaBench, pay_to: str
) -> None:
    """Nothing is settled, nothing is valid, and there is no evidence. Once it is back, without a restart, all is well."""
    call = bench.call(bench.payer(), pay_to)
    faults: list[Any] = ["simulateTransaction", "getMultipleAccounts"]
    node.faults |= dict.fromkeys(faults, "reset")
    settlement = await faulty_node_rail.settle(call)
    verification = await faulty_node_rail.verify(call)
    evidence = await evidence_of(faulty_node_rail, payment_id(call))
    node.faults.clear()

    assert (settlement.success, settlement.error_reason, settlement.transaction) == (
        False,
        "unexpected_settle_error",
        "",
    )
    assert (verification.is_valid, verification.invalid_reason) == (False, "unexpected_verify_error")
    assert evidence.status == "unknown"
    assert (await faulty_node_rail.settle(call)).success


async def test_static_refusals_need_no_node(
    faulty_node_rail: SolanaRail, node: FaultyNode, bench: SolanaBench, pay_to: str
) -> None:
    """A wrong amount is refused for good, node or not."""
    draft = bench.draft(bench.payer(), pay_to)
    draft.amount = 1
    payment = bench.call(bench.payer(), pay_to)
    call = FacilitatorCall(
        payment_payload=type(payment.payment_payload)(x402_version=2, accepted=draft.offer, payload=draft.payload()),
        payment_requirements=draft.offer,
    )
    node.stop()

    assert (await faulty_node_rail.settle(call)).error_reason == "invalid_exact_svm_payload_amount_insufficient"


async def test_a_node_that_hangs(
    faulty_node_rail: SolanaRail, node: FaultyNode, bench: SolanaBench, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call ends within the time limit of its request, open."""
    monkeypatch.setattr("facilitator.rails.solana.rail.SETTLE_TIMEOUT_S", patience(2.0))
    node.faults["simulateTransaction"] = "hang"

    settlement = await asyncio.wait_for(faulty_node_rail.settle(bench.call(bench.payer(), pay_to)), timeout=patience(3))

    assert settlement.error_reason == "unexpected_settle_error"


METHODS = ["simulateTransaction", "sendTransaction", "getSignatureStatuses"]
MOODS = ["error", "garbage", "http429", "reset", "lost", "null", "empty", "hang"]


async def settle_in_the_end(rail: SolanaRail, call: FacilitatorCall) -> Settlement:
    """As the API does it: the same call again, for as long as its outcome is open."""
    for _ in range(round(patience(10))):
        settlement = await rail.settle(call)
        if settlement.success:
            return settlement
        assert settlement.error_reason in OPEN
    raise AssertionError("the outcome stays open")


@pytest.mark.parametrize("fault", MOODS)
@pytest.mark.parametrize("method", METHODS)
async def test_whatever_fails_the_payment_settles_once_in_the_end(
    faulty_node_rail: SolanaRail,
    node: FaultyNode,
    bench: SolanaBench,
    pay_to: str,
    method: str,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the node fails the payment is open or settled, never refused; afterwards the same call settles it, once."""
    monkeypatch.setattr("facilitator.rails.solana.rail.SETTLE_TIMEOUT_S", 0.15)
    call = bench.call(bench.payer(), pay_to)
    node.faults[method] = fault
    meanwhile = await faulty_node_rail.settle(call)
    node.faults.clear()

    settlement = await settle_in_the_end(faulty_node_rail, call)

    assert meanwhile == settlement if meanwhile.success else meanwhile.error_reason in OPEN
    assert bench.transfers(pay_to) == [settlement.transaction]
    assert bench.balance(pay_to) == 1_000


@pytest.mark.parametrize(("code", "reason"), [(-32005, "unexpected_settle_error"), (-32603, "settlement_pending")])
async def test_a_node_that_does_not_send_says_so(
    rail: SolanaRail, bench: SolanaBench, pay_to: str, monkeypatch: pytest.MonkeyPatch, code: int, reason: str
) -> None:
    """Behind, it leaves nothing on its way. After an error of its own it may have sent it all the same."""
    call = bench.call(bench.payer(), pay_to)
    ask = rail._node._ask

    async def refuse(kind: Any, method: str, *params: Any) -> Any:
        if method == "sendTransaction":
            raise RpcError(code, "not today")
        return await ask(kind, method, *params)

    with monkeypatch.context() as for_now:
        for_now.setattr(rail._node, "_ask", refuse)
        settlement = await rail.settle(call)

    assert (settlement.success, settlement.error_reason) == (False, reason)
    assert bool(settlement.transaction) is (reason == "settlement_pending")
    assert (await rail.settle(call)).success


async def test_odd_answers_are_no_crash(
    faulty_node_rail: SolanaRail, node: FaultyNode, bench: SolanaBench, pay_to: str
) -> None:
    """Answers of the right form with odd values."""
    call = bench.call(bench.payer(), pay_to)
    for method in METHODS:
        for odd in ({}, {"value": None}, {"value": []}, {"value": [{}]}, "x", 7, [[]], {"value": {"err": 1}}):
            node.edits = {method: lambda _, odd=odd: odd}
            settlement = await faulty_node_rail.settle(call)
            if settlement.success:
                break
            assert settlement.error_reason in OPEN | {"transaction_simulation_failed"}
    node.edits = {}
    assert (await faulty_node_rail.settle(call)).success
    assert bench.balance(pay_to) == 1_000
