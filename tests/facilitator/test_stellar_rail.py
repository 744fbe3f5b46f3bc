"""Settling on Stellar moves exactly the money that was authorized, once, whoever sends it."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
import pytest
from stellar_sdk import Keypair, MuxedAccount, StrKey, xdr

from compose.sandbox.stellar_node import TOKEN
from facilitator.rails.stellar.rail import StellarRail
from shared.settings.service import InvalidSetting
from shared.x402.networks import STELLAR_USDC
from shared.x402.wire import Evidence, Settlement, SupportedKind, Verification
from tests import stellar_signing as signing
from tests.each import each
from tests.facilitator.bench import OPEN, FaultyNode, evidence_of, until
from tests.facilitator.stellar_bench import LEDGER_S, StellarBench, changed
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

P = "invalid_exact_stellar_payload_"


@pytest.fixture(scope="module")
def bench(sockets: None) -> Iterator[StellarBench]:
    """A network for all tests of this file."""
    with StellarBench().running() as bench:
        yield bench


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers close quickly here, so they are looked for often."""
    monkeypatch.setattr("facilitator.rails.stellar.rail.POLL_S", LEDGER_S / 2)
    monkeypatch.setattr("facilitator.rails.stellar.rail.IDLE_POLL_S", LEDGER_S)
    monkeypatch.setattr("facilitator.rails.stellar.channels.AGAIN_AFTER_S", 3 * LEDGER_S)


@pytest.fixture
async def rail(bench: StellarBench) -> AsyncIterator[StellarRail]:
    """The rail, started."""
    rail = StellarRail(TOKEN, bench.rpc_url, bench.settler.secret)
    await rail.start()
    yield rail
    await rail.stop()


@pytest.fixture
def node(bench: StellarBench) -> Iterator[FaultyNode]:
    """A node in front of the network that fails on demand."""
    node = FaultyNode(bench.rpc_url)
    node.start()
    yield node
    node.stop()


@pytest.fixture
async def faulty_node_rail(
    bench: StellarBench, node: FaultyNode, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StellarRail]:
    """A rail that knows the network through that node only, and is not patient."""
    monkeypatch.setattr("facilitator.rails.stellar.node.RPC_TIMEOUT_S", patience(1.0))
    monkeypatch.setattr("facilitator.rails.stellar.rail.SETTLE_TIMEOUT_S", 10 * LEDGER_S)
    rail = StellarRail(TOKEN, node.url, bench.settler.secret)
    await rail.start()
    yield rail
    node.faults.clear()
    await rail.stop()


async def settled(rail: StellarRail, call: Any) -> Settlement:
    """As the API does it: the same call again, for as long as its outcome is open."""
    for _ in range(20):
        settlement = await rail.settle(call)
        if settlement.success:
            return settlement
        assert settlement.error_reason in OPEN, settlement
    raise AssertionError("the outcome stays open")


async def test_the_authorized_amount_moves_once(rail: StellarRail, bench: StellarBench) -> None:
    """To the unit; the fee is the settler's, and within its bound. A repeated call is answered from the chain, also by a rail
    that remembers nothing."""
    payer, shop = bench.payer(25_000), bench.shop()
    lumens = (bench.lumens(bench.settler.public_key), bench.lumens(payer.public_key))

    call = bench.call(payer, shop)
    settlement = await rail.settle(call)
    rail._seen.clear()

    assert (
        await rail.settle(call)
        == settlement
        == Settlement(
            success=True,
            transaction=settlement.transaction,
            network="stellar:pubnet",
            payer=payer.public_key,
            amount="10000",
        )
    )
    assert (bench.balance(payer.public_key), bench.balance(shop)) == (15_000, 10_000)
    assert bench.transfers(shop) == [settlement.transaction]
    assert 0 < lumens[0] - bench.lumens(bench.settler.public_key) <= 50_200
    assert bench.lumens(payer.public_key) == lumens[1]


@pytest.mark.parametrize("kind", [signing.LEGACY, signing.V2], ids=["legacy", "v2"])
async def test_both_kinds_of_credentials(rail: StellarRail, bench: StellarBench, kind: Any) -> None:
    """Those that Soroban began with, and those of CAP-71."""
    payer, shop = bench.payer(10_000), bench.shop()

    assert (await rail.settle(bench.call(payer, shop, credentials=kind))).success
    assert (bench.balance(payer.public_key), bench.balance(shop)) == (0, 10_000)


