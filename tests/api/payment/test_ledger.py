"""The ledger's transitions, on a real Redis."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from api.payment.ledger import Claim, Ledger, Verdict
from api.resp import Redis, RedisRefused
from jobs.echo import ENDPOINT
from shared.answers import AnswerSealer, record_key
from shared.connections import Wire
from shared.outcome import Failed, Ok, Outcome
from workers.answers import AnswerStore, Result

pytestmark = pytest.mark.anyio

Done = Callable[[str, Outcome], bytes]

RECEIPT = b'{"success":true,"transaction":"0xabc","network":"eip155:8453"}'
SEALER = AnswerSealer(bytes(range(32)))


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    client = Redis(redis_url)
    yield client
    client.close()


@pytest.fixture
def ledger(client: Redis) -> Ledger:
    return Ledger(client)


@pytest.fixture
def answers(redis_url: str) -> Iterator[Done]:
    ledger = Wire(redis_url)
    store = AnswerStore(ledger, SEALER)
    yield lambda payment_id, result: store.done([Result(payment_id, ENDPOINT, b"", result)])[0]
    ledger.close()


def a_claim(**changes: object) -> Claim:
    claim = Claim(
        payment_id=secrets.token_hex(8),
        fingerprint="f1",
        endpoint="echo",
        payer="0x1",
        offer=b"{}",
        settle_lease_ms=10_000,
        run_lease_ms=10_000,
    )
    return dataclasses.replace(claim, **changes)


async def test_find_does_not_claim(ledger: Ledger, client: Redis) -> None:
    """Looking for an unknown payment writes nothing."""
    claim = a_claim()
    assert (await ledger.find(claim)).verdict is Verdict.ABSENT
    assert not await client.call("EXISTS", record_key(claim.payment_id))


async def test_one_of_many_claims_wins(ledger: Ledger) -> None:
    """Of 200 simultaneous claims one settles and the others wait."""
    claim = a_claim()
    entries = await asyncio.gather(*(ledger.claim(claim) for _ in range(200)))
    verdicts = sorted(entry.verdict for entry in entries)
    assert verdicts == [Verdict.SETTLE] + [Verdict.WAIT] * 199


async def test_another_request_conflicts_in_every_state(ledger: Ledger, answers: Done) -> None:
    """A payment belongs to the first request that presented it, whatever became of it."""
    claim = a_claim()
    other = dataclasses.replace(claim, fingerprint="f2")
    await ledger.claim(claim)
    assert (await ledger.claim(other)).verdict is Verdict.CONFLICT
    await ledger.settled(claim, RECEIPT)
    assert (await ledger.claim(other)).verdict is Verdict.CONFLICT
    answers(claim.payment_id, Ok(b"{}"))
    assert (await ledger.find(other)).verdict is Verdict.CONFLICT


async def test_the_answer_comes_back_with_its_receipt(ledger: Ledger, answers: Done) -> None:
    """After DONE every copy of the request gets the stored bytes."""
    claim = a_claim()
    await ledger.claim(claim)
    await ledger.settled(claim, RECEIPT)
    answers(claim.payment_id, Ok(b'{"ok":true}'))
    entry = await ledger.claim(claim)
    assert (entry.verdict, entry.receipt) == (Verdict.ANSWER, RECEIPT)
    assert SEALER.open(entry.answer, ENDPOINT, claim.payment_id, b"") == Ok(b'{"ok":true}')


async def test_the_first_result_wins(ledger: Ledger, answers: Done) -> None:
    """A job that ran twice answers twice the same."""
    claim = a_claim()
    await ledger.claim(claim)
    await ledger.settled(claim, RECEIPT)
    first = answers(claim.payment_id, Ok(b"1"))
    assert answers(claim.payment_id, Ok(b"2")) == first
    assert answers(claim.payment_id, Failed("upstream_failed", "late", retryable=True)) == first


async def test_a_retryable_failure_frees_the_payment(ledger: Ledger, answers: Done) -> None:
    """The same request runs the job again, without another settlement."""
    claim = a_claim()
    await ledger.claim(claim)
    await ledger.settled(claim, RECEIPT)
    answers(claim.payment_id, Failed("upstream_failed", "down", reason="timeout", retryable=True))
    entry = await ledger.claim(claim)
    assert entry.verdict is Verdict.RUN
    assert entry.receipt == RECEIPT
    assert (await ledger.claim(claim)).verdict is Verdict.WAIT


async def test_a_final_failure_is_the_answer(ledger: Ledger, answers: Done) -> None:
    """A failure that will not change is stored like an answer."""
    claim = a_claim()
    await ledger.claim(claim)
    await ledger.settled(claim, RECEIPT)
    answers(claim.payment_id, Failed("upstream_failed", "no", reason="captions_disabled"))
    assert (await ledger.claim(claim)).verdict is Verdict.ANSWER


async def test_a_driver_that_vanished_is_replaced(ledger: Ledger) -> None:
    """When the lease runs out the next copy settles again, counted as another attempt; once settled it runs."""
    claim = a_claim(settle_lease_ms=1, run_lease_ms=1)
    assert (await ledger.claim(claim)).attempts == 1
    await asyncio.sleep(0.01)
    entry = await ledger.claim(claim)
    assert (entry.verdict, entry.attempts) == (Verdict.SETTLE, 2)
    await ledger.settled(claim, RECEIPT)
    await asyncio.sleep(0.01)
    assert (await ledger.find(claim)).verdict is Verdict.RUN


async def test_a_refusal_counts_for_the_only_attempt(ledger: Ledger) -> None:
    """The one and only settle call was refused: rejected, with the reason, for good."""
    claim = a_claim()
    await ledger.claim(claim)
    assert await ledger.rejected(claim, 1, "insufficient_funds")
    entry = await ledger.claim(claim)
    assert (entry.verdict, entry.reason) == (Verdict.REJECTED, "insufficient_funds")


async def test_a_refusal_after_doubt_does_not_count(ledger: Ledger) -> None:
    """The second attempt's refusal may only mean that the first one paid: evidence has to say."""
    claim = a_claim()
    await ledger.claim(claim)
    await ledger.unknown(claim, 1)
    assert (await ledger.claim(claim)).attempts == 2
    assert not await ledger.rejected(claim, 2, "expired")
    assert await ledger.rejected(claim, 2, "expired", by_evidence=True)


