"""Observations: whose they are, which one counts, how long and how much of them is kept. On a real Redis, both ways."""

import dataclasses
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import dramatiq
import pytest
import redis
from redis.exceptions import RedisError

from jobs.echo import ENDPOINT, Request, Response
from jobs.observation import Observed, Previous
from jobs.ports import Context
from shared.endpoint import Endpoint
from shared.layouts import Layout
from shared.ledger.keys import record_key
from shared.outcome import Failed, Ok, Outcome, UpstreamFailed
from shared.queue.message import Arguments, new_job
from shared.queue.queue_clock import QueueClock
from shared.sealing.answers import AnswerSealer
from shared.sealing.sealing import Sealer
from shared.servers.ledger_connections import LedgerConnections, LedgerPool
from shared.settled_payment import SettledPayment
from tests.sites import PUBLIC
from workers import observations
from workers.actors import UNKNOWN_BASELINE, JobRunner, WorkerServices
from workers.answers import AnswerStore, Result
from workers.children import ChildPool
from workers.observations import MOST_BYTES, ObservationStore
from workers.queue.outbox import Outbox

MASTER = bytes(range(32))
NOBODY = "redis://127.0.0.1:1/0"
ALICE = SettledPayment(network="eip155:8453", payer="0xa11ce", asset="0x833", amount="1000", transaction="0x7")
PAGE = "article https://example.com/"


class Kept:
    """A store, and the answers that go with it."""

    def __init__(self, url: str, *, is_apart: bool, most: int = 1000) -> None:
        self.redis = redis.Redis.from_url(url)
        apart = url.removesuffix("/0") + "/1" if is_apart else ""
        self.urls = url, apart
        self.store = ObservationStore(LedgerPool([url]), apart, MASTER, days=1, most=most)
        self.own = redis.Redis.from_url(apart or url)
        self.own.flushdb()
        self._ledger = LedgerConnections([url])
        self.answers = AnswerStore(self._ledger, AnswerSealer(MASTER), self.store)

    def payment(self, settled: int) -> str:
        """A settled one."""
        payment_id = secrets.token_hex(8)
        self.redis.hset(record_key(payment_id), mapping={"state": "SETTLED", "lease": "1", "settled": settled})
        return payment_id

    def result(
        self,
        payment_id: str,
        seen: bytes,
        *,
        payer: SettledPayment = ALICE,
        subject: str = PAGE,
        end: Outcome | None = None,
    ) -> Result:
        """Of a run that has seen this."""
        observation = self.store.observation(self.store.baseline(payer, subject), seen)
        return Result(payment_id, ENDPOINT, b"", end or Ok(seen), observation)

    def call(self, settled: int, seen: bytes, **options: Any) -> None:
        """One call from its settlement to its answer."""
        self.answers.done([self.result(self.payment(settled), seen, **options)])

    def seen(self, payer: SettledPayment = ALICE, subject: str = PAGE) -> bytes | None:
        """What the next call would be compared with."""
        previous = self.store.previous(self.store.baseline(payer, subject))
        return previous and previous.observation

    def close(self) -> None:
        """Close all connections."""
        self._ledger.close()
        self.store.close()
        self.redis.close()
        self.own.close()


@pytest.fixture(params=[False, True], ids=["beside the payments", "apart"])
def kept(request: pytest.FixtureRequest, clean_redis: str) -> Iterator[Kept]:
    """Both ways of keeping observations."""
    made = Kept(clean_redis, is_apart=request.param)
    yield made
    made.close()


def test_the_next_call_gets_what_the_last_one_saw(kept: Kept) -> None:
    """With the moment at which that call was settled."""
    assert kept.seen() is None
    kept.call(1_700_000_000_000, b"first")
    assert kept.store.previous(kept.store.baseline(ALICE, PAGE)) == Previous(
        b"first", datetime.fromtimestamp(1_700_000_000, UTC)
    )
    kept.call(1_700_000_001_000, b"second")
    assert kept.seen() == b"second"


