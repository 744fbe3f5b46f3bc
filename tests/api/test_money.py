"""Rates, names, a ledger that takes nothing, failures that are run again, and payments that nobody comes back for: on the real
API, ledger, queue and worker; only the facilitator is a double."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from typing import Any

import httpx
import pytest
import redis

from api.app import create_app
from api.causes import Cause
from api.payment import identifier, transitions
from api.payment.ledger import Ledger
from api.payment.rails import ConfiguredRail, configured_rails
from api.payment.reconcile import Reconciler
from api.payment.reorgs import ReorgMonitor
from api.pools import PoolRefusal
from api.redis_client import Redis, RedisLost
from jobs.catalogue import BY_NAME
from jobs.ports import Context
from ops import main as ops
from ops.payments import attention
from shared.endpoint import Endpoint
from shared.ledger.keys import JOURNAL, LOST, OPEN, RECHECK, RERUN_MS, bucket_of, in_every_bucket, record_key
from shared.outcome import Outcome, UpstreamFailed, failed
from shared.sealing.sealing import Sealer
from shared.settings.secret_files import read_key
from shared.settings.service import Settings
from tests.api.conftest import opened
from tests.api.paying import Payer, encoded, paid_with
from workers.execute import execute

PATH = "/v1/cdp/echo"

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]


SOLD = (BY_NAME["echo"],)
"""These tests buy echo."""


def events(ledger: redis.Redis) -> list[str]:
    entries = sorted(chain.from_iterable(ledger.xrange(key) for key in JOURNAL), key=lambda entry: entry[0])
    return [entry[b"event"].decode() for _, entry in entries]


def listed(ledger: redis.Redis, index: Sequence[str]) -> list[bytes]:
    """The payments of an index of all buckets."""
    return [name for key in index for name in ledger.zrange(key, 0, -1)]


@pytest.fixture
def ledger(clean_redis: str) -> Any:
    with redis.Redis.from_url(clean_redis) as client:
        yield client


async def test_a_payer_who_calls_too_often_is_429_and_not_charged(
    settings: Settings, payer: Payer, facilitator: Any
) -> None:
    """After the burst, with the rate in the headers; the same payment is served when its time has come."""
    async with opened(create_app(dataclasses.replace(settings, rate_limits="micro=0.5/2"), SOLD)) as shop:
        payments = [payer.headers() for _ in range(3)]
        first, second, third = [await shop.post(PATH, headers=payment) for payment in payments]
        assert (first.status_code, second.status_code, third.status_code) == (200, 200, 429)
        assert first.headers["ratelimit-policy"] == '"payer";q=2;w=4'
        assert first.headers["ratelimit"] == '"payer";r=1;t=2'
        assert third.headers["ratelimit"] == '"payer";r=0;t=4'
        assert third.headers["retry-after"] == "2"
        problem = third.json()
        assert (problem["code"], problem["charged"], problem["retryWithSamePayment"]) == ("rate_limited", False, True)
        assert len(facilitator.settles) == 2
        again = await shop.post(PATH, headers=payments[0])
        assert (again.status_code, again.content) == (200, first.content)
        assert "ratelimit" not in again.headers
        await asyncio.sleep(2.1)
        assert (await shop.post(PATH, headers=payments[2])).status_code == 200


async def test_a_payer_has_eight_calls_at_a_time(shop: httpx.AsyncClient, payer: Payer, facilitator: Any) -> None:
    """The ninth is 429 and not charged; another payer's is not touched."""
    facilitator.delay_s = 0.5
    stranger = Payer()
    calls = [shop.post(PATH, headers=who.headers()) for who in (*[payer] * 10, stranger)]
    answers = await asyncio.gather(*calls)
    statuses = [answer.status_code for answer in answers]
    assert (sorted(statuses[:10]), statuses[10]) == ([200] * 8 + [429] * 2, 200)
    assert len(facilitator.settles) == 9


def named(payment: dict[str, Any], name: str) -> dict[str, Any]:
    return {**payment, "extensions": {identifier.KEY: {"info": {"required": False, "id": name}}}}


