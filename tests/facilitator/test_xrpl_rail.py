"""The XRPL rail on a ledger that closes by itself: a payment is one transaction, and only the ledger's word counts."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import msgspec
import pytest
import pytest_socket
from xrpl.wallet import Wallet

from compose.sandbox.xrpl_state import DEPOSIT_AUTH, DISABLE_MASTER, GLOBAL_FREEZE, REQUIRE_DESTINATION_TAG
from facilitator.rails.xrpl.node import NODE_ERRORS
from facilitator.rails.xrpl.rail import XrplRail
from shared.settings.service import InvalidSetting
from shared.x402.networks import XRPL_RLUSD
from tests import xrpl_signing as signing
from tests.facilitator.bench import evidence_of, until
from tests.facilitator.xrpl_bench import CLOSE_EVERY_S, XrplBench, payment_of
from tests.time_limits import patience
from tests.xrpl_signing import RLUSD, USDC

pytestmark = pytest.mark.anyio
PREFIX = "invalid_exact_xrpl_payload_"


@pytest.fixture
def bench() -> Iterator[XrplBench]:
    """A ledger and its node."""
    pytest_socket.enable_socket()
    bench = XrplBench()
    bench.server.start()
    yield bench
    bench.server.stop()


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers close more quickly here."""
    monkeypatch.setattr("facilitator.rails.xrpl.clock.LOOK_OFTEN_S", 0.03)
    monkeypatch.setattr("facilitator.rails.xrpl.clock.LOOK_EVERY_S", 0.1)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rail that gives up on a ledger after a moment."""
    monkeypatch.setattr("facilitator.rails.xrpl.rail.SETTLE_TIMEOUT_S", 0.35)


@pytest.fixture
async def rail(bench: XrplBench) -> AsyncIterator[XrplRail]:
    """A rail that runs on it."""
    rail = XrplRail((USDC, RLUSD), bench.server.url)
    await rail.start()
    yield rail
    await rail.stop()


@pytest.mark.parametrize("token", [RLUSD, USDC], ids=["RLUSD", "USDC"])
async def test_a_payment_is_settled(bench: XrplBench, rail: XrplRail, token: Any) -> None:
    """Given a good payment, when it is settled, then it is validated, its evidence shows it, and both balances have changed."""
    payer = bench.payer()
    call = bench.call(payer, token=token)
    payment = payment_of(call)
    unused = await evidence_of(rail, payment.payment_id)
    verified = await rail.verify(call)
    settled = await rail.settle(call)
    evidence = await evidence_of(rail, payment.payment_id)

    assert (unused.status, unused.as_of) == ("unused", 0)
    assert (verified.is_valid, verified.payer) == (True, payer.address)
    assert settled.success
    assert (settled.transaction, settled.payer, settled.amount) == (payment.transaction, payer.address, "0.001")
    assert (evidence.status, evidence.pay_to, evidence.amount) == ("settled", bench.pay_to, "0.001")
    assert (evidence.transaction, evidence.payer) == (payment.transaction, payer.address)
    assert evidence.as_of > 1_700_000_000
    assert bench.balance(payer.address, token) == "9.999"
    assert bench.balance(bench.pay_to, token) == "0.001"
    assert rail.kinds[0].extra == {"areFeesSponsored": False, "ledger": rail._clock.index}
    assert (rail.unavailable_reason, rail.balance, rail.signers) == ("", "", {})


async def test_both_dialects_settle(bench: XrplBench, rail: XrplRail) -> None:
    """The foundation's and t54's, whose accepted offer may write the amount in another way."""
    payer = bench.payer()
    offer = signing.offer(bench.pay_to)
    fields = bench.fields(payer, offer, Memos=[signing.memo(signing.INVOICE)])
    body = signing.body({"signedTxBlob": signing.blob(payer, fields), "invoiceId": signing.INVOICE}, offer)
    body["paymentPayload"]["accepted"] = {**body["paymentRequirements"], "amount": "0.001000"}
    assert (await rail.settle(msgspec.convert(body, type(bench.call(payer))))).success
    assert (await rail.settle(bench.call(payer))).success


async def test_twenty_at_once_are_one_transaction(bench: XrplBench, rail: XrplRail) -> None:
    """P12: the same payment twenty times, and twenty different ones: each is one transaction."""
    payer = bench.payer()
    call = bench.call(payer)
    answers = await asyncio.gather(*(rail.settle(call) for _ in range(20)))
    assert {(answer.success, answer.transaction) for answer in answers} == {(True, payment_of(call).transaction)}
    assert bench.transactions(payer.address) == 1
    assert bench.server.seen.count("submit") == 1

    bench.server.is_held = True  # else ledgers of a tenth of a second outrun them on a busy machine
    settling = [asyncio.create_task(rail.settle(bench.call(bench.payer()))) for _ in range(20)]
    await until(lambda: bench.server.seen.count("submit") == 21)
    bench.server.is_held = False
    assert [answer.success for answer in await asyncio.gather(*settling)] == [True] * 20
    assert bench.balance(bench.pay_to) == "0.021"


async def test_a_payer_need_not_wait_for_the_ledger(bench: XrplBench, rail: XrplRail) -> None:
    """Given a payment that is on its way, when the same account signs the next one, then both are settled."""
    bench.server.is_held = True
    payer, settling = bench.payer(), []
    for number in range(3):
        settling.append(asyncio.create_task(rail.settle(bench.call(payer))))
        await until(lambda wanted=number + 1: bench.server.seen.count("submit") == wanted)
    bench.server.is_held = False
    assert [answer.success for answer in await asyncio.gather(*settling)] == [True] * 3
    assert bench.transactions(payer.address) == 3


async def test_what_was_settled_before_is_settled(bench: XrplBench, rail: XrplRail) -> None:
    """By another process, or by the payer itself: the answer is the transaction, and nothing is sent."""
    payer = bench.payer()
    call = bench.call(payer)
    assert bench.submit(payment_of(call).blob) == "tesSUCCESS"
    await until(lambda: bench.transactions(payer.address) == 1)
    bench.server.seen.clear()
    assert (await rail.settle(call)).success
    assert "submit" not in bench.server.seen
    assert (await rail.verify(call)).invalid_reason == PREFIX + "sequence_not_current"


async def test_a_payment_on_its_way_is_waited_for(bench: XrplBench, rail: XrplRail) -> None:
    """The payer has sent it already: its sequence is used in the open ledger, by itself."""
    bench.server.is_held = True
    call = bench.call(bench.payer())
    bench.submit(payment_of(call).blob)
    settling = asyncio.create_task(rail.settle(call))
    await asyncio.sleep(0.3)
    assert not settling.done()
    bench.server.is_held = False
    assert (await settling).success


def _no_line(bench: XrplBench, payer: Wallet) -> None:
    with bench.server.lock:
        for state in (bench.ledger.state, bench.ledger.open):
            del state.lines[payer.address, RLUSD.issuer, RLUSD.currency]


def _forget(bench: XrplBench, account: str) -> None:
    with bench.server.lock:
        for state in (bench.ledger.state, bench.ledger.open):
            del state.accounts[account]


REFUSALS: list[tuple[str, Callable[[XrplBench, Wallet], Any], dict[str, Any], str]] = [
    ("too little of the token", lambda s, p: s.trust(p.address, "0.0009"), {}, "insufficient_funds"),
    ("no trust line", _no_line, {}, PREFIX + "trust_line_missing"),
    ("frozen line", lambda s, p: s.trust(p.address, "5", frozen=True), {}, PREFIX + "trust_line_frozen"),
    ("no XRP for the fee", lambda s, p: s.change(p.address, balance=9), {}, PREFIX + "fee_unfunded"),
    ("fee below the network's", lambda s, p: None, {"Fee": "9"}, PREFIX + "fee_too_low"),
    ("sequence ahead", lambda s, p: None, {"Sequence": 4_000_000_000}, PREFIX + "sequence_not_current"),
    ("no such ticket", lambda s, p: None, {"Sequence": 0, "TicketSequence": 5}, PREFIX + "ticket_not_available"),
    ("a ticket to come", lambda s, p: None, {"Sequence": 0, "TicketSequence": 4 * 10**9}, PREFIX + "ticket_not_available"),
    ("master key off", lambda s, p: s.change(p.address, flags=DISABLE_MASTER), {}, PREFIX + "signer_not_authorized"),
    ("expired", lambda s, p: None, {"LastLedgerSequence": 1000}, PREFIX + "expired"),
    ("too far", lambda s, p: None, {"LastLedgerSequence": 4 * 10**9}, PREFIX + "lastledgersequence_too_large"),
    ("recipient needs a tag", lambda s, p: s.change(s.pay_to, flags=REQUIRE_DESTINATION_TAG), {},
     PREFIX + "pay_to_cannot_receive"),
    ("recipient takes none", lambda s, p: s.change(s.pay_to, flags=DEPOSIT_AUTH), {}, PREFIX + "pay_to_cannot_receive"),
    ("recipient has no room", lambda s, p: s.trust(s.pay_to, "1", "1.0009"), {}, PREFIX + "pay_to_cannot_receive"),
    ("recipient is not there", lambda s, p: _forget(s, s.pay_to), {}, PREFIX + "pay_to_cannot_receive"),
    ("line not authorised", lambda s, p: s.change(RLUSD.issuer, flags=0x00040000), {}, PREFIX + "pay_to_cannot_receive"),
    ("token frozen", lambda s, p: s.change(RLUSD.issuer, flags=GLOBAL_FREEZE), {}, PREFIX + "pay_to_cannot_receive"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("prepare", "changes", "reason"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
async def test_what_the_ledger_would_not_take_is_not_sent(
    bench: XrplBench, rail: XrplRail, prepare: Callable[[XrplBench, Wallet], Any], changes: dict[str, Any], reason: str
) -> None:
    """Refused alike by verify and settle, for good, and nothing reaches the ledger."""
    payer = bench.payer()
    if reason.endswith("expired"):
        last = bench.ledger.validated.index
        await until(lambda: bool(rail.kinds) and rail.kinds[0].extra["ledger"] >= last)  # the rail has seen it, too
        changes = {"LastLedgerSequence": last}
    call = bench.call(payer, **changes)
    prepare(bench, payer)
    verified, settled = await rail.verify(call), await rail.settle(call)
    assert (verified.is_valid, verified.invalid_reason) == (False, reason)
    assert (settled.success, settled.error_reason, settled.transaction) == (False, reason, "")
    assert "submit" not in bench.server.seen


async def test_an_account_that_does_not_exist(bench: XrplBench, rail: XrplRail) -> None:
    """Its signature alone is good."""
    assert (await rail.settle(bench.call(Wallet.create()))).error_reason == PREFIX + "account_not_found"


async def test_a_regular_key_may_pay(bench: XrplBench, rail: XrplRail) -> None:
    """When the ledger says that it is the account's; a stranger's key may not."""
    payer, key = bench.payer(), Wallet.create()
    offer = signing.offer(bench.pay_to)
    body = signing.body({"signedTxBlob": signing.blob(key, bench.fields(payer, offer))}, offer)
    call = msgspec.convert(body, type(bench.call(payer)))
    assert (await rail.settle(call)).error_reason == PREFIX + "signer_not_authorized"
    bench.change(payer.address, regular_key=key.address)
    assert (await rail.settle(call)).success


async def test_tickets_pay_in_any_order(bench: XrplBench, rail: XrplRail) -> None:
    """Given three tickets, when three payments of one account are settled at once, then all are; a used ticket is refused."""
    payer = bench.payer()
    tickets = {"TransactionType": "TicketCreate", "TicketCount": 3, "Destination": None, "Amount": None}
    fields = bench.fields(payer, signing.offer(bench.pay_to), SendMax=None, InvoiceID=None, **tickets)
    assert bench.submit(signing.blob(payer, fields)) == "tesSUCCESS"
    first = fields["Sequence"] + 1
    calls = [bench.call(payer, Sequence=0, TicketSequence=ticket) for ticket in (first + 2, first, first + 1)]
    assert [(await rail.verify(call)).is_valid for call in calls] == [True] * 3
    assert [answer.success for answer in await asyncio.gather(*map(rail.settle, calls))] == [True] * 3
    used = bench.call(payer, Sequence=0, TicketSequence=first, Fee="11")
    assert (await rail.settle(used)).error_reason == PREFIX + "ticket_not_available"


async def test_a_sequence_that_was_used_elsewhere_is_refused_by_the_ledger_alone(
    bench: XrplBench, rail: XrplRail
) -> None:
    """Given another transaction with the payment's sequence in the open ledger, when that is validated, then it is over."""
    bench.server.is_held = True
    payer = bench.payer()
    call = bench.call(payer)
    assert bench.spend(payer) == "tesSUCCESS"
    settling = asyncio.create_task(rail.settle(call))
    await asyncio.sleep(0.3)
    assert not settling.done()
    bench.server.is_held = False
    settled = await settling
    assert (settled.error_reason, settled.transaction) == (PREFIX + "sequence_not_current", "")
    assert (await rail.settle(call)).error_reason == PREFIX + "sequence_not_current"


