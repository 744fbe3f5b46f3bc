"""The ledger's transitions, on a real Redis."""

import asyncio
import dataclasses
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import pytest

from api.ledger_servers import LedgerServers
from api.payment.ledger import Ledger
from api.payment.ledger_terms import Claim, Doubtful, Recorded, Verdict
from api.payment.limits import Limit
from api.payment.reconcile import Reconciler
from api.redis_client import Commands, RedisBroken, RedisLost
from jobs.echo import ENDPOINT
from shared.ledger.keys import JOURNAL, OPEN, REFUNDABLE, bucket_of, record_key
from shared.ledger.listing import LISTING
from shared.outcome import NOT_STORED, Ok, Outcome
from shared.sealing.answers import AnswerSealer
from shared.sealing.sealing import Sealer
from shared.servers.ledger_connections import LedgerConnections
from shared.x402.authorization import LastClaim
from workers.answers import AnswerStore, Result

pytestmark = pytest.mark.anyio

Done = Callable[[str, Outcome], bytes]

RECEIPT = b'{"success":true,"transaction":"0xabc","network":"eip155:8453"}'
SEALER = AnswerSealer(bytes(range(32)))


@pytest.fixture
async def client(urls: list[str]) -> AsyncIterator[Commands]:
    servers = LedgerServers(urls)
    yield servers.commands
    servers.close()


@pytest.fixture
def ledger(client: Commands) -> Ledger:
    return Ledger(client)


@pytest.fixture
def answers(urls: list[str]) -> Iterator[Done]:
    ledger = LedgerConnections(urls)
    store = AnswerStore(ledger, SEALER)
    yield lambda payment_id, result: store.done([Result(payment_id, ENDPOINT, b"", result)])[0]
    ledger.close()


def a_claim(**changes: object) -> Claim:
    payer = str(changes.get("payer", "0x1"))
    network = "solana:mainnet" if "token" in changes else "eip155:8453"
    claim = Claim(
        payment_id=f"{network}:0x833:{payer}:{secrets.token_hex(8)}",
        fingerprint="f1",
        endpoint="echo",
        payer=payer,
        offer=b"{}",
        settle_lease_ms=10_000,
        run_lease_ms=10_000,
    )
    return dataclasses.replace(claim, **changes)


async def settled(ledger: Ledger, claim: Claim) -> None:
    await ledger.claim(claim)
    await ledger.settled(claim.payment_id, RECEIPT, claim.run_lease_ms)


async def journal(client: Commands, claim: Claim) -> list[str]:
    """The events of one payment."""
    lines = [
        dict(zip(flat[::2], flat[1::2], strict=True))
        for _, flat in await client.call("XRANGE", JOURNAL[bucket_of(claim.payment_id)], "-", "+")
    ]
    return [line[b"event"].decode() for line in lines if line[b"payment"] == claim.payment_id.encode()]


async def due_in_s(client: Commands, claim: Claim) -> float | None:
    score = await client.call("ZSCORE", OPEN[bucket_of(claim.payment_id)], claim.payment_id)
    return None if score is None else float(score) / 1000 - time.time()


async def make_due(client: Commands, claim: Claim) -> None:
    await client.call("ZADD", OPEN[bucket_of(claim.payment_id)], 0, claim.payment_id)


async def taken(ledger: Ledger, claim: Claim) -> Doubtful | None:
    found = [each for each in await ledger.take_doubtful(100, 1000) if each.payment_id == claim.payment_id]
    return found[0] if found else None


async def test_what_is_open_is_looked_at_in_time(ledger: Ledger, client: Commands) -> None:
    """After the driver's lease; soon when it is unknown; after a day when it is settled; once more when it was refused."""
    claim = a_claim(valid_before=int(time.time()) + 100)
    await ledger.claim(claim)
    assert 9 < (await due_in_s(client, claim) or 0) <= 10
    await ledger.unknown(claim.payment_id, 1)
    assert 1 < (await due_in_s(client, claim) or 0) <= 1.5
    await ledger.settled(claim.payment_id, RECEIPT, 0)
    assert (await due_in_s(client, claim) or 0) == pytest.approx(24 * 3600, abs=5)
    refused = a_claim(valid_before=int(time.time()) + 100)
    await ledger.claim(refused)
    await ledger.rejected(refused.payment_id, 1, "insufficient_funds")
    assert (await due_in_s(client, refused) or 0) == pytest.approx(160, abs=5)