async def test_a_call_that_was_named_is_charged_once(shop: httpx.AsyncClient, payer: Payer, facilitator: Any) -> None:
    """A second payment under the same name gets the first one's answer and receipt, and is never settled. Another request
    under that name is 409; another payer's is its own."""
    name = "call-0123456789abcdef"
    paid = [paid_with(named(payer.payment(), name)) for _ in range(3)]
    first = await shop.post(PATH, json={"message": "a"}, headers=paid[0])
    second = await shop.post(PATH, json={"message": "a"}, headers=paid[1])
    assert (second.status_code, second.content) == (200, first.content)
    assert second.headers["payment-response"] == first.headers["payment-response"]
    other = await shop.post(PATH, json={"message": "b"}, headers=paid[2])
    assert (other.status_code, other.json()["code"], other.json()["charged"]) == (409, "identifier_used", False)
    assert len(facilitator.settles) == 1
    stranger = paid_with(named(Payer().payment(), name))
    assert (await shop.post(PATH, json={"message": "b"}, headers=stranger)).status_code == 200
    assert len(facilitator.settles) == 2


async def test_a_named_call_in_progress_is_waited_for(shop: httpx.AsyncClient, payer: Payer, facilitator: Any) -> None:
    """Two payments under one name at the same moment: one settlement, two identical answers."""
    facilitator.delay_s = 0.3
    calls = [shop.post(PATH, headers=paid_with(named(payer.payment(), "x" * 16))) for _ in range(2)]
    first, second = await asyncio.gather(*calls)
    assert (first.status_code, second.status_code, len(facilitator.settles)) == (200, 200, 1)
    assert (first.content, first.headers["payment-response"]) == (second.content, second.headers["payment-response"])


async def test_a_name_does_not_make_another_payment_settle(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any
) -> None:
    """While nobody knows whether the first was settled, the second is told to wait, and is never sent."""
    first, second = (paid_with(named(payer.payment(), "x" * 16)) for _ in range(2))
    facilitator.script, facilitator.evidence = ["hang"], "unknown"
    begun = asyncio.create_task(shop.post(PATH, headers=first))
    await asyncio.sleep(0.3)
    waiting = await shop.post(PATH, headers=second)
    assert (waiting.status_code, waiting.json()["code"]) == (503, "in_progress")
    assert (await begun).status_code == 503
    assert (await shop.post(PATH, headers=second)).status_code == 503
    assert len(set(facilitator.settles)) == 1
    facilitator.evidence = None
    assert (await shop.post(PATH, headers=first)).status_code == 200
    assert (await shop.post(PATH, headers=second)).status_code == 200
    assert len(set(facilitator.settles)) == 1


async def test_a_wrong_name_is_402(shop: httpx.AsyncClient, payer: Payer) -> None:
    """With the reason, and the extension offered."""
    answer = await shop.post(PATH, headers=paid_with(named(payer.payment(), "short")))
    assert (answer.status_code, answer.json()["error"]) == (402, "invalid_payment_identifier")
    assert answer.json()["extensions"][identifier.KEY]["info"] == {"required": False}


async def test_a_full_ledger_takes_nothing_and_forgets_nothing(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis
) -> None:
    """Redis out of memory: 503 and not charged; what is paid is fetched, and what is settled is run."""
    old, unknown, new = (payer.headers() for _ in range(3))
    first = await shop.post(PATH, headers=old)
    facilitator.script, facilitator.evidence = ["error500"], "unknown"
    assert (await shop.post(PATH, headers=unknown)).status_code == 503
    facilitator.evidence = None
    ledger.config_set("maxmemory", 1)
    try:
        answer = await shop.post(PATH, headers=new)
        assert (answer.status_code, answer.json()["code"], answer.json()["charged"]) == (503, "unavailable", False)
        assert (await shop.post(PATH, headers=old)).content == first.content
        # It is driven: settled, and charged. One Redis has both roles here, so its job cannot be queued yet.
        driven = await shop.post(PATH, headers=unknown)
        assert (driven.status_code, driven.json()["charged"]) == (503, True)
        settles = len(facilitator.settles)
    finally:
        ledger.config_set("maxmemory", 0)
    assert (await shop.post(PATH, headers=unknown)).status_code == 200
    assert (await shop.post(PATH, headers=new)).status_code == 200
    assert len(facilitator.settles) == settles + 1


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[tuple[Ledger, tuple[ConfiguredRail, ...]]]:
    """A ledger, and rails whose facilitators can be asked."""
    client = Redis(settings.ledger_url)
    rails = configured_rails(settings)
    for rail in rails:
        await rail.facilitator.start()
    yield Ledger(client), rails
    for rail in rails:
        await rail.facilitator.stop()
    client.close()