@pytest.mark.usefixtures("impatient")
async def test_before_the_ledger_has_said_so_it_is_pending(bench: XrplBench, rail: XrplRail) -> None:
    """The same, while no ledger closes; and with a node that does not have the ledgers in which it could be."""
    bench.server.is_held = True
    payer = bench.payer()
    call = bench.call(payer)
    bench.spend(payer)
    pending = await rail.settle(call)
    transaction = payment_of(call).transaction
    assert (pending.error_reason, pending.transaction) == ("settlement_pending", transaction)
    bench.server.close_ledgers(20)
    with bench.server.lock:
        bench.ledger.forget(bench.ledger.validated.index - 5)
    pending = await rail.settle(call)
    assert (pending.error_reason, pending.transaction) == ("settlement_pending", transaction)
    evidence = await evidence_of(rail, payment_of(call).payment_id)
    assert evidence.status == "unknown"


@pytest.mark.usefixtures("impatient")
async def test_a_used_sequence_says_nothing_to_a_node_without_history(bench: XrplBench, rail: XrplRail) -> None:
    """It may have been used by this very payment: not refused for good before a node can tell."""
    payer = bench.payer()
    call = bench.call(payer)
    bench.spend(payer)
    await until(lambda: bench.transactions(payer.address) == 1)
    with bench.server.lock:
        bench.ledger.forget(bench.ledger.validated.index)
    assert (await rail.settle(call)).error_reason == "settlement_pending"