def test_what_was_seen_under_the_previous_key_is_compared_with(kept: Kept) -> None:
    """Also when it is later than what was seen under the new one."""
    old = kept.store
    kept.call(1_000, b"under the old key")
    kept.store = ObservationStore(
        LedgerPool(kept.urls[:1]), kept.urls[1], bytes(32), days=1, most=1000, previous=MASTER
    )
    kept.answers = AnswerStore(LedgerConnections(kept.urls[:1]), AnswerSealer(bytes(32), MASTER), kept.store)
    assert kept.seen() == b"under the old key"
    kept.call(2_000, b"under the new key")
    assert kept.seen() == b"under the new key"
    late = kept.payment(3_000)
    observation = old.observation(old.baseline(ALICE, PAGE), b"by a worker that was not restarted")
    AnswerStore(LedgerConnections(kept.urls[:1]), AnswerSealer(MASTER), old).done(
        [Result(late, ENDPOINT, b"", Ok(b""), observation)]
    )
    assert kept.seen() == b"by a worker that was not restarted"
    old.close()


def test_a_connection_that_was_closed_while_it_was_idle_is_no_failure(kept: Kept) -> None:
    """As after a restart of the ledger."""
    kept.call(1_000, b"seen")
    assert kept.seen() == b"seen"
    kept.redis.client_kill_filter(_type="normal", skipme=True)
    assert kept.seen() == b"seen"


def test_the_later_settlement_wins(kept: Kept) -> None:
    """Given two calls at the same time, then what the one that was settled first saw does not replace the other's."""
    kept.call(2_000, b"settled later, answered first")
    kept.call(1_000, b"settled first")
    assert kept.seen() == b"settled later, answered first"


def test_only_the_answer_that_wins_is_remembered(kept: Kept) -> None:
    """Given a job that ran twice, then the observation of the run whose answer was stored first is the one that counts."""
    payment = kept.payment(1_000)
    first, second = kept.result(payment, b"first run"), kept.result(payment, b"second run")
    (stored,) = kept.answers.done([first])
    assert kept.answers.done([second]) == [stored]
    assert kept.seen() == b"first run"


def test_a_failure_that_is_run_again_leaves_nothing(kept: Kept) -> None:
    """Its answer is not the caller's last."""
    passing = Failed(code="upstream_failed", detail="Later.", retryable=True)
    kept.call(1_000, b"never answered", end=passing)
    assert kept.seen() is None


@pytest.mark.parametrize(
    ("payer", "subject"),
    [
        (SettledPayment(network="eip155:8453", payer="0xb0b"), PAGE),
        (SettledPayment(network="eip155:1", payer="0xa11ce"), PAGE),
        (SettledPayment(network="eip155:8453", payer="0xa11ce", signer="0xb0b"), PAGE),
        (ALICE, "full https://example.com/"),
        (SettledPayment(network="eip155:8453", payer=f"0xa11ce\0{PAGE}"), ""),
    ],
)
def test_nobody_sees_the_baseline_of_another(kept: Kept, payer: SettledPayment, subject: str) -> None:
    """Another wallet, the same wallet on another network, another subject."""
    kept.call(1_000, b"of Alice")
    assert kept.seen(payer, subject) is None


def test_redis_knows_neither_payer_nor_subject(kept: Kept) -> None:
    """Keys are keyed digests, and what is kept is sealed."""
    kept.call(1_000, b"a secret page")
    for key in kept.own.scan_iter("*observation*"):
        content = kept.own.dump(key)
        assert isinstance(content, bytes)
        for secret in (b"0xa11ce", b"example.com", b"a secret page"):
            assert secret not in key + content


def test_what_is_too_large_is_cut_off_and_says_so(kept: Kept) -> None:
    """Compressed, it is no larger than the bound; what is kept is the beginning."""
    content = secrets.token_bytes(2 * MOST_BYTES)
    kept.call(1_000, content)
    previous = kept.store.previous(kept.store.baseline(ALICE, PAGE))
    assert previous is not None
    assert previous.is_truncated
    assert content.startswith(previous.observation)
    assert MOST_BYTES - 20_000 < len(previous.observation) <= MOST_BYTES


def test_what_compresses_well_is_kept_whole(kept: Kept) -> None:
    """The bound is one of compressed bytes."""
    kept.call(1_000, b"line\n" * MOST_BYTES)
    assert kept.seen() == b"line\n" * MOST_BYTES


def test_it_expires_after_it_was_used_last(kept: Kept) -> None:
    """Looking at a baseline renews it."""
    kept.call(1_000, b"seen")
    baseline = kept.store.baseline(ALICE, PAGE)
    kept.own.pexpire(baseline.key, 60_000)
    assert kept.seen() == b"seen"
    assert kept.own.pttl(baseline.key) > kept.store.ttl_ms - 60_000