async def test_a_multiplexed_recipient(rail: StellarRail, bench: StellarBench) -> None:
    """The money is the account's, and the receipt and the evidence name what was offered."""
    payer, shop = bench.payer(), bench.shop()
    customer = MuxedAccount(shop, 7).account_muxed
    assert customer is not None
    call = bench.call(payer, customer)

    settlement = await rail.settle(call)

    assert settlement.success
    assert bench.balance(shop) == 10_000
    evidence = await evidence_of(rail, bench.payment_id(call))
    assert (evidence.status, evidence.pay_to) == ("settled", customer)


async def test_an_expired_payment_that_settled_stays_settled(rail: StellarRail, bench: StellarBench) -> None:
    """Its nonce is forgotten by then; the transfer is not."""
    shop = bench.shop()
    call = bench.call(bench.payer(), shop)
    first = await rail.settle(call)
    bench.pass_ledgers(40)
    rail._seen.clear()

    assert first.success
    assert await rail.settle(call) == first


async def test_copies_in_parallel_are_one_transfer(rail: StellarRail, bench: StellarBench) -> None:
    """Twenty callers with one payment hear of one transaction, and only one was sent."""
    shop = bench.shop()
    call, before = bench.call(bench.payer(), shop), bench.sent()

    settlements = await asyncio.gather(*(rail.settle(call) for _ in range(20)))

    assert settlements[0].success
    assert all(settlement == settlements[0] for settlement in settlements)
    assert bench.transfers(shop) == [settlements[0].transaction]
    assert bench.sent() == before + 1


async def test_many_payments_in_parallel(rail: StellarRail, bench: StellarBench) -> None:
    """More than there are channel accounts: all settle, each in a transaction of its own."""
    payer, shop = bench.payer(), bench.shop()

    settlements = await asyncio.gather(*(rail.settle(bench.call(payer, shop)) for _ in range(40)))

    assert [settlement.error_reason for settlement in settlements] == [None] * 40
    assert sorted(bench.transfers(shop)) == sorted(settlement.transaction for settlement in settlements)
    assert bench.balance(shop) == 400_000


async def test_bad_payments_do_not_hold_up_good_ones(rail: StellarRail, bench: StellarBench) -> None:
    """And cost nothing: they are not sent."""
    payer, poor, shop = bench.payer(), bench.payer(9_999), bench.shop()
    before = bench.sent()

    settlements = await asyncio.gather(*(rail.settle(bench.call(who, shop)) for _ in range(8) for who in (payer, poor)))

    assert [settlement.success for settlement in settlements] == [True, False] * 8
    assert {settlement.error_reason for settlement in settlements} == {None, "insufficient_funds"}
    assert bench.sent() == before + 8


async def test_verify_changes_nothing(rail: StellarRail, bench: StellarBench) -> None:
    """As often as it is asked; once settled, the payment is no longer valid."""
    payer, shop = bench.payer(), bench.shop()
    call, before = bench.call(payer, shop), bench.sent()

    assert [await rail.verify(call) for _ in range(3)] == [Verification(is_valid=True, payer=payer.public_key)] * 3
    assert (bench.balance(shop), bench.sent()) == (0, before)
    assert (await rail.settle(call)).success
    assert (await rail.verify(call)).invalid_reason == "invalid_exact_stellar_nonce_already_used"