async def test_a_payment_that_expires_while_it_is_looked_at(bench: XrplBench, rail: XrplRail) -> None:
    """Given its payer has sent it and its last ledger is validated just after it was looked for, it is settled all the same."""
    bench.server.is_held = True
    call = bench.call(bench.payer(), LastLedgerSequence=bench.ledger.open_index)
    payment = payment_of(call)

    def pass_by(result: dict[str, Any]) -> dict[str, Any]:
        bench.server.edits.clear()
        assert bench.submit(payment.blob) == "tesSUCCESS"
        bench.server.close_ledgers(2)
        time.sleep(0.4)  # until the rail has heard of them
        return result

    bench.server.edits["tx"] = pass_by
    settled = await rail.settle(call)
    assert (settled.success, settled.transaction) == (True, payment.transaction)


@pytest.mark.usefixtures("impatient")
async def test_a_ledger_that_is_held_back(bench: XrplBench, rail: XrplRail) -> None:
    """Pending with the transaction; unused by evidence; settled when the ledger closes, with no second transaction."""
    bench.server.is_held = True
    payer = bench.payer()
    call = bench.call(payer)
    payment = payment_of(call)
    pending = await rail.settle(call)
    assert (pending.success, pending.error_reason, pending.transaction) == (
        False,
        "settlement_pending",
        payment.transaction,
    )
    evidence = await evidence_of(rail, payment.payment_id)
    assert (evidence.status, evidence.as_of) == ("unused", 0)
    bench.server.is_held = False
    assert (await rail.settle(call)).success
    assert bench.transactions(payer.address) == 1


