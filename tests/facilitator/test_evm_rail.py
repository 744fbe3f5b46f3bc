"""Settling on a real chain moves exactly the money that was authorized, once, whoever sends it."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tests.facilitator.bench import TRANSFER_TOPIC, Bench, FaultyNode, settle

pytestmark = pytest.mark.anyio


async def verify(facilitator: httpx.AsyncClient, call: Any) -> Any:
    answer = await facilitator.post("/verify", json=call)
    assert answer.status_code == 200
    return answer.json()


async def test_the_authorized_amount_moves_once(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """To the last unit; the answer names the transaction that holds the Transfer, and is the same for a repeated call."""
    payer = bench.payer(funds=1_000)
    call = payer.call(pay_to)

    settlement = await settle(facilitator, call)

    assert settlement == {
        "success": True,
        "transaction": settlement["transaction"],
        "network": "eip155:8453",
        "payer": payer.address,
        "amount": "1000",
    }
    assert (bench.balance(payer.address), bench.balance(pay_to)) == (0, 1_000)
    receipt = bench.receipt(settlement["transaction"])
    (transfer,) = [log for log in receipt["logs"] if log["topics"][0] == TRANSFER_TOPIC]
    assert transfer["topics"][2].endswith(pay_to[2:])
    assert int(transfer["data"], 16) == 1_000
    assert receipt["from"].lower() == bench.sandbox.settler.lower()
    assert await settle(facilitator, call) == settlement
    assert bench.transfers(pay_to) == [settlement["transaction"]]


async def test_another_spelling_is_the_same_payment(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """Hex in capitals and a recovery id of 0 or 1 name the same authorization, which is not settled twice."""
    call = bench.payer().call(pay_to)
    first = await settle(facilitator, call)
    payload = call["paymentPayload"]["payload"]
    signature = bytes.fromhex(payload["signature"][2:])
    payload["signature"] = "0x" + (signature[:64] + bytes([signature[64] - 27])).hex().upper()
    for field in ("from", "to", "nonce"):
        payload["authorization"][field] = "0x" + payload["authorization"][field][2:].upper()

    assert await settle(facilitator, call) == first
    assert len(bench.transfers(pay_to)) == 1


async def test_copies_in_parallel_are_one_transfer(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """Twenty callers with one payment hear of one transaction, and only one was sent."""
    call = bench.payer().call(pay_to)
    sent_before = int(bench.rpc("eth_getTransactionCount", bench.sandbox.settler, "latest"), 16)

    settlements = await asyncio.gather(*(settle(facilitator, call) for _ in range(20)))

    assert all(settlement == settlements[0] for settlement in settlements)
    assert settlements[0]["success"]
    assert bench.transfers(pay_to) == [settlements[0]["transaction"]]
    assert int(bench.rpc("eth_getTransactionCount", bench.sandbox.settler, "latest"), 16) == sent_before + 1


async def test_many_payments_in_parallel(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """Thirty payments at once all settle, in few transactions, whose account numbers are consecutive."""
    payer = bench.payer()

    settlements = await asyncio.gather(*(settle(facilitator, payer.call(pay_to)) for _ in range(30)))

    transactions = {settlement["transaction"] for settlement in settlements}
    assert all(settlement["success"] for settlement in settlements)
    assert bench.balance(pay_to) == 30_000
    assert sorted(bench.transfers(pay_to)) == sorted(settlement["transaction"] for settlement in settlements)
    assert len(transactions) < 30
    numbers = sorted(int(bench.rpc("eth_getTransactionByHash", one)["nonce"], 16) for one in transactions)
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_bad_payments_do_not_hold_up_good_ones(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """Given good and bad payments at once, the good ones settle and the bad ones use up no account number."""
    payer, poor = bench.payer(), bench.payer(funds=999)

    settlements = await asyncio.gather(
        *(settle(facilitator, who.call(pay_to)) for _ in range(10) for who in (payer, poor)),
    )

    assert [settlement["success"] for settlement in settlements] == [True, False] * 10
    assert bench.balance(pay_to) == 10_000


async def test_verify_changes_nothing(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """A good payment is valid as often as it is asked about: no money moves, no nonce is used, no transaction is sent."""
    payer = bench.payer()
    call = payer.call(pay_to)
    sent_before = bench.rpc("eth_getTransactionCount", bench.sandbox.settler, "pending")

    answers = [await verify(facilitator, call) for _ in range(3)]

    assert answers == [{"isValid": True, "payer": payer.address}] * 3
    assert (bench.balance(pay_to), bench.is_used(call)) == (0, False)
    assert bench.rpc("eth_getTransactionCount", bench.sandbox.settler, "pending") == sent_before
    assert (await settle(facilitator, call))["success"]
    assert (await verify(facilitator, call))["invalidReason"] == "invalid_exact_evm_nonce_already_used"


async def test_a_payment_that_somebody_else_sent_is_settled(
    facilitator: httpx.AsyncClient, bench: Bench, pay_to: str
) -> None:
    """Given a stranger who broadcast the authorization first, when it is settled, then his transaction is the receipt."""
    call = bench.payer().call(pay_to)
    theirs = bench.broadcast(call)

    settlement = await settle(facilitator, call)

    assert (settlement["success"], settlement["transaction"], settlement["amount"]) == (True, theirs, "1000")
    assert bench.transfers(pay_to) == [theirs]


async def test_a_stranger_who_is_faster_by_a_moment(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Sent between our simulation and our transaction, the authorization pays all the same; ours reverts and is not named."""
    call = bench.payer().call(pay_to)
    theirs: list[str] = []
    node.faults["eth_sendRawTransaction"] = lambda _: theirs.append(bench.broadcast(call))

    settlement = await settle(faulty_node_facilitator, call)

    assert (settlement["success"], [settlement["transaction"]]) == (True, theirs)
    assert bench.transfers(pay_to) == theirs