@pytest.mark.parametrize("is_apart", [False, True])
def test_the_oldest_of_too_many_goes(clean_redis: str, is_apart: bool) -> None:
    """By when each was used last; another payer's are not counted."""
    kept = Kept(clean_redis, is_apart=is_apart, most=3)
    kept.call(1_000, b"of Bob", payer=SettledPayment(network="eip155:8453", payer="0xb0b"))
    for number in range(3):
        kept.call(1_000 + number, b"seen", subject=f"page {number}")
        wait_for_the_next_ms(kept)
    assert kept.seen(subject="page 0") == b"seen"
    wait_for_the_next_ms(kept)
    kept.call(2_000, b"seen", subject="page 3")
    assert [kept.seen(subject=f"page {number}") for number in range(4)] == [b"seen", None, b"seen", b"seen"]
    assert kept.seen(payer=SettledPayment(network="eip155:8453", payer="0xb0b")) == b"of Bob"
    kept.close()


def wait_for_the_next_ms(kept: Kept) -> None:
    """Of Redis's clock, by which baselines are ordered."""
    before: Any = kept.own.time()
    while True:
        now: Any = kept.own.time()
        if now[0] * 1000 + now[1] // 1000 > before[0] * 1000 + before[1] // 1000:
            return


def test_a_pending_one_is_promoted_by_who_looks(clean_redis: str) -> None:
    """Given a worker that died between the answer and the promotion, then the next call promotes what won, drops
    what lost, and leaves alone what has no answer yet."""
    kept = Kept(clean_redis, is_apart=True)
    won, lost, waiting = kept.payment(1_000), kept.payment(2_000), kept.payment(3_000)
    results = {name: kept.result(name, name.encode()) for name in (won, lost, waiting)}
    for name, result in results.items():
        assert result.observation is not None
        kept.store.keep_pending(name, result.observation)
    observation = results[won].observation
    assert observation is not None
    kept.redis.hset(record_key(won), mapping={"state": "DONE", "observed": observation.tag})
    kept.redis.hset(record_key(lost), mapping={"state": "DONE", "observed": "of another run"})

    assert kept.seen() == won.encode()
    pending: Any = kept.own.hkeys(kept.store.baseline(ALICE, PAGE).pending)
    assert [field.decode().partition("|")[0] for field in pending] == [waiting]
    kept.close()


def test_without_its_redis_no_answer_is_stored(clean_redis: str) -> None:
    """An answer whose observation was lost would make the next comparison wrong: the job is to run again."""
    kept = Kept(clean_redis, is_apart=True)
    payment = kept.payment(1_000)
    result = kept.result(payment, b"seen")
    kept.store.keep_pending = broken  # type: ignore[method-assign]
    (stored,) = kept.answers.done([result])
    told = AnswerSealer(MASTER).open(stored, ENDPOINT, payment, b"")
    assert isinstance(told, Failed)
    assert told.retryable
    assert kept.redis.hget(record_key(payment), "state") == b"SETTLED"
    kept.close()


def broken(*_: Any) -> None:
    raise RedisError