async def test_every_refusal_of_the_network_comes_before_anything_is_sent(
    rail: StellarRail, bench: StellarBench
) -> None:
    """Balance, trust lines, limits, window, fee: each with its reason, and no fee is paid for any."""
    payer, shop = bench.payer(), bench.shop()
    without_line = Keypair.random()
    bench.ledger.fund(without_line.public_key)
    full = bench.shop(limit=9_999)
    refusals: list[tuple[Any, str]] = [
        (bench.call(bench.payer(9_999), shop), "insufficient_funds"),
        (bench.call(without_line, shop), "insufficient_funds"),
        (bench.call(Keypair.random(), shop), "insufficient_funds"),
        (bench.call(payer, Keypair.random().public_key), P + "simulation_failed"),
        (bench.call(payer, without_line.public_key), P + "simulation_failed"),
        (bench.call(payer, full), P + "simulation_failed"),
        (bench.call(payer, shop, lasts=0), "invalid_exact_stellar_signature_expired"),
        (bench.call(payer, shop, lasts=-50), "invalid_exact_stellar_signature_expired"),
        (bench.call(payer, shop, lasts=200), "invalid_exact_stellar_signature_expiration_too_far"),
        (bench.call(payer, shop, fee=20_000), P + "fee_below_minimum"),
        (bench.call(payer, shop, fee=50_001), P + "fee_exceeds_maximum"),
        (bench.call(payer, shop, source=bench.settler.public_key), P + "unsafe_tx_or_op_source"),
        (bench.call(payer, shop, source=rail.signers["stellar:*"][3]), P + "unsafe_tx_or_op_source"),
        (bench.call(bench.settler, shop), P + "facilitator_is_payer"),
        (changed(bench.call(payer, shop), pay_to=full), P + "wrong_recipient"),
        (changed(bench.call(payer, shop), amount="10001"), P + "wrong_amount"),
        (
            changed(bench.call(payer, shop), asset=STELLAR_USDC["stellar:testnet"].contract),
            "invalid_payment_requirements",
        ),
        (changed(bench.call(payer, shop), extra={}), "invalid_payment_requirements"),
        (changed(bench.call(payer, shop), network="stellar:testnet"), "invalid_network"),
        (changed(bench.call(payer, shop), scheme="upto"), "unsupported_scheme"),
        (msgspec.structs.replace(bench.call(payer, shop), x402_version=1), "invalid_x402_version"),
    ]
    before = bench.sent()

    for call, reason in refusals:
        assert (await rail.verify(call)).invalid_reason == reason
        settlement = await rail.settle(call)
        assert (settlement.success, settlement.transaction, settlement.error_reason) == (False, "", reason)

    assert bench.sent() == before
    assert bench.balance(payer.public_key) == 10_000_000


async def test_a_payment_that_somebody_else_sent_is_settled(rail: StellarRail, bench: StellarBench) -> None:
    """Given a stranger who broadcast the authorization first, then his transaction is the receipt."""
    shop = bench.shop()
    call = bench.call(bench.payer(), shop)
    theirs = bench.broadcast(call)

    settlement = await rail.settle(call)

    assert (settlement.success, settlement.transaction) == (True, theirs)
    assert bench.transfers(shop) == [theirs]


async def test_a_stranger_who_is_faster_by_a_moment(
    faulty_node_rail: StellarRail, node: FaultyNode, bench: StellarBench
) -> None:
    """Sent between our simulation and our transaction, the authorization pays all the same; ours fails and is not named."""
    shop = bench.shop()
    call = bench.call(bench.payer(), shop)
    theirs: list[str] = []
    node.faults["sendTransaction"] = lambda _: theirs or theirs.append(bench.broadcast(call))

    settlement = await settled(faulty_node_rail, call)

    assert [settlement.transaction] == theirs
    assert bench.transfers(shop) == theirs


async def test_a_payer_who_empties_the_account_at_the_last_moment(
    faulty_node_rail: StellarRail, node: FaultyNode, bench: StellarBench
) -> None:
    """The money goes elsewhere between our simulation and our transaction: not settled, and nothing is claimed to be."""
    payer, shop = bench.payer(10_000), bench.shop()
    away = bench.call(payer, bench.shop())
    call = bench.call(payer, shop)
    gone: list[str] = []
    node.faults["sendTransaction"] = lambda _: gone or gone.append(bench.broadcast(away))

    settlement = await faulty_node_rail.settle(call)

    assert (settlement.success, settlement.transaction) == (False, "")
    assert settlement.error_reason == "settle_exact_stellar_transaction_failed"
    assert (bench.balance(shop), len(gone)) == (0, 1)


async def test_an_entry_for_show_proves_nothing(rail: StellarRail, bench: StellarBench) -> None:
    """Two payments of one price in one transaction move the money once: the one that was not used is not paid."""
    payer, shop = bench.payer(10_000), bench.shop()
    paid, shown = bench.call(payer, shop, nonce=1), bench.call(payer, shop, nonce=2)
    envelope = xdr.TransactionEnvelope.from_xdr(shown.payment_payload.payload["transaction"])
    assert envelope.v1 is not None
    body = envelope.v1.tx.operations[0].body.invoke_host_function_op
    assert body is not None
    bench.broadcast(paid, *body.auth)

    assert (await rail.settle(shown)).error_reason == "insufficient_funds"
    bench.pass_ledgers(40)

    assert (await rail.settle(shown)).error_reason == "invalid_exact_stellar_signature_expired"
    evidence = await evidence_of(rail, bench.payment_id(shown))
    assert evidence.status == "unused"
    assert len(bench.transfers(shop)) == 1