async def test_a_payment_is_claimed_in_time_or_never(ledger: Ledger) -> None:
    """By the server's clock. One that was claimed in time is known also afterwards."""
    now = int(time.time())
    known, late = a_claim(last_claim=LastClaim(now + 600, "late")), a_claim(last_claim=LastClaim(now - 1, "late"))
    assert (await ledger.claim(known)).verdict is Verdict.SETTLE
    assert (await ledger.claim(late)).verdict is Verdict.LATE
    assert (await ledger.find(late)).verdict is Verdict.ABSENT
    await ledger.unknown(known.payment_id, 1)
    again = await ledger.claim(dataclasses.replace(known, last_claim=LastClaim(now - 1, "late")))
    assert (again.verdict, again.attempts) == (Verdict.SETTLE, 2)


async def test_the_clock_of_each_server_is_known(urls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """How far it is from ours."""
    servers = LedgerServers(urls)
    await servers.learn()
    assert list((await servers.clocks()).values()) == pytest.approx([0.0] * len(set(servers.of)), abs=0.1)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 60)
    assert list((await servers.clocks()).values()) == pytest.approx([-60.0] * len(set(servers.of)), abs=1.0)
    servers.close()


async def test_a_doubtful_payment_is_taken_by_one(ledger: Ledger, client: Commands) -> None:
    """Not while its driver lives, and not twice at once; a copy of the call waits for whoever looks into it."""
    claim = a_claim(settle_lease_ms=200, payment=b"sealed")
    await ledger.claim(claim)
    await make_due(client, claim)
    assert await taken(ledger, claim) is None
    await asyncio.sleep(0.25)
    await make_due(client, claim)
    found = await taken(ledger, claim)
    assert found is not None
    assert (found.state, found.attempts, found.offer, found.payment) == ("SETTLING", 1, b"{}", b"sealed")
    await make_due(client, claim)
    assert await taken(ledger, claim) is None
    assert (await ledger.find(claim)).verdict is Verdict.WAIT
    await ledger.unknown(claim.payment_id, 1)
    assert (await ledger.peek(claim)).verdict is Verdict.IDLE


async def test_a_doubtful_payment_is_asked_about_less_and_less(ledger: Ledger, client: Commands) -> None:
    """Twice as late each time, and after ten minutes beyond its end every five minutes."""
    claim = a_claim(settle_lease_ms=1, valid_before=int(time.time()) + 100)
    await ledger.claim(claim)
    pauses = []
    for _ in range(7):
        await asyncio.sleep(0.002)
        await make_due(client, claim)
        assert await taken(ledger, claim)
        pauses.append(round((await due_in_s(client, claim) or 0) - 1))
        await ledger.unknown(claim.payment_id, 1)
    assert pauses == [3, 6, 12, 24, 30, 30, 30]
    old = a_claim(settle_lease_ms=1, valid_before=int(time.time()) - 700)
    await ledger.claim(old)
    await asyncio.sleep(0.002)
    await make_due(client, old)
    assert await taken(ledger, old)
    assert (await due_in_s(client, old) or 0) == pytest.approx(301, abs=2)


async def a_day_later(ledger: Ledger, client: Commands, claim: Claim) -> None:
    """Of a payment that is settled and has no driver."""
    await client.call("HINCRBY", record_key(claim.payment_id), "settled", -24 * 3600 * 1000)
    await make_due(client, claim)
    assert await taken(ledger, claim) is None


async def test_what_is_not_answered_within_a_day_is_refundable(ledger: Ledger, client: Commands, answers: Done) -> None:
    """And said to be, for ever: no late answer is stored, for a refund may be under way."""
    claim = a_claim()
    await settled(ledger, claim)
    await ledger.release(claim.payment_id)
    await make_due(client, claim)
    assert await taken(ledger, claim) is None
    assert (await ledger.peek(claim)).verdict is Verdict.IDLE
    await a_day_later(ledger, client, claim)
    assert SEALER.open(answers(claim.payment_id, Ok(b"1")), ENDPOINT, claim.payment_id, b"") == NOT_STORED
    assert await client.call("TTL", record_key(claim.payment_id)) == -1
    entry = await ledger.claim(claim)
    assert (entry.verdict, entry.receipt) == (Verdict.FAILED, RECEIPT)
    assert await client.call("ZSCORE", REFUNDABLE[bucket_of(claim.payment_id)], claim.payment_id)
    assert (await journal(client, claim))[-1] == "FAILED"
    assert not await ledger.settled(claim.payment_id, RECEIPT, 1)


async def test_what_the_chain_took_back_is_not_refundable(ledger: Ledger, client: Commands) -> None:
    claim = a_claim()
    await settled(ledger, claim)
    await ledger.release(claim.payment_id)
    assert await ledger.taken_back(claim.payment_id, ("eip155:8453", "0x833"), 1_000)
    await a_day_later(ledger, client, claim)
    assert (await ledger.claim(claim)).verdict is Verdict.FAILED
    assert await client.call("ZSCORE", REFUNDABLE[bucket_of(claim.payment_id)], claim.payment_id) is None