async def test_a_submission_that_got_lost_is_sent_again(bench: XrplBench, rail: XrplRail) -> None:
    """A node may take it and forget it."""
    bench.ledger.lose = 2
    assert (await rail.settle(bench.call(bench.payer()))).success


@pytest.mark.parametrize("fault", ["lost", "hang up", "garbage", "list", "error"])
async def test_an_answer_that_got_lost(bench: XrplBench, rail: XrplRail, fault: str) -> None:
    """Given a submission whose answer does not come, when the node comes back, then it is one transaction."""
    payer = bench.payer()
    bench.server.faults["submit"] = fault
    settling = asyncio.create_task(rail.settle(bench.call(payer)))
    await until(lambda: "submit" in bench.server.seen)
    await asyncio.sleep(CLOSE_EVERY_S / 2)
    bench.server.faults.clear()
    assert (await settling).success
    assert bench.transactions(payer.address) == 1


@pytest.mark.usefixtures("impatient")
async def test_what_expires_unseen_is_refused_when_the_ledger_has_passed_it(bench: XrplBench, rail: XrplRail) -> None:
    """Pending while it could still come; then refused, and void by evidence of its id alone."""
    bench.server.is_held = True
    bench.ledger.lose = 10**6
    call = bench.call(bench.payer())
    payment = payment_of(call)
    assert (await rail.settle(call)).error_reason == "settlement_pending"
    bench.server.close_ledgers(13)
    assert (await rail.settle(call)).error_reason == "settlement_pending"
    bench.server.close_ledgers(1)
    await until(lambda: rail._clock.index >= payment.last_ledger)
    assert (await rail.settle(call)).error_reason == PREFIX + "expired"
    evidence = await evidence_of(rail, payment.payment_id)
    assert (evidence.status, evidence.transaction) == ("void", "")