async def test_two_transfers_with_one_nonce(rail: StellarRail, bench: StellarBench) -> None:
    """A payer who signs both is paid for one alone: neither is the other's settlement."""
    payer, shop, other = bench.payer(), bench.shop(), bench.shop()
    first, second = bench.call(payer, shop, nonce=9), bench.call(payer, other, nonce=9)

    settlements = await asyncio.gather(rail.settle(first), rail.settle(second))

    assert sorted(settlement.success for settlement in settlements) == [False, True]
    assert bench.balance(shop) + bench.balance(other) == 10_000


async def test_evidence(rail: StellarRail, bench: StellarBench) -> None:
    """By the id alone: not used, used, used and expired, never used and expired; other ids are not this rail's."""
    payer, shop = bench.payer(), bench.shop()
    call, never = bench.call(payer, shop), bench.call(payer, shop)
    payment_id = bench.payment_id(call)

    unused = await evidence_of(rail, payment_id)
    settlement = await rail.settle(call)
    rail._seen.clear()
    found = await evidence_of(rail, payment_id)
    bench.pass_ledgers(40)
    later = await evidence_of(rail, payment_id)

    assert unused == Evidence(status="unused", network="stellar:pubnet", as_of=unused.as_of, payer=payer.public_key)
    assert unused.as_of > 1_700_000_000
    assert found == Evidence(
        status="settled",
        network="stellar:pubnet",
        as_of=found.as_of,
        transaction=settlement.transaction,
        payer=payer.public_key,
        pay_to=shop,
        amount="10000",
    )
    assert later.transaction == settlement.transaction
    expired = await evidence_of(rail, bench.payment_id(never))
    assert expired.status == "unused"


async def test_evidence_among_many_transfers(rail: StellarRail, bench: StellarBench) -> None:
    """A payer with many payments: each id leads to its own transaction."""
    payer, shop = bench.payer(), bench.shop()
    calls = [bench.call(payer, shop, lasts=60) for _ in range(30)]
    transactions = [bench.broadcast(call) for call in calls]
    bench.pass_ledgers(40)

    for index in (0, 13, 29):
        found = await evidence_of(rail, bench.payment_id(calls[index]))
        assert (found.status, found.transaction) == ("settled", transactions[index])


