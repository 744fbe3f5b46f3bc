"""What became of a payment is what the chain shows, and nothing that it does not show."""

import hashlib

import pytest
from solders.keypair import Keypair

from compose.sandbox.solana import NETWORK, USDC
from facilitator.rails.solana.evidence import parse_id
from facilitator.rails.solana.rail import SolanaRail
from shared.x402.wire import Evidence
from tests.facilitator.bench import FaultyNode, evidence_of
from tests.facilitator.solana.bench import SolanaBench, payment_id
from tests.facilitator.solana.conftest import Running

pytestmark = pytest.mark.anyio


async def test_a_settled_payment(rail: SolanaRail, running: Running, bench: SolanaBench, pay_to: str) -> None:
    """Transaction, recipient and amount as the chain has them, also for a process that knows of nothing."""
    payer = bench.payer()
    call = bench.call(payer, pay_to)
    settlement = await rail.settle(call)

    evidence = await evidence_of(rail, payment_id(call))
    async with running() as other:
        found_by_another = await evidence_of(other, payment_id(call))

    assert evidence == Evidence(
        status="settled",
        network=NETWORK,
        as_of=evidence.as_of,
        transaction=settlement.transaction,
        payer=str(payer.pubkey()),
        pay_to=pay_to,
        amount="1000",
    )
    assert evidence.as_of > 1_700_000_000
    assert (found_by_another.status, found_by_another.transaction) == ("settled", settlement.transaction)


async def test_an_unused_payment(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """Whether the payer has a history or none; as of the newest block."""
    payer = bench.payer()
    before = await evidence_of(rail, payment_id(bench.call(payer, pay_to)))
    await rail.settle(bench.call(payer, pay_to))
    after = await evidence_of(rail, payment_id(bench.call(payer, pay_to)))
    bench.rpc("sandbox_advance", 100)
    later = await evidence_of(rail, payment_id(bench.call(payer, pay_to)))

    assert (before.status, after.status, later.status) == ("unused", "unused", "unused")
    assert before.as_of <= after.as_of < later.as_of
    assert (before.pay_to, before.transaction) == (None, "")


async def test_one_payment_among_many(rail: SolanaRail, running: Running, bench: SolanaBench, pay_to: str) -> None:
    """The right one, whether it is the oldest or the newest."""
    payer = bench.payer()
    calls = [bench.call(payer, pay_to) for _ in range(25)]
    settled = [(await rail.settle(call)).transaction for call in calls]
    async with running() as other:
        for place in (0, 12, 24):
            assert (await evidence_of(other, payment_id(calls[place]))).transaction == settled[place]


async def test_a_long_history_is_read_in_parts(
    rail: SolanaRail, running: Running, bench: SolanaBench, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not read yet is unknown, never unused; the next answer sees further back."""
    monkeypatch.setattr("facilitator.rails.solana.evidence.MOST_READ", 10)
    payer = bench.payer()
    oldest, *_ = calls = [bench.call(payer, pay_to) for _ in range(25)]
    for call in calls:
        await rail.settle(call)
    unpaid = payment_id(bench.call(payer, pay_to))
    async with running() as other:
        assert [(await evidence_of(other, payment_id(oldest))).status for _ in range(3)] == [
            "unknown",
            "unknown",
            "settled",
        ]
        assert (await evidence_of(other, unpaid)).status == "unused"


async def test_a_history_without_an_end_is_unknown(
    rail: SolanaRail, running: Running, bench: SolanaBench, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond what a node names at once there may be more."""
    monkeypatch.setattr("facilitator.rails.solana.evidence.LONGEST_HISTORY", 3)
    payer = bench.payer()
    calls = [bench.call(payer, pay_to) for _ in range(3)]
    for call in calls:
        await rail.settle(call)
    async with running() as other:
        assert (await evidence_of(other, payment_id(bench.call(payer, pay_to)))).status == "unknown"
        assert (await evidence_of(other, payment_id(calls[0]))).status == "settled"


@pytest.mark.parametrize("method", ["getMultipleAccounts", "getSignaturesForAddress", "getTransaction"])
@pytest.mark.parametrize("fault", ["error", "garbage", "http429", "reset", "null", "hang"])
async def test_a_node_that_fails_has_no_evidence(
    rail: SolanaRail,
    faulty_node_rail: SolanaRail,
    node: FaultyNode,
    bench: SolanaBench,
    pay_to: str,
    method: str,
    fault: str,
) -> None:
    """Unknown, until it answers again."""
    call = bench.call(bench.payer(), pay_to)
    assert (await rail.settle(call)).success
    node.faults[method] = fault
    meanwhile = await evidence_of(faulty_node_rail, payment_id(call))
    node.faults.clear()

    assert meanwhile.status == "unknown"
    assert (await evidence_of(faulty_node_rail, payment_id(call))).status == "settled"


async def test_another_rails_payments_are_not_ours(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """Nor is anything that is no payment id."""
    good = payment_id(bench.call(bench.payer(), pay_to))
    network, mint, payer, digest = good.rsplit(":", 3)
    assert network == NETWORK
    for other in (
        f"solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:{mint}:{payer}:{digest}",
        f"{network}:{payer}:{payer}:{digest}",
        f"{network}:{mint}:{payer}:{digest.upper()}",
        f"{network}:{mint}:{payer}:{digest}0",
        f"{network}:{mint}:{payer}x:{digest}",
        f"{network}:{mint}:{'z' * 44}:{digest}",
        f"{network}:{mint}:{digest}",
        f"eip155:8453:{mint}:{payer}:{digest}",
        good + "\n",
        "",
        "solana:" * 10_000,
    ):
        assert await rail.evidence(other) is None


def test_an_id_has_one_form() -> None:
    """What is parsed is what was written."""
    payer, digest = str(Keypair().pubkey()), hashlib.sha256(b"").digest()
    named = parse_id(f"{NETWORK}:{USDC.mint}:{payer}:{digest.hex()}", USDC)
    assert named is not None
    assert (named.payer, bytes.fromhex(named.nonce)) == (payer, digest)