class Page:
    """A handler of an endpoint that remembers."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []

    def __call__(self, request: Request, context: Context) -> Response | Observed:
        self.contexts.append(context)
        if request.message == "fails":
            raise UpstreamFailed("Down.", reason="timeout")
        response = Response(ok=True, service=None, you_sent=request.message)
        return response if request.message == "forgets" else Observed(response, str(request.message).encode())


@pytest.fixture
def page() -> Page:
    """What counts its calls."""
    return Page()


@pytest.fixture
def remembering(page: Page) -> Endpoint:
    """echo, which remembers."""
    return dataclasses.replace(ENDPOINT, run=page, subject=lambda request, site: "the page")


def run(
    endpoint: Endpoint, store: ObservationStore, url: str, payment_id: str, message: str, *, left_s: float = 5
) -> Outcome:
    """One job, as a worker runs it."""
    sealer, connection = Sealer(MASTER), LedgerConnections([url])
    answers = AnswerStore(connection, AnswerSealer(MASTER), store)
    outbox = Outbox(answers, {endpoint.name: endpoint}, sealer)
    body = b'{"message": "%b"}' % message.encode()
    arguments = Arguments(payment_id, ALICE, body)
    deadline_ms = int((time.time() + left_s) * 1000)
    job = new_job(endpoint, arguments, reply_to="replies", deadline_ms=deadline_ms, sealer=sealer)
    made: dramatiq.Message[Any] = dramatiq.Message.decode(job.encoded)
    ports: Any = SimpleNamespace(site=PUBLIC)
    runner = JobRunner(endpoint, WorkerServices(outbox, sealer, ChildPool(), ports, store), QueueClock())
    runner(**made.kwargs)
    result = outbox._results[job.id]
    outbox.take([made])
    connection.close()
    return result.outcome


def test_a_handler_gets_its_payment_and_what_it_saw_before(
    kept: Kept, clean_redis: str, page: Page, remembering: Endpoint
) -> None:
    """Call after call, and a call that returns no observation leaves the last one."""
    for number, message in enumerate(("one", "forgets", "two")):
        assert isinstance(run(remembering, kept.store, clean_redis, kept.payment(1_000 + number), message), Ok)
    seen = [context.previous and context.previous.observation for context in page.contexts]
    assert seen == [None, b"one", b"one"]
    assert {context.payment for context in page.contexts} == {ALICE}


def test_a_job_that_nobody_waits_for_looks_at_nothing(
    kept: Kept, clean_redis: str, page: Page, remembering: Endpoint
) -> None:
    """Its handler is not run."""
    result = run(remembering, kept.store, clean_redis, kept.payment(1_000), "one", left_s=-1)
    assert isinstance(result, Failed)
    assert result.code == "deadline_exceeded"
    assert page.contexts == []


def test_a_baseline_that_cannot_be_read_is_no_new_one(clean_redis: str, page: Page, remembering: Endpoint) -> None:
    """The call fails for a passing reason, and is run again: it would say that nothing was seen before."""
    store = ObservationStore(LedgerPool([clean_redis]), NOBODY, MASTER, days=1, most=10)
    assert run(remembering, store, clean_redis, "p", "one") == UNKNOWN_BASELINE
    assert page.contexts == []
    store.close()


def test_a_baseline_of_another_key_is_a_new_one(
    kept: Kept, clean_redis: str, page: Page, remembering: Endpoint
) -> None:
    """Given what was sealed with a key that is gone, then there is nothing to compare with."""
    kept.call(1_000, b"seen", subject="the page")
    key = kept.store.baseline(ALICE, "the page").key
    kept.own.hset(key, "sealed", secrets.token_bytes(64))
    assert isinstance(run(remembering, kept.store, clean_redis, kept.payment(2_000), "one"), Ok)
    assert page.contexts[0].previous is None
    assert kept.seen(subject="the page") == b"one"


@pytest.mark.parametrize("is_apart", [False, True], ids=["beside the payments", "apart"])
def test_a_full_redis_still_says_what_was_seen(clean_redis: str, is_apart: bool) -> None:
    """Given a Redis that refuses new data, then a call that was paid is compared and answered, as any other is."""
    kept = Kept(clean_redis, is_apart=is_apart)
    kept.call(1_000, b"seen")
    waiting = kept.result(kept.payment(2_000), b"seen later")
    assert waiting.observation is not None
    if is_apart:
        kept.store.keep_pending(waiting.payment_id, waiting.observation)
        done = {"state": "DONE", "observed": waiting.observation.tag}
        kept.redis.hset(record_key(waiting.payment_id), mapping=done)
    kept.redis.config_set("maxmemory", "1")
    try:
        with pytest.raises(RedisError):
            kept.redis.set("something", "new")
        assert kept.seen() == (b"seen later" if is_apart else b"seen")
    finally:
        kept.redis.config_set("maxmemory", "0")
        kept.close()


def test_a_baseline_of_another_version_is_no_new_one(
    kept: Kept, clean_redis: str, page: Page, remembering: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails in the same way: a version that reads it will be there, or is there beside this one."""
    assert isinstance(run(remembering, kept.store, clean_redis, kept.payment(1_000), "one"), Ok)
    monkeypatch.setattr(observations, "OBSERVATIONS", Layout(2, frozenset({2})))
    assert run(remembering, kept.store, clean_redis, kept.payment(1_001), "two") == UNKNOWN_BASELINE