async def test_a_payer_who_cancels_at_the_last_moment(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Cancelled between our simulation and our transaction, nothing is paid and nothing is claimed to be."""
    payer = bench.payer()
    call = payer.call(pay_to)
    node.faults["eth_sendRawTransaction"] = lambda _: bench.cancel(payer, call)

    settlement = await settle(faulty_node_facilitator, call)

    assert (settlement["success"], settlement["errorReason"]) == (False, "invalid_transaction_state")
    assert settlement["transaction"] == ""
    assert bench.balance(pay_to) == 0


async def test_a_payer_who_empties_the_account_at_the_last_moment(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """The balance goes elsewhere between our simulation and our transaction: not settled, and the nonce stays unused."""
    payer = bench.payer(funds=1_000)
    call = payer.call(pay_to)
    node.faults["eth_sendRawTransaction"] = lambda _: bench.broadcast(payer.call("0x" + "77" * 20))

    settlement = await settle(faulty_node_facilitator, call)

    assert settlement["success"] is False
    assert (bench.balance(pay_to), bench.is_used(call)) == (0, False)


@pytest.mark.parametrize("later_s", [55, 61, 86_400])
async def test_an_expired_payment_that_settled_stays_settled(
    facilitator: httpx.AsyncClient, bench: Bench, pay_to: str, monkeypatch: pytest.MonkeyPatch, later_s: int
) -> None:
    """The window is for settling: asked again after it closed, the answer is the transaction, not the expiry."""
    call = bench.payer().call(pay_to)
    first = await settle(facilitator, call)
    later = SimpleNamespace(time=lambda: time.time() + later_s, monotonic=time.monotonic)
    monkeypatch.setattr("facilitator.rails.evm.simulation.time", later)

    assert await settle(facilitator, call) == first


async def test_a_caller_who_hangs_up_does_not_undo_a_settlement(
    faulty_node_facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Given a caller who is gone before the transaction is sent, then it is sent, and whoever asks again hears of it."""
    call = bench.payer().call(pay_to)
    node.faults["eth_sendRawTransaction"] = lambda _: time.sleep(0.3)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(settle(faulty_node_facilitator, call), timeout=0.15)

    settlement = await settle(faulty_node_facilitator, call)

    assert bench.transfers(pay_to) == [settlement["transaction"]]
    assert node.seen.count("eth_sendRawTransaction") == 1


async def test_the_facilitator_names_what_it_settles(facilitator: httpx.AsyncClient, bench: Bench) -> None:
    """/supported has the kind in the specification's form, what a settlement costs, and the account that sends."""
    answer = (await facilitator.get("/supported")).json()

    assert int(answer["kinds"][0].pop("extra")["settlementCost"]) > 0
    assert answer == {
        "kinds": [{"x402Version": 2, "scheme": "exact", "network": "eip155:8453"}],
        "extensions": [],
        "signers": {"eip155:*": [bench.sandbox.settler]},
    }
    assert (await facilitator.get("/healthz")).json()["ok"] is True