@pytest.fixture
async def reconciler(settings: Settings) -> AsyncIterator[Reconciler]:
    """One that is run by hand."""
    async with connected(settings) as (ledger, rails):
        yield Reconciler(ledger, rails, Sealer(read_key(settings.key_file), "payments"), probe_s=1)


@pytest.fixture
async def reorgs(settings: Settings) -> AsyncIterator[ReorgMonitor]:
    """One that is run by hand."""
    async with connected(settings) as (ledger, rails):
        yield ReorgMonitor(ledger, rails)


async def left_unknown(shop: httpx.AsyncClient, facilitator: Any, header: dict[str, str], mode: str) -> None:
    """A payment whose caller heard 503 and left."""
    facilitator.script, facilitator.evidence = [mode], "unknown"
    assert (await shop.post(PATH, headers=header)).status_code == 503


def due(ledger: redis.Redis) -> None:
    for name in listed(ledger, OPEN):
        ledger.zadd(OPEN[bucket_of(name.decode())], {name: 0})
        ledger.hset(record_key(name.decode()), "lease", 0)


@pytest.fixture(autouse=True)
def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shop's own reconciler does not come in between."""
    monkeypatch.setattr("api.payment.reconcile.EVERY_S", 3600)


async def test_a_settlement_that_nobody_asks_for_is_found(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, reconciler: Reconciler
) -> None:
    """By evidence, and no settle call is made; when the caller comes back the job runs and the receipt is the chain's."""
    header = payer.headers()
    await left_unknown(shop, facilitator, header, "error500+paid")
    facilitator.evidence = None
    due(ledger)
    assert await reconciler.run_once() == 1
    assert events(ledger) == ["SETTLING", "UNKNOWN", "SETTLED"]
    assert [told["kind"] for told in attention(ledger, now_ms=int(time.time() * 1000))] == ["waiting"]
    assert (await shop.post(PATH, headers=header)).status_code == 200
    assert (events(ledger)[-1], len(facilitator.settles)) == ("DONE", 1)
    assert list(attention(ledger, now_ms=int(time.time() * 1000))) == []


async def test_a_payment_that_was_never_made_is_given_up_when_it_expired(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, reconciler: Reconciler
) -> None:
    """By the chain's clock. Before that it is only unknown, and told to the operator."""
    header = payer.headers()
    await left_unknown(shop, facilitator, header, "error500")
    facilitator.evidence = "unused"
    due(ledger)
    assert await reconciler.run_once() == 1
    (told,) = attention(ledger, now_ms=int(time.time() * 1000))
    assert (told["kind"], told["endpoint"], told["payer"], told["settleAttempts"]) == (
        "unknown",
        "echo",
        payer.address,
        1,
    )
    facilitator.clock_s = 600
    due(ledger)
    assert await reconciler.run_once() == 1
    assert events(ledger) == ["SETTLING", "UNKNOWN", "REJECTED"]
    answer = await shop.post(PATH, headers=header)
    assert (answer.status_code, len(facilitator.settles)) == (402, 1)


async def test_a_facilitator_without_evidence_is_asked_with_the_same_payment(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, reconciler: Reconciler
) -> None:
    """A refusal then says nothing, a settlement does; the attempts are counted."""
    header = payer.headers()
    await left_unknown(shop, facilitator, header, "error500+paid")
    facilitator.evidence = "none"
    facilitator.script = ["refuse", "ok"]
    for state in (b"UNKNOWN", b"SETTLED"):
        due(ledger)
        assert await reconciler.run_once() == 1
        (name,) = listed(ledger, OPEN)
        assert ledger.hget(record_key(name.decode()), "state") == state
    assert len(set(facilitator.settles)) == 1
    assert events(ledger) == ["SETTLING", "UNKNOWN", "SETTLING", "UNKNOWN", "SETTLING", "SETTLED"]
    assert (await shop.post(PATH, headers=header)).status_code == 200


