"""Settling moves exactly the money that was signed for, once, and takes nothing of the fee payer but the fee."""

import asyncio
import base64

import msgspec
import pytest
from solders.hash import Hash
from solders.keypair import Keypair

from compose.sandbox.solana import NETWORK
from facilitator.rails.solana.rail import SolanaRail
from shared.x402.wire import FacilitatorCall, Settlement, SupportedKind
from tests.facilitator.solana.bench import SolanaBench, call_of
from tests.facilitator.solana.conftest import Running
from tests.solana_signing import unit_limit

pytestmark = pytest.mark.anyio


async def test_the_signed_amount_moves_once(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """To the last unit; the fee payer pays two signatures and the priority fee. A repeated call is answered from the chain."""
    payer = bench.payer(1_000)
    call = bench.call(payer, pay_to)
    lamports = bench.rpc("getBalance", bench.sandbox.settler)["value"]

    settlement = await rail.settle(call)

    assert settlement == Settlement(
        success=True,
        transaction=settlement.transaction,
        network=NETWORK,
        payer=str(payer.pubkey()),
        amount="1000",
    )
    assert (bench.balance(payer.pubkey()), bench.balance(pay_to)) == (0, 1_000)
    assert await rail.settle(call) == settlement
    assert bench.transfers(pay_to) == [settlement.transaction]
    assert bench.rpc("getBalance", bench.sandbox.settler)["value"] == lamports - 10_001


async def test_a_legacy_message_settles(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """Older wallets write them."""
    draft = bench.draft(bench.payer(), pay_to)

    assert (await rail.settle(call_of(draft.offer, draft.legacy()))).success
    assert bench.balance(pay_to) == 1_000


async def test_another_filler_is_the_same_payment(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """What a client puts in the fee payer's place is nobody's signature, and makes no other payment."""
    call = bench.call(bench.payer(), pay_to)
    raw = bytearray(base64.b64decode(call.payment_payload.payload["transaction"]))
    raw[1:65] = b"\xab" * 64
    other = call_of(call.payment_requirements, {"transaction": base64.b64encode(bytes(raw)).decode()})

    first, second = await asyncio.gather(rail.settle(call), rail.settle(other))

    assert first == second
    assert bench.transfers(pay_to) == [first.transaction]


async def test_copies_in_parallel_are_one_transaction(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """Twenty callers with one payment hear of one transaction."""
    call = bench.call(bench.payer(), pay_to)

    settlements = await asyncio.gather(*(rail.settle(call) for _ in range(20)))

    assert all(settlement == settlements[0] for settlement in settlements)
    assert settlements[0].success
    assert bench.transfers(pay_to) == [settlements[0].transaction]
    assert bench.balance(pay_to) == 1_000


async def test_two_processes_settle_it_once(running: Running, bench: SolanaBench, pay_to: str) -> None:
    """They sign alike, and the network takes a message once."""
    call = bench.call(bench.payer(), pay_to)
    async with running() as one, running() as other:
        settlements = await asyncio.gather(*(rail.settle(call) for rail in (one, other) * 5))

    assert len({settlement.transaction for settlement in settlements}) == 1
    assert all(settlement.success for settlement in settlements)
    assert bench.balance(pay_to) == 1_000


async def test_many_payments_at_once(
    rail: SolanaRail, bench: SolanaBench, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred of ten payers, none of which waits for another."""
    monkeypatch.setattr("facilitator.rails.solana.rail.RESEND_EVERY_S", 2.0)
    payers = [bench.payer(10_000) for _ in range(10)]
    calls = [bench.call(payer, pay_to) for payer in payers for _ in range(10)]

    settlements = await asyncio.gather(*(rail.settle(call) for call in calls))

    assert all(settlement.success for settlement in settlements)
    assert len({settlement.transaction for settlement in settlements}) == 100
    assert bench.balance(pay_to) == 100_000


async def test_more_than_the_payer_has_at_once(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """Ten payments of a payer who can pay three: three settle, and the others say why they do not, or fail on the chain."""
    payer = bench.payer(3_000)
    calls = [bench.call(payer, pay_to) for _ in range(10)]

    settlements = await asyncio.gather(*(rail.settle(call) for call in calls))

    assert sum(settlement.success for settlement in settlements) == 3
    reasons = {settlement.error_reason for settlement in settlements if not settlement.success}
    assert reasons <= {"insufficient_funds", "invalid_transaction_state"}
    assert (bench.balance(payer.pubkey()), bench.balance(pay_to)) == (0, 3_000)


async def test_verify_changes_nothing(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """However often; and afterwards it settles."""
    payer = bench.payer()
    call = bench.call(payer, pay_to)

    verifications = [await rail.verify(call) for _ in range(3)]

    assert [(one.is_valid, one.payer) for one in verifications] == [(True, str(payer.pubkey()))] * 3
    assert bench.transfers(pay_to) == []
    assert (await rail.settle(call)).success
    assert (await rail.verify(call)).invalid_reason == "invalid_exact_svm_payload_already_processed"


async def test_it_is_said_who_pays_the_fee(rail: SolanaRail, bench: SolanaBench) -> None:
    """As clients need it for their transaction."""
    extra = {"feePayer": bench.sandbox.settler}
    assert rail.kinds == (SupportedKind(x402_version=2, scheme="exact", network=NETWORK, extra=extra),)
    assert rail.signers == {"solana:*": (bench.sandbox.settler,)}
    assert (rail.network, rail.unavailable_reason) == (NETWORK, "")


# What is refused.


def changed(call: FacilitatorCall, **requirements: object) -> FacilitatorCall:
    """Another offer in the facilitator's hands."""
    return msgspec.structs.replace(
        call, payment_requirements=msgspec.structs.replace(call.payment_requirements, **requirements)
    )


async def refusal(rail: SolanaRail, call: FacilitatorCall) -> str | None:
    """The same of /verify and /settle, and nothing was sent."""
    verification, settlement = await rail.verify(call), await rail.settle(call)
    assert (verification.is_valid, settlement.success, settlement.transaction) == (False, False, "")
    assert verification.invalid_reason == settlement.error_reason
    return settlement.error_reason


async def test_a_call_that_does_not_fit_is_refused(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """Version, scheme, network, asset, fee payer and form."""
    call = bench.call(bench.payer(), pay_to)
    extra = call.payment_requirements.extra
    other = str(Keypair().pubkey())
    found = {
        reason: await refusal(rail, wrong)
        for reason, wrong in {
            "invalid_x402_version": msgspec.structs.replace(call, x402_version=1),
            "unsupported_scheme": changed(call, scheme="upto"),
            "invalid_network": changed(call, network="solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"),
            "invalid_payment_requirements": changed(call, asset=other),
            "invalid_exact_svm_payload_missing_fee_payer": changed(call, extra={"paymentFlow": "upfront"}),
            "fee_payer_not_managed_by_facilitator": changed(call, extra={**extra, "feePayer": other}),
            "invalid_exact_svm_payload_amount_insufficient": changed(call, amount="1001"),
            "invalid_exact_svm_payload_recipient_mismatch": changed(call, pay_to=other),
            "invalid_exact_svm_payload_memo_mismatch": changed(call, extra={**extra, "memo": "another"}),
        }.items()
    }
    assert found == {reason: reason for reason in found}
    for wrong in ({"amount": "1e3"}, {"pay_to": "nobody"}, {"extra": {**extra, "memo": ""}}):
        assert await refusal(rail, changed(call, **wrong)) == "invalid_payment_requirements"
    assert bench.transfers(pay_to) == []


@pytest.mark.parametrize("funds", [None, 0, 999])
async def test_who_has_too_little_pays_nothing(
    rail: SolanaRail, bench: SolanaBench, pay_to: str, funds: int | None
) -> None:
    """No account, an empty one, or a unit less than the amount."""
    assert await refusal(rail, bench.call(bench.payer(funds), pay_to)) == "insufficient_funds"
    assert bench.transfers(pay_to) == []


async def test_a_recipient_without_an_account_is_paid_nothing(rail: SolanaRail, bench: SolanaBench) -> None:
    """Clients do not make it, and neither do we."""
    call = bench.call(bench.payer(), str(Keypair().pubkey()))

    assert await refusal(rail, call) == "invalid_exact_svm_payload_recipient_account_missing"


async def test_too_little_computation_is_refused(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """It would fail on the chain, at our expense."""
    draft = bench.draft(bench.payer(), pay_to)
    draft.limit = unit_limit(1_000)

    assert await refusal(rail, call_of(draft.offer, draft.payload())) == "transaction_simulation_failed"


async def test_an_unknown_blockhash_is_refused(rail: SolanaRail, bench: SolanaBench, pay_to: str) -> None:
    """One that never was, and one that is dead."""
    draft = bench.draft(bench.payer(), pay_to)
    draft.blockhash = Hash.new_unique()
    never, dead = call_of(draft.offer, draft.payload()), bench.call(bench.payer(), pay_to)
    bench.rpc("sandbox_advance", 152)

    for call in (never, dead):
        assert await refusal(rail, call) == "invalid_exact_svm_payload_blockhash_not_found"


async def test_a_blockhash_that_our_node_does_not_know_yet(
    rail: SolanaRail, bench: SolanaBench, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The payer's node was ahead: ours knows it a moment later, and the payment settles."""
    monkeypatch.setattr("facilitator.rails.solana.rail.BLOCKHASH_PATIENCE_S", 5.0)
    call = bench.call(bench.payer(), pay_to)
    simulate, answers = rail._node.simulate, iter(["BlockhashNotFound"] * 3)

    async def behind(raw: bytes) -> object:
        return next(answers, None) or await simulate(raw)

    monkeypatch.setattr(rail._node, "simulate", behind)

    assert (await rail.settle(call)).success
