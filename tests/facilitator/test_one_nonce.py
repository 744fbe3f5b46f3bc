"""One nonce signed twice is two payments, and one settlement is never the other's."""

import asyncio
import secrets
import time
from typing import Any

import httpx
import pytest

from tests.facilitator.bench import Bench, FaultyNode, changed, settle
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

ELSEWHERE = "0x" + "66" * 20
USED = "invalid_exact_evm_nonce_already_used"


@pytest.fixture
def nonce() -> str:
    return "0x" + secrets.token_hex(32)


async def test_one_after_the_other(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str, nonce: str) -> None:
    """Given one nonce signed for two recipients and two amounts, when one is paid, then the others are not."""
    payer = bench.payer()
    await settle(facilitator, payer.call(ELSEWHERE, nonce=nonce))

    for price in ("0.001", "0.08"):
        settlement = await settle(facilitator, payer.call(pay_to, price=price, nonce=nonce))
        assert (settlement["success"], settlement["errorReason"]) == (False, USED)
    larger = await settle(facilitator, payer.call(ELSEWHERE, price="0.08", nonce=nonce))
    assert (larger["success"], bench.balance(pay_to)) == (False, 0)


@pytest.mark.parametrize(("to", "price"), [(ELSEWHERE, "0.001"), (None, "0.000001"), (ELSEWHERE, "0.000001")])
async def test_both_at_once(
    faulty_node_facilitator: httpx.AsyncClient,
    node: FaultyNode,
    bench: Bench,
    pay_to: str,
    nonce: str,
    to: str | None,
    price: str,
) -> None:
    """While one is being settled the other does not get its success: at most one is, and it is the one that was paid."""
    payer = bench.payer()
    theirs, ours = payer.call(to or pay_to, price=price, nonce=nonce), payer.call(pay_to, price="0.08", nonce=nonce)
    node.faults["eth_sendRawTransaction"] = lambda _: time.sleep(0.1)

    first, second = await asyncio.gather(settle(faulty_node_facilitator, theirs), settle(faulty_node_facilitator, ours))

    assert [first["success"], second["success"]].count(True) == 1
    assert second["success"] is (bench.balance(pay_to) == 80_000)


async def test_after_one_that_is_pending(
    faulty_node_facilitator: httpx.AsyncClient,
    node: FaultyNode,
    bench: Bench,
    pay_to: str,
    nonce: str,
    monkeypatch: Any,
) -> None:
    """A transaction that is on its way belongs to the authorization it was made of and to no other."""
    payer = bench.payer()
    node.faults["eth_getTransactionReceipt"] = "null"
    with monkeypatch.context() as impatient:
        impatient.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", patience(0.2))
        pending = await settle(faulty_node_facilitator, payer.call(ELSEWHERE, nonce=nonce))
    node.faults.clear()

    settlement = await settle(faulty_node_facilitator, payer.call(pay_to, nonce=nonce))

    assert pending["errorReason"] == "settlement_pending"
    assert (settlement["success"], settlement["errorReason"]) == (False, USED)


async def test_another_signature_that_is_wrong(
    facilitator: httpx.AsyncClient, bench: Bench, pay_to: str, nonce: str
) -> None:
    """Given a settled payment, then the same one with a wrong signature is still refused."""
    call = bench.payer().call(pay_to, nonce=nonce)
    await settle(facilitator, call)

    settlement = await settle(facilitator, changed(call, "paymentPayload.payload.signature", "0x" + "ab" * 65))

    assert (settlement["success"], settlement["errorReason"]) == (False, "invalid_exact_evm_payload_signature")