async def test_what_the_listing_facilitator_only_said_does_not_hold_the_rail(ledger: Ledger) -> None:
    """Given settlements by it that the chain does not show, when they are found, then they are lost, and no reason to take no
    payments that the rail's own facilitator settles."""
    asset = ("eip155:8453", secrets.token_hex(8))
    for facilitator, lost in ((LISTING, 0), ("", 1)):
        claim = a_claim()
        await ledger.claim(claim)
        assert await ledger.listings.route(claim.payment_id, facilitator, 1_000)
        await ledger.settled(claim.payment_id, RECEIPT, 0)
        assert await ledger.taken_back(claim.payment_id, asset, 10_000)
        assert await ledger.lost_lately([asset], 10_000) == [lost]


async def test_a_refusal_is_looked_into_once_more(ledger: Ledger, client: Commands) -> None:
    """A facilitator may refuse what it has settled: proof overrules it, and else it is closed."""
    for proof in (True, False):
        claim = a_claim()
        await ledger.claim(claim)
        await ledger.rejected(claim.payment_id, 1, "nonce_used")
        await make_due(client, claim)
        found = await taken(ledger, claim)
        assert found is not None
        assert found.state == "REJECTED"
        assert (await ledger.peek(claim)).verdict is Verdict.REJECTED
        if proof:
            assert await ledger.settled(claim.payment_id, RECEIPT, 0)
            assert (await ledger.claim(claim)).verdict is Verdict.RUN
        else:
            await ledger.close(claim.payment_id)
            assert await due_in_s(client, claim) is None


async def test_a_rate_is_counted_for_new_payments_only(ledger: Ledger) -> None:
    """A burst, then one every interval; the same payment again costs nothing; another payer or endpoint has its own."""
    payer = secrets.token_hex(4)
    limit = Limit(interval_ms=200, burst=3)
    claims = [a_claim(payer=payer, limit=limit) for _ in range(5)]
    entries = [await ledger.claim(claim) for claim in claims[:4]]
    assert [entry.verdict for entry in entries] == [Verdict.SETTLE] * 3 + [Verdict.LIMITED]
    assert [entry.quota.left for entry in entries if entry.quota] == [2, 1, 0, 0]
    assert 0 < entries[3].wait_ms <= 200
    assert (await ledger.claim(claims[0])).verdict is Verdict.WAIT
    assert (await ledger.claim(a_claim(payer=payer, limit=limit, endpoint="dns"))).verdict is Verdict.SETTLE
    assert (await ledger.claim(a_claim(payer=payer + "0", limit=limit))).verdict is Verdict.SETTLE
    assert (await ledger.peek(claims[3])).verdict is Verdict.ABSENT
    await asyncio.sleep(entries[3].wait_ms / 1000 + 0.01)
    assert (await ledger.claim(claims[3])).verdict is Verdict.SETTLE
    assert (await ledger.claim(claims[4])).verdict is Verdict.LIMITED


async def test_a_name_of_the_clients_belongs_to_one_payment(ledger: Ledger) -> None:
    """Of one payer and endpoint; that of a refused or forgotten payment is free again."""
    named = secrets.token_hex(16)
    first, second = a_claim(identifier=named), a_claim(identifier=named)
    await ledger.claim(first)
    entry = await ledger.claim(second)
    assert (entry.verdict, entry.other) == (Verdict.IDENTIFIED, first.payment_id)
    assert (await ledger.claim(first)).verdict is Verdict.WAIT
    assert (await ledger.claim(a_claim(identifier=named, payer="0x2"))).verdict is Verdict.SETTLE
    assert (await ledger.claim(a_claim(identifier=named, endpoint="dns"))).verdict is Verdict.SETTLE
    await ledger.rejected(first.payment_id, 1, "insufficient_funds")
    assert (await ledger.claim(second)).verdict is Verdict.SETTLE
    await ledger.abandon(second.payment_id, 1)
    assert (await ledger.claim(a_claim(identifier=named))).verdict is Verdict.SETTLE


async def test_a_token_pays_once(ledger: Ledger) -> None:
    """Of many payments that carry one token, presented at once, a single one is claimed, and its copies are recognised."""
    token = secrets.token_hex(20)
    claims = [a_claim(token=token) for _ in range(50)]
    verdicts = [entry.verdict for entry in await asyncio.gather(*(ledger.claim(claim) for claim in claims))]
    assert sorted(verdicts) == [Verdict.CONFLICT] * 49 + [Verdict.SETTLE]
    paid = claims[verdicts.index(Verdict.SETTLE)]
    await ledger.settled(paid.payment_id, RECEIPT, 10_000)
    assert (await ledger.claim(paid)).verdict is Verdict.WAIT
    assert (await ledger.claim(a_claim(token=token, payer="0x2", endpoint="dns"))).verdict is Verdict.CONFLICT
    assert (await ledger.claim(a_claim(token=token + "0"))).verdict is Verdict.SETTLE