@pytest.mark.usefixtures("impatient")
async def test_a_transaction_that_only_cost_its_fee(bench: XrplBench, rail: XrplRail) -> None:
    """Given funds that are gone after the checks, when it is validated without success, then it is a refusal, and void."""
    payer = bench.payer()
    call = bench.call(payer)
    bench.server.faults["submit"] = lambda _: bench.trust(payer.address, "0")
    settled = await rail.settle(call)
    assert (settled.success, settled.error_reason) == (False, "transaction_failed")
    evidence = await evidence_of(rail, payment_of(call).payment_id)
    assert evidence.status == "void"


def _delivered(change: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def edit(result: dict[str, Any]) -> dict[str, Any]:
        if "meta" in result:
            result["meta"]["delivered_amount"] = {**result["meta"]["delivered_amount"], **change}
        return result

    return edit


@pytest.mark.parametrize("change", [{"value": "0.0009"}, {"issuer": USDC.issuer}, {"currency": USDC.currency}])
async def test_success_is_what_arrived(bench: XrplBench, rail: XrplRail, change: dict[str, Any]) -> None:
    """P29: a validated success that delivered something else is none."""
    bench.server.edits["tx"] = _delivered(change)
    call = bench.call(bench.payer())
    assert (await rail.settle(call)).error_reason == "invalid_transaction_state"
    evidence = await evidence_of(rail, payment_of(call).payment_id)
    assert (evidence.status, evidence.amount) in [("settled", "0.0009"), ("void", None)]


async def test_values_with_exponents_are_the_same(bench: XrplBench, rail: XrplRail) -> None:
    """Nodes write small and large values that way."""
    bench.server.edits["tx"] = _delivered({"value": "1e-3"})
    call = bench.call(bench.payer())
    assert (await rail.settle(call)).amount == "0.001"
    evidence = await evidence_of(rail, payment_of(call).payment_id)
    assert evidence.amount == "0.001"


@pytest.mark.parametrize("change", [{"value": "1e999999999"}, {"value": "NaN"}, {"value": None}, {"currency": None}])
async def test_values_that_no_ledger_has(
    bench: XrplBench, rail: XrplRail, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that says such things has said nothing, or nothing of ours."""
    monkeypatch.setattr("facilitator.rails.xrpl.rail.SETTLE_TIMEOUT_S", patience(0.35))
    bench.server.edits["tx"] = _delivered(change)
    call = bench.call(bench.payer())
    assert (await rail.settle(call)).error_reason in ("settlement_pending", "invalid_transaction_state")
    evidence = await evidence_of(rail, payment_of(call).payment_id)
    assert evidence.status in ("unknown", "void")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fault", ["hang up", "garbage", "list", "error"])
async def test_a_node_that_fails_before_anything_was_sent(bench: XrplBench, rail: XrplRail, fault: str) -> None:
    """Nothing is on its way, and nothing is known; when the node comes back the same payment settles."""
    call = bench.call(bench.payer())
    bench.server.faults["*"] = fault
    settled, verified = await rail.settle(call), await rail.verify(call)
    evidence = await evidence_of(rail, payment_of(call).payment_id)
    assert (settled.error_reason, settled.transaction) == ("unexpected_settle_error", "")
    assert verified.invalid_reason == "unexpected_verify_error"
    assert evidence.status == "unknown"
    bench.server.faults.clear()
    assert (await rail.settle(call)).success


async def test_a_node_that_shows_no_new_ledger_is_a_complaint(
    bench: XrplBench, rail: XrplRail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing is offered, until there is one again."""
    monkeypatch.setattr("facilitator.rails.xrpl.rail.STALE_AFTER_S", 0.3)
    bench.server.is_held = True
    await until(lambda: bool(rail.unavailable_reason))
    assert rail.kinds == ()
    assert "no new ledger" in rail.unavailable_reason
    bench.server.is_held = False
    await until(lambda: not rail.unavailable_reason)
    assert len(rail.kinds) == 1


async def test_the_wrong_network_is_refused(bench: XrplBench) -> None:
    """Settling there would be settling nothing."""
    rail = XrplRail((XRPL_RLUSD["xrpl:1"],), bench.server.url)
    with pytest.raises(InvalidSetting, match="serves XRPL network 0, not 1"):
        await rail.start()
    await rail.stop()


async def test_a_node_that_is_down_at_the_start(bench: XrplBench) -> None:
    """It is an error, and no end: started again, the rail runs."""
    rail = XrplRail((RLUSD,), bench.server.url)
    bench.server.faults["*"] = "hang up"
    with pytest.raises(NODE_ERRORS):
        await rail.start()
    assert rail.unavailable_reason
    assert rail.kinds == ()
    bench.server.faults = {"ledger": "garbage"}
    with pytest.raises(ValueError, match="not an answer"):
        await rail.start()
    bench.server.faults.clear()
    await rail.start()
    assert (await rail.settle(bench.call(bench.payer()))).success
    await rail.stop()


BODIES: list[tuple[str, str, Any, str]] = [
    ("version", "x402Version", 1, "invalid_x402_version"),
    ("payment's version", "paymentPayload.x402Version", 1, "invalid_x402_version"),
    ("scheme", "paymentRequirements.scheme", "upto", "unsupported_scheme"),
    ("accepted scheme", "paymentPayload.accepted.scheme", "upto", "unsupported_scheme"),
    ("network", "paymentRequirements.network", "xrpl:1", "invalid_network"),
    ("accepted network", "paymentPayload.accepted.network", "xrpl:1", "invalid_network"),
    ("P35 XRP", "paymentRequirements.asset", "XRP", "invalid_payment_requirements"),
    ("P30 issuer", "paymentRequirements.extra.issuer", USDC.issuer, "invalid_payment_requirements"),
    ("P6 amount", "paymentRequirements.amount", "1e-3", "invalid_payment_requirements"),
    ("accepted less", "paymentPayload.accepted.amount", "0.0009", "invalid_payment_requirements"),
    ("accepted other recipient", "paymentPayload.accepted.payTo", USDC.issuer, "invalid_payment_requirements"),
    ("recipient", "paymentRequirements.payTo", "nobody", "invalid_payment_requirements"),
    ("sponsored", "paymentRequirements.extra.areFeesSponsored", True, "invalid_payment_requirements"),
    ("ticket declared, none used", "paymentPayload.accepted.extra.assetTransferMethod", "ticketSequence",
     "invalid_exact_xrpl_asset_transfer_method_mismatch"),
    ("payload", "paymentPayload.payload", {}, "invalid_payload"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "reason"), [row[1:] for row in BODIES], ids=[row[0] for row in BODIES])
async def test_requests_are_judged_before_the_ledger_is_asked(
    bench: XrplBench, rail: XrplRail, path: str, value: Any, reason: str
) -> None:
    """Version, scheme, network and the requirements themselves."""
    call = bench.call(bench.payer())
    body = msgspec.to_builtins(call)
    *parents, last = path.split(".")
    inner = body
    for name in parents:
        inner = inner[name]
    inner[last] = value
    changed = msgspec.convert(body, type(call))
    assert (await rail.verify(changed)).invalid_reason == reason
    assert (await rail.settle(changed)).error_reason == reason


async def test_evidence_of_other_ids(bench: XrplBench, rail: XrplRail) -> None:
    """None for what is not ours; void for a settled transaction under another's name."""
    for other in ("", "xrpl:0", "xrpl:1:" + "x", "eip155:8453:0x:0x:0x"):
        assert await rail.evidence(other) is None
    payer = bench.payer()
    call = bench.call(payer)
    assert (await rail.settle(call)).success
    forged = payment_of(call).payment_id.replace(payer.address, bench.pay_to)
    evidence = await evidence_of(rail, forged)
    assert evidence.status == "void"