async def test_evidence_of_too_many_transfers_is_unknown(
    rail: StellarRail, bench: StellarBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search is bounded, and where it ends nothing is said."""
    monkeypatch.setattr("facilitator.rails.stellar.evidence.EVENTS_AT_ONCE", 2)
    monkeypatch.setattr("facilitator.rails.stellar.evidence.MOST_LOOKED_INTO", 4)
    payer, shop = bench.payer(), bench.shop()
    never = bench.call(payer, shop)
    for _ in range(6):
        bench.broadcast(bench.call(payer, shop))

    found = await evidence_of(rail, bench.payment_id(never))

    assert found.status == "unknown"


async def test_evidence_where_the_node_forgets(
    rail: StellarRail, bench: StellarBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that knows less than a day cannot say that something did not happen."""
    monkeypatch.setattr(bench.ledger, "_first", 2)
    monkeypatch.setattr(bench.ledger, "_times", bench.ledger._times[1:])

    found = await evidence_of(rail, bench.payment_id(bench.call(bench.payer(), bench.shop())))

    assert found.status == "unknown"


async def test_a_nonce_that_was_spent_on_something_else(rail: StellarRail, bench: StellarBench) -> None:
    """It is used, and no transfer shows for what: nothing is said of it."""
    payer, shop = bench.payer(), bench.shop()
    call = bench.call(payer, shop, nonce=77)
    bench.ledger.state.nonces[payer.public_key, 77] = (bench.ledger.sequence + 20, bench.ledger.sequence)

    found = await evidence_of(rail, bench.payment_id(call))

    assert found.status == "unknown"
    assert (await rail.settle(call)).error_reason == "unexpected_settle_error"


CONTRACT, SOMEBODY = TOKEN.contract, Keypair.from_raw_ed25519_seed(bytes(31) + b"\7").public_key


@pytest.mark.parametrize(
    "payment_id",
    [
        "",
        "stellar:pubnet",
        f"stellar:testnet:{CONTRACT}:{SOMEBODY}:5",
        f"stellar:pubnet:{STELLAR_USDC['stellar:testnet'].contract}:{SOMEBODY}:5",
        f"stellar:pubnet:{CONTRACT}:{SOMEBODY}:05",
        f"stellar:pubnet:{CONTRACT}:{SOMEBODY}:-0",
        f"stellar:pubnet:{CONTRACT}:{SOMEBODY}:{1 << 63}",
        f"stellar:pubnet:{CONTRACT}:{SOMEBODY}:{-(1 << 63) - 1}",
        f"stellar:pubnet:{CONTRACT}:{SOMEBODY}:5\n",
        f"stellar:pubnet:{CONTRACT}:{SOMEBODY[:-1]}{'A' if SOMEBODY[-1] != 'A' else 'B'}:5",
        f"stellar:pubnet:{CONTRACT}:{StrKey.encode_sha256_hash(bytes(32))}:5",
    ],
)
async def test_ids_of_others_are_not_ours(rail: StellarRail, payment_id: str) -> None:
    """Another network, another token, or no id at all."""
    assert await rail.evidence(payment_id) is None


async def test_an_old_height_refuses_nothing_that_is_in_time(rail: StellarRail, bench: StellarBench) -> None:
    """Given a rail that has not heard of the newest ledgers, then the simulation's ledger decides."""
    assert rail._node.height is not None
    rail._node.height = dataclasses.replace(rail._node.height, ledger=rail._node.height.ledger - 20)

    assert (await rail.verify(bench.call(bench.payer(), bench.shop()))).is_valid


async def test_what_it_says_of_itself(rail: StellarRail, bench: StellarBench) -> None:
    """The newest ledger as of now, that fees are paid, and every account of ours."""
    [kind] = rail.kinds
    assert kind == SupportedKind(x402_version=2, scheme="exact", network="stellar:pubnet", extra=kind.extra)
    assert kind.extra is not None
    assert kind.extra["areFeesSponsored"] is True
    assert 0 <= bench.ledger.sequence - kind.extra["ledger"] <= 5
    signers = rail.signers["stellar:*"]
    assert (signers[0], len(set(signers))) == (bench.settler.public_key, 17)
    assert (rail.unavailable_reason, rail.balance.endswith(" XLM")) == ("", True)


async def test_a_ledger_that_is_held_back(
    rail: StellarRail, bench: StellarBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pending, with the transaction; asked again, the same one is waited for and nothing is sent twice."""
    monkeypatch.setattr("facilitator.rails.stellar.rail.SETTLE_TIMEOUT_S", 4 * LEDGER_S)
    shop = bench.shop()
    call, before = bench.call(bench.payer(), shop), bench.sent()
    with bench.holding():
        pending = await rail.settle(call)
        still_pending = await rail.settle(call)

    settlement = await settled(rail, call)

    assert (pending.success, pending.error_reason) == (False, "settlement_pending")
    assert still_pending == pending
    assert settlement.transaction == pending.transaction
    assert bench.transfers(shop) == [pending.transaction]
    assert bench.sent() == before + 1


async def test_a_lost_submission_is_handed_in_again(rail: StellarRail, bench: StellarBench) -> None:
    """Given a node that took the transaction and lost it, then the very same one gets into a ledger."""
    shop = bench.shop()
    bench.ledger.lost = 1

    settlement = await rail.settle(bench.call(bench.payer(), shop))

    assert settlement.success
    assert bench.transfers(shop) == [settlement.transaction]


async def test_a_transaction_whose_time_has_passed_frees_its_channel(
    rail: StellarRail, bench: StellarBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In no ledger and never to be in one: the payment is open again, and the next attempt settles it."""
    valid_s = 10
    monkeypatch.setattr("facilitator.rails.stellar.channels.VALID_S", valid_s)
    monkeypatch.setattr("facilitator.rails.stellar.channels.AGAIN_AFTER_S", 60.0)
    shop = bench.shop()
    call = bench.call(bench.payer(), shop)
    bench.ledger.lost = 1
    asked = asyncio.create_task(rail.settle(call))
    await until(lambda: not bench.ledger.lost)
    with monkeypatch.context() as later:
        later.setattr(bench.ledger, "clock", lambda: time.time() + valid_s + 1)
        settlement = await asked
    monkeypatch.setattr("facilitator.rails.stellar.channels.VALID_S", 30)

    assert (settlement.error_reason, settlement.transaction) == ("unexpected_settle_error", "")
    again = await rail.settle(call)
    assert again.success
    assert rail._channels._free.qsize() == 16


async def test_a_caller_who_hangs_up_does_not_undo_a_settlement(rail: StellarRail, bench: StellarBench) -> None:
    """Given a caller who is gone before the ledger is closed, then whoever asks again hears of it."""
    shop = bench.shop()
    call = bench.call(bench.payer(), shop)
    with bench.holding(), pytest.raises(TimeoutError):
        await asyncio.wait_for(rail.settle(call), timeout=3 * LEDGER_S)

    settlement = await settled(rail, call)

    assert bench.transfers(shop) == [settlement.transaction]


async def test_a_rail_that_was_killed_settles_once(bench: StellarBench, rail: StellarRail) -> None:
    """Given one that ended with a transaction on its way, when another is asked the same, then the money moves once."""
    shop = bench.shop()
    call = bench.call(bench.payer(), shop)
    with bench.holding():
        first = StellarRail(TOKEN, bench.rpc_url, bench.settler.secret)
        await first.start()
        asked = asyncio.create_task(first.settle(call))
        await until(lambda: bench.ledger.queue)
        asked.cancel()
        first._settling._tasks.clear()
        await first.stop()
        again = asyncio.create_task(rail.settle(call))
        await asyncio.sleep(0.3)

    assert (await again).success
    assert len(bench.transfers(shop)) == 1
    assert (await again).transaction in bench.transfers(shop)


async def test_channels_that_somebody_else_has_used(rail: StellarRail, bench: StellarBench) -> None:
    """Their sequence numbers are asked for anew, and the payment settles."""
    for address in rail.signers["stellar:*"][1:]:
        bench.ledger.state.accounts[address].sequence += 3
    shop = bench.shop()

    assert (await rail.settle(bench.call(bench.payer(), shop))).success
    assert len(bench.transfers(shop)) == 1


async def test_a_node_of_another_network_is_refused(bench: StellarBench) -> None:
    """Settling there would be settling nothing."""
    rail = StellarRail(STELLAR_USDC["stellar:testnet"], bench.rpc_url, bench.settler.secret)
    with pytest.raises(InvalidSetting, match="the node serves 'Public Global"):
        await rail.start()
    await rail.stop()


@each(
    "secret",
    ["", "SA", "0x" + "11" * 32, Keypair.random().public_key, Keypair.random().secret[:-1] + "a"],
)
def test_a_key_of_another_form_is_refused(secret: str) -> None:
    """And not shown."""
    with pytest.raises(InvalidSetting) as refused:
        StellarRail(TOKEN, "http://127.0.0.1:1", secret)
    assert not secret or secret not in str(refused.value)


async def test_a_node_that_is_down_at_start(bench: StellarBench, node: FaultyNode) -> None:
    """It raises, and the next start goes well; nothing is offered before."""
    rail = StellarRail(TOKEN, node.url, bench.settler.secret)
    node.faults["getNetwork"] = "reset"
    with pytest.raises(Exception, match="Server disconnected"):
        await rail.start()
    assert (rail.kinds, rail.unavailable_reason) == ((), "its node does not answer")
    node.faults.clear()

    await rail.start()

    assert rail.kinds
    await rail.stop()


async def test_an_empty_settler_account(bench: StellarBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is offered, and the reason says what is missing. Once there is enough, settling continues by itself."""
    monkeypatch.setattr("facilitator.rails.stellar.rail.READ_SOON_S", LEDGER_S)
    settler = Keypair.random()
    rail = StellarRail(TOKEN, bench.rpc_url, settler.secret, channels=3)
    await rail.start()
    try:
        assert rail.kinds == ()
        assert (
            rail.unavailable_reason
            == f"the settler account {settler.public_key} has 0.0000000 XLM to spend: not enough for the fee of a settlement"
        )
        settlement = await rail.settle(bench.call(bench.payer(), bench.shop()))
        assert settlement.error_reason == "unexpected_settle_error"
        with bench.server.lock:
            bench.ledger.fund(settler.public_key, lumens=2)
        await until(lambda: "needs 3.0000600 XLM for 3 channel accounts" in rail.unavailable_reason)
        assert rail.kinds == ()
        with bench.server.lock:
            bench.ledger.fund(settler.public_key, lumens=2)
        await until(lambda: not rail.unavailable_reason)
        assert (await rail.settle(bench.call(bench.payer(), bench.shop()))).success
    finally:
        await rail.stop()


async def test_a_node_that_falls_silent(
    faulty_node_rail: StellarRail, node: FaultyNode, bench: StellarBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open or unknown, never a refusal; after a while nothing is offered; when it is back it settles without a restart."""
    monkeypatch.setattr("facilitator.rails.stellar.rail.SILENT_S", 3 * LEDGER_S)
    shop = bench.shop()
    call = bench.call(bench.payer(), shop)
    for method in ("getTransaction", "simulateTransaction", "getLedgerEntries", "sendTransaction"):
        node.faults[method] = "error"

    assert (await faulty_node_rail.settle(call)).error_reason == "unexpected_settle_error"
    assert (await faulty_node_rail.verify(call)).invalid_reason == "unexpected_verify_error"
    evidence = await evidence_of(faulty_node_rail, bench.payment_id(call))
    assert evidence.status == "unknown"
    await until(lambda: faulty_node_rail.unavailable_reason == "its node does not answer")
    assert faulty_node_rail.kinds == ()
    broken = bench.call(bench.payer(), shop, nonce=3)
    static = changed(broken, amount="10001")
    assert (await faulty_node_rail.settle(static)).error_reason == P + "wrong_amount"
    node.faults.clear()

    await until(lambda: not faulty_node_rail.unavailable_reason)
    assert (await settled(faulty_node_rail, call)).success
    assert len(bench.transfers(shop)) == 1


FAILURES = [
    (method, fault)
    for method in ("simulateTransaction", "sendTransaction", "getTransaction")
    for fault in ("error", "garbage", "http429", "reset", "lost", "null")
]


@pytest.mark.parametrize(("method", "fault"), FAILURES)
async def test_whatever_fails_the_payment_settles_once_in_the_end(
    faulty_node_rail: StellarRail,
    node: FaultyNode,
    bench: StellarBench,
    method: str,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the node fails the payment is open or settled, never refused; afterwards the same call settles it, once."""
    monkeypatch.setattr("facilitator.rails.stellar.rail.SETTLE_TIMEOUT_S", 1.5 * LEDGER_S)
    shop = bench.shop()
    call = bench.call(bench.payer(), shop)
    node.faults[method] = fault

    during = await faulty_node_rail.settle(call)
    node.faults.clear()
    after = await settled(faulty_node_rail, call)

    assert during.success or during.error_reason in OPEN
    assert bench.transfers(shop) == [after.transaction]
    assert bench.balance(shop) == 10_000


async def test_events_that_show_something_else_are_refused(
    faulty_node_rail: StellarRail, node: FaultyNode, bench: StellarBench
) -> None:
    """A simulation that moves more than the price, or something else, is not paid for."""
    call = bench.call(bench.payer(), bench.shop())
    other = bench.call(bench.payer(), bench.shop(), price="0.002")
    shown: dict[str, Any] = {}

    def remember(result: Any) -> Any:
        shown["events"] = result["events"]
        return result

    node.edits["simulateTransaction"] = remember
    await faulty_node_rail.verify(other)
    own = await faulty_node_rail.verify(call)
    good = shown["events"]
    await faulty_node_rail.verify(other)
    edits: dict[str, list[str]] = {
        "no_transfer_events": [],
        "multiple_transfers": good + good,
        "event_wrong_from": shown["events"],
    }
    assert own.is_valid
    for reason, events in edits.items():
        node.edits["simulateTransaction"] = lambda result, events=events: {**result, "events": events}
        assert (await faulty_node_rail.verify(call)).invalid_reason == P + reason


async def test_a_second_signature_is_another_payment(rail: StellarRail, bench: StellarBench) -> None:
    """The same nonce signed for a later ledger: settled already, by the first."""
    payer, shop = bench.payer(), bench.shop()
    first = bench.call(payer, shop, nonce=4)
    settlement = await rail.settle(first)
    later = bench.call(payer, shop, nonce=4, lasts=31)

    again = await rail.settle(later)

    assert settlement.success
    assert (again.success, again.transaction) == (True, settlement.transaction)
    assert bench.balance(shop) == 10_000