async def test_without_evidence_an_expired_payment_stays_unknown(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, reconciler: Reconciler
) -> None:
    """It is not sent any more, and listed."""
    header = payer.headers()
    await left_unknown(shop, facilitator, header, "error500")
    facilitator.evidence = "none"
    (name,) = listed(ledger, OPEN)
    ledger.hset(record_key(name.decode()), "valid_before", int(time.time()) - 1)
    due(ledger)
    assert await reconciler.run_once() == 1
    assert len(facilitator.settles) == 1
    assert [told["kind"] for told in attention(ledger, now_ms=int(time.time() * 1000))] == ["unknown"]


async def test_a_refusal_of_what_was_paid_is_overruled(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, reconciler: Reconciler
) -> None:
    """A facilitator that settles and says no: the chain is looked at once more, and the caller is served."""
    facilitator.script = ["refuse+paid"]
    header = payer.headers()
    assert (await shop.post(PATH, headers=header)).status_code == 402
    due(ledger)
    assert await reconciler.run_once() == 1
    assert (await shop.post(PATH, headers=header)).status_code == 200
    assert (len(facilitator.settles), events(ledger)) == (1, ["SETTLING", "REJECTED", "SETTLED", "DONE"])


async def test_what_was_never_answered_is_refundable(
    shop: httpx.AsyncClient,
    payer: Payer,
    facilitator: Any,
    ledger: redis.Redis,
    reconciler: Reconciler,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """After a day: the caller is told so with the receipt, and the operator by `coinslot-ops payments`."""
    header = payer.headers()
    await left_unknown(shop, facilitator, header, "error500+paid")
    facilitator.evidence = None
    due(ledger)
    await reconciler.run_once()
    (name,) = listed(ledger, OPEN)
    ledger.hincrby(record_key(name.decode()), "settled", -RERUN_MS)
    due(ledger)
    assert await reconciler.run_once() == 0
    answer = await shop.post(PATH, headers=header)
    problem = answer.json()
    assert (answer.status_code, problem["charged"], problem["reason"], problem["retryable"]) == (
        500,
        True,
        "refundable",
        False,
    )
    assert "payment-response" in answer.headers
    monkeypatch.setenv("COINSLOT_LEDGER_URL", settings.ledger_url)
    assert ops.main(["payments", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["payment"], told["amount"], told["transaction"][:2]) == (
        "refundable",
        name.decode(),
        "1000",
        "0x",
    )
    assert ops.main(["payments"]) == 1
    assert payer.address in capsys.readouterr().out
    assert ops.main(["payments", "--id", name.decode()]) == 0
    record, *lines = map(json.loads, capsys.readouterr().out.splitlines())
    assert (record["state"], record["payer"]) == ("FAILED", payer.address)
    assert [line["event"] for line in lines] == events(ledger)
    ledger.flushall()
    assert ops.main(["payments"]) == 0
    assert ops.main(["payments", "--id", name.decode()]) == 1
    assert "no payment with this id" in capsys.readouterr().err
    with monkeypatch.context() as patched:
        patched.setattr("ops.payments.report", lambda *_, **__: signal.raise_signal(signal.SIGINT))
        assert ops.main(["payments"]) == 130
    monkeypatch.setenv("COINSLOT_LEDGER_URL", "redis://127.0.0.1:9/0")
    assert ops.main(["payments"]) == 3
    monkeypatch.setenv("COINSLOT_LEDGER_URL", "nonsense")
    assert ops.main(["payments"]) == 2


async def test_a_job_that_keeps_failing_rests(
    shop: httpx.AsyncClient,
    payer: Payer,
    facilitator: Any,
    ledger: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first run and three more, each for the same payment; then the failure is told with the time of the next run, which
    succeeds. One settlement in all."""
    fails = True
    ran = []

    def run(endpoint: Endpoint, body: bytes, context: Context) -> Outcome:
        ran.append(1)
        return failed(UpstreamFailed("It is down.", reason="timeout")) if fails else execute(endpoint, body, context)

    monkeypatch.setattr("workers.actors.execute", run)
    header = payer.headers()
    answers = [await shop.post(PATH, headers=header) for _ in range(5)]
    assert [(answer.status_code, answer.json()["charged"]) for answer in answers] == [(502, True)] * 5
    assert [answer.headers["retry-after"] for answer in answers[:4]] == ["1"] * 4
    assert 590 <= int(answers[4].headers["retry-after"]) <= 600
    assert (len(ran), len(facilitator.settles)) == (4, 1)
    assert [told["failures"] for told in attention(ledger, now_ms=int(time.time() * 1000))] == [4]
    (name,) = listed(ledger, OPEN)
    ledger.hincrby(record_key(name.decode()), "failing_since", -600_001)
    fails = False
    assert (await shop.post(PATH, headers=header)).status_code == 200
    assert events(ledger) == ["SETTLING", "SETTLED", *["FAILURE"] * 4, "DONE"]


async def test_a_final_no_is_the_answer(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another system's last word: run once, stored, the same bytes for every copy of the request, and nothing for a person."""
    ran = []

    def run(endpoint: Endpoint, body: bytes, context: Context) -> Outcome:
        ran.append(1)
        return failed(UpstreamFailed("The video has no captions.", reason="no_captions", is_final=True))

    monkeypatch.setattr("workers.actors.execute", run)
    header = {"PAYMENT-SIGNATURE": encoded(payer.payment()), "X-Request-Id": "one"}
    answers = [await shop.post(PATH, headers=header) for _ in range(3)]
    problem = answers[0].json()
    assert (answers[0].status_code, problem["reason"], problem["charged"]) == (502, "no_captions", True)
    assert (problem["retryable"], problem["retryWithSamePayment"], problem["retryAfterSeconds"]) == (False, False, None)
    assert "retry-after" not in answers[0].headers
    assert len({answer.content for answer in answers}) == 1
    assert len({answer.headers["payment-response"] for answer in answers}) == 1
    assert (len(ran), len(facilitator.settles)) == (1, 1)
    assert events(ledger) == ["SETTLING", "SETTLED", "DONE"]
    assert list(attention(ledger, now_ms=int(time.time() * 1000) + RERUN_MS)) == []


async def test_what_is_known_to_be_charged_stays_charged(
    settings: Settings,
    shop: httpx.AsyncClient,
    payer: Payer,
    facilitator: Any,
    ledger: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The answer of a settled payment says charged with the receipt, also while its call cannot be run, or is being run."""
    monkeypatch.setattr("workers.actors.execute", lambda *_: failed(UpstreamFailed("It is down.", reason="timeout")))
    header = payer.headers()
    first = await shop.post(PATH, headers=header)
    assert (first.status_code, first.json()["charged"]) == (502, True)
    (name,) = listed(ledger, OPEN)

    def stays(answer: httpx.Response, code: str) -> None:
        problem = answer.json()
        assert (problem["code"], problem["charged"], problem["retryWithSamePayment"]) == (code, True, True)
        assert answer.headers["payment-response"] == first.headers["payment-response"]

    async def no_slot(*_: object) -> PoolRefusal:
        return PoolRefusal(Cause.POOL_FULL)

    with monkeypatch.context() as full:
        full.setattr("api.dispatch.Dispatcher.take", no_slot)
        stays(await shop.post(PATH, headers=header), "pool_full")
    ledger.hset(record_key(name.decode()), "lease", int(time.time() * 1000) + 60_000)
    with monkeypatch.context() as impatient:
        impatient.setattr("api.pipeline.DUPLICATE_WAIT_S", 0.0)
        stays(await shop.post(PATH, headers=header), "in_progress")
    with monkeypatch.context() as cut_off:

        async def lost(*_: object) -> Any:
            raise RedisLost("on purpose")

        cut_off.setattr(Ledger, "find", lost)
        stays(await shop.post(PATH, headers=header), "unavailable")


async def test_a_settlement_that_was_not_recorded_is_recorded_later(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the process that knows of it: until then its answers say charged, and the facilitator is not asked again."""
    header = payer.headers()

    async def lost(*_: object) -> Any:
        raise RedisLost("on purpose")

    with monkeypatch.context() as cut_off:
        cut_off.setattr(Ledger, "settled", lost)
        cut_off.setattr("api.pipeline.DUPLICATE_WAIT_S", 0.0)
        first = await shop.post(PATH, headers=header)
        assert (first.status_code, first.json()["charged"]) == (503, True)
        second = await shop.post(PATH, headers=header)
        assert (second.json()["code"], second.json()["charged"]) == ("in_progress", True)
        with monkeypatch.context() as gone:
            gone.setattr(Ledger, "look_up", lost)
            third = await shop.post(PATH, headers=header)
        assert (third.json()["code"], third.json()["charged"]) == ("unavailable", True)
        for answer in (second, third):
            assert answer.headers["payment-response"] == first.headers["payment-response"]
    for _ in range(200):
        if "SETTLED" in events(ledger):
            break
        await asyncio.sleep(0.05)
    assert (await shop.post(PATH, headers=header)).status_code == 200
    assert (events(ledger), len(facilitator.settles)) == (["SETTLING", "SETTLED", "DONE"], 1)


def settled_long_ago(ledger: redis.Redis) -> None:
    for name in listed(ledger, RECHECK):
        ledger.zadd(RECHECK[bucket_of(name.decode())], {name: 0})
        ledger.hincrby(record_key(name.decode()), "settled", -600_000)


async def test_p25_a_payment_that_the_chain_takes_back_is_told(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, reorgs: ReorgMonitor
) -> None:
    """Ten minutes later, once; what is still there is not asked about again, and a chain that does not say is."""
    kept, gone = (payer.headers() for _ in range(2))
    assert (await shop.post(PATH, headers=kept)).status_code == 200
    assert await reorgs.run_once() == 0
    settled_long_ago(ledger)
    assert (await reorgs.run_once(), len(listed(ledger, RECHECK))) == (1, 0)

    answered = await shop.post(PATH, headers=gone)
    settled_long_ago(ledger)
    facilitator.evidence = "unknown"
    assert (await reorgs.run_once(), len(listed(ledger, RECHECK))) == (1, 1)
    facilitator.evidence, facilitator.clock_s = "unused", -3600  # a node that is an hour behind
    settled_long_ago(ledger)
    assert (await reorgs.run_once(), len(listed(ledger, RECHECK))) == (1, 1)
    facilitator.clock_s = 0
    settled_long_ago(ledger)
    assert (await reorgs.run_once(), len(listed(ledger, RECHECK)), events(ledger)[-1]) == (1, 0, "LOST")
    (told,) = attention(ledger, now_ms=int(time.time() * 1000))
    assert (told["kind"], told["payer"], told["state"]) == ("lost", payer.address, "DONE")
    assert (await shop.post(PATH, headers=gone)).content == answered.content


async def test_p25_a_facilitator_without_evidence_is_not_asked_twice(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, reorgs: ReorgMonitor
) -> None:
    """It cannot tell."""
    assert (await shop.post(PATH, headers=payer.headers())).status_code == 200
    settled_long_ago(ledger)
    facilitator.evidence = "none"
    assert (await reorgs.run_once(), len(listed(ledger, RECHECK)), len(listed(ledger, LOST))) == (1, 0, 0)


async def test_p25_a_rail_that_loses_much_takes_nothing_new_for_an_hour(
    settings: Settings,
    payer: Payer,
    facilitator: Any,
    ledger: redis.Redis,
    reorgs: ReorgMonitor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its price is still told, what is paid is still given; then it is offered again."""
    monkeypatch.setattr("api.payment.reorgs.BUDGET", 2)
    monkeypatch.setattr("api.payment.reorgs.EVERY_S", 0.05)
    async with opened(create_app(settings, SOLD)) as shop:
        paid = [payer.headers() for _ in range(3)]
        for header in paid[:2]:
            assert (await shop.post(PATH, headers=header)).status_code == 200
        facilitator.evidence = "unused"
        settled_long_ago(ledger)
        for _ in range(100):
            refused = await shop.post(PATH, headers=payer.headers())
            if refused.status_code == 503:
                break
            await asyncio.sleep(0.05)
        assert (refused.status_code, refused.json()["charged"]) == (503, False)
        assert (await shop.post(PATH, headers=paid[0])).status_code == 200
        assert (await shop.post(PATH)).status_code == 402
        (of_rail,) = (key for key in ledger.scan_iter(in_every_bucket("lost:*")))
        for name in ledger.zrange(of_rail, 0, -1):
            ledger.zincrby(of_rail, -3_600_001, name)
        for _ in range(100):
            served = await shop.post(PATH, headers=paid[2])
            if served.status_code == 200:
                break
            await asyncio.sleep(0.05)
        assert served.status_code == 200


def test_the_ledger_remembers_longer_than_a_payment_is_valid() -> None:
    """A payment that expired from the ledger could be presented again."""
    from shared.x402.evm import LATEST_EXPIRY_S

    assert transitions.RECORD_TTL_S > 100 * LATEST_EXPIRY_S