async def test_a_token_whose_payment_was_refused_can_be_paid_with(ledger: Ledger) -> None:
    """The client may have signed with an empty account, filled it, and signed again; a forgotten attempt frees it as well."""
    token = secrets.token_hex(20)
    first, second, third = (a_claim(token=token) for _ in range(3))
    await ledger.claim(first)
    assert (await ledger.claim(second)).verdict is Verdict.CONFLICT
    assert await ledger.rejected(first.payment_id, 1, "insufficient_funds")
    assert (await ledger.claim(second)).verdict is Verdict.SETTLE
    assert await ledger.abandon(second.payment_id, 1)
    assert (await ledger.claim(third)).verdict is Verdict.SETTLE
    assert (await ledger.claim(second)).verdict is Verdict.CONFLICT


class LosesAnswers:
    """Commands whose answers are lost, one after the other, though Redis has run them."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self.lost = 0

    async def call(self, *command: str | bytes | int | float) -> object:
        answer = await self._commands.call(*command)
        if self.lost:
            self.lost -= 1
            raise RedisBroken("on purpose")
        return answer

    async def batch(self, commands: Sequence[tuple[str | bytes | int | float, ...]]) -> list[object]:
        return await self._commands.batch(commands)


async def test_a_driver_whose_answer_was_lost_is_the_driver_still(client: Commands) -> None:
    """Given connections that break after Redis has run the script, then it is sent again, does nothing a second time, and says
    what it said first. Another copy of the call waits."""
    lossy = LosesAnswers(client)
    ledger, claim = Ledger(lossy), a_claim(limit=Limit(60_000, 5))
    await ledger.claim(a_claim())  # the script is known from here on
    await ledger.find(a_claim())

    lossy.lost = 1
    entry = await ledger.claim(claim)
    assert (entry.verdict, entry.attempts) == (Verdict.SETTLE, 1)
    assert (await ledger.claim(claim)).verdict is Verdict.WAIT

    await ledger.unknown(claim.payment_id, 1)
    lossy.lost = 1
    entry = await ledger.find(claim)
    assert (entry.verdict, entry.attempts) == (Verdict.SETTLE, 2)

    await ledger.settled("another", RECEIPT, 10_000)
    lossy.lost = 1
    assert await ledger.settled(claim.payment_id, RECEIPT, 10_000) is Recorded.NEW
    lossy.lost = 1
    assert await ledger.settled(claim.payment_id, RECEIPT, 10_000) is Recorded.AGAIN
    await ledger.release(claim.payment_id)
    lossy.lost = 1
    assert (await ledger.find(claim)).verdict is Verdict.RUN
    assert (await ledger.find(claim)).verdict is Verdict.WAIT
    assert await journal(client, claim) == ["SETTLING", "UNKNOWN", "SETTLING", "SETTLED"]


async def test_what_cannot_be_repeated_is_not(client: Commands) -> None:
    """Given an answer that is lost, then a new attempt is not counted twice, and its caller is told."""
    lossy = LosesAnswers(client)
    ledger, claim = Ledger(lossy), a_claim()
    await ledger.claim(claim)
    await ledger.attempt(claim.payment_id, 1, 10_000)
    lossy.lost = 1
    with pytest.raises(RedisBroken):
        await ledger.attempt(claim.payment_id, 2, 10_000)
    assert await client.call("HGET", record_key(claim.payment_id), "attempts") == b"3"


async def test_a_ledger_of_which_no_server_answers_ends_no_task(caplog: pytest.LogCaptureFixture) -> None:
    """Given servers that are away, then a look for doubtful payments fails, and the task that looks logs it and
    runs on."""
    away = Ledger(LedgerServers(["redis://127.0.0.1:1", "redis://127.0.0.1:2"]).commands)
    with pytest.raises(RedisLost):
        await away.take_doubtful(1, 1_000)
    reconciler = Reconciler(away, (), Sealer(bytes(32), "payments"), probe_s=1)
    reconciler.start()
    for _ in range(200):
        if "the ledger cannot be read" in caplog.text:
            break
        await asyncio.sleep(0.01)
    assert "the ledger cannot be read" in caplog.text
    assert reconciler._task is not None
    assert not reconciler._task.done()
    await reconciler.stop()