async def test_proof_overrules_a_rejection(ledger: Ledger) -> None:
    """Evidence only moves forward: SETTLED may follow REJECTED, never the reverse."""
    claim = a_claim()
    await ledger.claim(claim)
    await ledger.rejected(claim, 1, "insufficient_funds")
    await ledger.settled(claim, RECEIPT)
    assert not await ledger.rejected(claim, 1, "insufficient_funds", by_evidence=True)
    assert (await ledger.find(claim)).verdict is Verdict.WAIT


async def test_abandoning_forgets_only_what_was_never_sent(ledger: Ledger) -> None:
    """A first attempt that never left is forgotten; a later one leaves the doubt of the earlier."""
    claim = a_claim()
    await ledger.claim(claim)
    assert await ledger.abandon(claim, 1)
    assert (await ledger.find(claim)).verdict is Verdict.ABSENT
    await ledger.claim(claim)
    await ledger.unknown(claim, 1)
    await ledger.claim(claim)
    assert not await ledger.abandon(claim, 2)
    assert (await ledger.find(claim)).verdict is Verdict.SETTLE


async def test_an_answer_that_expired_is_not_sold_again(ledger: Ledger, answers: Done, client: Redis) -> None:
    """The record outlives the answer, so the payment stays used."""
    claim = a_claim()
    await ledger.claim(claim)
    await ledger.settled(claim, RECEIPT)
    answers(claim.payment_id, Ok(b"1"))
    await client.call("DEL", f"coinslot:answer:{claim.payment_id}")
    assert (await ledger.claim(claim)).verdict is Verdict.EXPIRED


async def test_records_expire_after_their_use(ledger: Ledger, client: Redis) -> None:
    """Thirty days, which is far beyond the longest authorization that is accepted."""
    claim = a_claim()
    await ledger.claim(claim)
    assert 29 * 86400 < await client.call("TTL", record_key(claim.payment_id)) <= 30 * 86400


async def test_a_driver_that_was_replaced_changes_nothing(ledger: Ledger) -> None:
    """What the first driver learns late does not free, reject or forget the second driver's record."""
    claim = a_claim(settle_lease_ms=1)
    await ledger.claim(claim)
    await asyncio.sleep(0.01)
    held = dataclasses.replace(claim, settle_lease_ms=10_000)
    assert (await ledger.claim(held)).attempts == 2
    await ledger.unknown(claim, 1)
    assert not await ledger.rejected(claim, 1, "late", by_evidence=True)
    assert not await ledger.abandon(claim, 1)
    assert (await ledger.claim(held)).verdict is Verdict.WAIT


async def test_peeking_does_not_make_a_driver(ledger: Ledger) -> None:
    """A record without a driver is said to be idle, and stays so."""
    claim = a_claim()
    assert (await ledger.peek(claim)).verdict is Verdict.ABSENT
    await ledger.claim(claim)
    assert (await ledger.peek(claim)).verdict is Verdict.WAIT
    await ledger.unknown(claim, 1)
    assert (await ledger.peek(claim)).verdict is Verdict.IDLE
    assert (await ledger.peek(claim)).verdict is Verdict.IDLE
    assert (await ledger.find(claim)).verdict is Verdict.SETTLE


async def test_a_full_redis_claims_nothing_and_still_redelivers(ledger: Ledger, answers: Done, client: Redis) -> None:
    """Out of memory: a new payment is refused, a settled one is stored, an answered one is given."""
    old, new = a_claim(), a_claim()
    await ledger.claim(old)
    await client.call("CONFIG", "SET", "maxmemory", "1")
    try:
        with pytest.raises(RedisRefused, match="OOM"):
            await ledger.claim(new)
        await ledger.settled(old, RECEIPT)
        answers(old.payment_id, Ok(b"1"))
        assert (await ledger.peek(old)).verdict is Verdict.ANSWER
    finally:
        await client.call("CONFIG", "SET", "maxmemory", "0")
