"""A job ends as one stored answer and one reply, and nothing of what the caller sent is left lying about."""

from __future__ import annotations

import base64
import dataclasses
import logging
import secrets
import time
from collections.abc import Iterator, Sequence
from typing import Any

import dramatiq
import msgspec
import pytest
import redis

from jobs.catalogue import CATALOGUE
from jobs.echo import ENDPOINT, Response
from jobs.ports import NO_PORTS
from shared import outcome
from shared.endpoint import Endpoint, Pool
from shared.ledger.keys import answer_key, record_key
from shared.outcome import DeadlineExceeded, Failed, InvalidInput, JobFailure, Ok, Outcome, UpstreamFailed
from shared.queue.message import Arguments, new_job
from shared.queue.queue_clock import QueueClock
from shared.queue.replies import UNREADABLE, Cost, Reply
from shared.sealing.answers import ANSWER_TTL_S, AnswerSealer
from shared.sealing.sealing import Sealer
from shared.servers.ledger_connections import LedgerConnections
from shared.servers.redis_connection import connect
from shared.settled_payment import SettledPayment
from tests.time_limits import patience
from workers.actors import JobRunner, WorkerServices, declare_actors
from workers.answers import AnswerStore, Result
from workers.child import Work
from workers.children import ChildPool, Exhausted, Forbidden, Lost
from workers.queue.broker import StreamBroker
from workers.queue.outbox import Outbox

NOBODY = "redis://127.0.0.1:1/0"
REPLIES = "coinslot:replies:test"
CANARY = "canary-8c41f0b2"
SECRET = msgspec.json.encode({"message": CANARY})
ECHOED = Ok(b'{"ok":true,"service":"coinslot","youSent":"hi"}')
ANSWERS = AnswerSealer(bytes(range(32)))


@pytest.fixture
def client(clean_redis: str) -> Iterator[redis.Redis]:
    client = connect(clean_redis)
    yield client
    client.close()


class Sent(Outbox):
    """Keeps what it gave to be sent."""

    def __init__(self, ledger: LedgerConnections, sealer: Sealer) -> None:
        super().__init__(AnswerStore(ledger, ANSWERS), {ENDPOINT.name: ENDPOINT}, sealer)
        self.sent: list[tuple[str, bytes]] = []
        self.payments: dict[str, str] = {}

    def put(self, job_id: str, result: Result) -> None:
        self.payments[job_id] = result.payment_id
        super().put(job_id, result)

    def _failure(self, message: dramatiq.Message[Any]) -> Result | None:
        result = super()._failure(message)
        if result is not None:
            self.payments[message.message_id] = result.payment_id
        return result

    def take(self, messages: Sequence[dramatiq.Message[Any]]) -> list[tuple[str, bytes]]:
        taken = super().take(messages)
        self.sent += taken
        return taken


@pytest.fixture
def services(clean_redis: str) -> Iterator[WorkerServices]:
    """No children."""
    ledger = LedgerConnections([clean_redis])
    yield services_with(ledger)
    ledger.close()


def services_with(ledger: LedgerConnections) -> WorkerServices:
    sealer = Sealer(secrets.token_bytes(32))
    return WorkerServices(Sent(ledger, sealer), sealer, ChildPool(), NO_PORTS)


@pytest.fixture
def payment(client: redis.Redis) -> str:
    """A settled payment, as the API records one."""
    payment_id = f"eip155:8453:0xasset:0xpayer:0x{secrets.token_hex(32)}"
    client.hset(record_key(payment_id), mapping={"state": "SETTLED", "lease": "1"})
    return payment_id


class Watched:
    """A handler that counts."""

    def __init__(self, result: Any = None) -> None:
        self.runs = 0
        self._result = result

    def __call__(self, request: Any, context: Any) -> Any:
        self.runs += 1
        if isinstance(self._result, BaseException):
            raise self._result
        return Response(ok=True, service=f"run {self.runs}", you_sent=None)


def running(handler: Any) -> Endpoint:
    """echo with another handler."""
    return dataclasses.replace(ENDPOINT, run=handler)


def message(
    endpoint: Endpoint, payment_id: str, sealer: Sealer, *, body: bytes = b'{"message": "hi"}', left_s: float = 5
) -> dramatiq.Message[Any]:
    """As the API makes one."""
    job = new_job(
        endpoint,
        Arguments(payment_id, SettledPayment(payer="0xpayer"), body),
        reply_to=REPLIES,
        deadline_ms=int((time.time() + left_s) * 1000),
        sealer=sealer,
    )
    return dramatiq.Message.decode(job.encoded)


def run(endpoint: Endpoint, services: WorkerServices, payment_id: str, **options: Any) -> str:
    """The job's id."""
    made = message(endpoint, payment_id, services.sealer, **options)
    end(endpoint, services, made)
    return made.message_id


def end(endpoint: Endpoint, services: WorkerServices, made: dramatiq.Message[Any]) -> None:
    """Run it, and end it as a consumer does."""
    JobRunner(endpoint, services, QueueClock())(**made.kwargs)
    services.outbox.take([made])


def sent(services: WorkerServices) -> list[Reply]:
    """What the waiting API process would read."""
    assert isinstance(services.outbox, Sent)
    assert {address for address, _ in services.outbox.sent} <= {REPLIES}
    return [msgspec.msgpack.decode(raw, type=Reply) for _, raw in services.outbox.sent]


def replies(services: WorkerServices) -> list[tuple[str, Outcome]]:
    """The outcomes, opened."""
    assert isinstance(services.outbox, Sent)
    payments = services.outbox.payments
    readable = [reply for reply in sent(services) if reply.outcome != UNREADABLE]
    return [(one.message_id, ANSWERS.open(one.outcome, ENDPOINT, payments[one.message_id], b"")) for one in readable]


def failed(services: WorkerServices) -> tuple[str, str, bool]:
    """The one reply, which is a failure: its job, its code, and whether the job may run again."""
    ((job_id, answer),) = replies(services)
    assert isinstance(answer, Failed)
    return job_id, answer.code, answer.retryable


def costs(services: WorkerServices) -> list[Cost]:
    """What the waiting API process reads that the jobs took."""
    return [Cost(one.taken_s, one.waited_s, one.is_whole) for one in sent(services)]


def unreadable(services: WorkerServices) -> list[str]:
    """The jobs of which the waiting API process reads that they could not be opened."""
    return [reply.message_id for reply in sent(services) if reply.outcome == UNREADABLE]


def stored(client: redis.Redis, payment_id: str) -> Outcome | None:
    """The answer in the ledger."""
    raw: Any = client.get(answer_key(payment_id))
    return None if raw is None else ANSWERS.open(raw, ENDPOINT, payment_id, b"")


def test_an_answer_is_stored_and_replied(client: redis.Redis, services: WorkerServices, payment: str) -> None:
    """The ledger and the waiting API get the same outcome, the payment is done, and the answer can be fetched for a day."""
    job_id = run(ENDPOINT, services, payment)

    assert replies(services) == [(job_id, ECHOED)]
    assert stored(client, payment) == ECHOED
    assert client.hgetall(record_key(payment)) == {b"state": b"DONE", b"lease": b"0"}
    assert ANSWER_TTL_S - 5 <= int(client.ttl(answer_key(payment))) <= ANSWER_TTL_S  # type: ignore[arg-type]


def test_the_first_answer_wins(client: redis.Redis, services: WorkerServices, payment: str) -> None:
    """Given a job that is delivered twice, then both replies hold the first result, byte for byte."""
    endpoint = running(handler := Watched())

    run(endpoint, services, payment)
    run(endpoint, services, payment)

    first, second = (answer for _, answer in replies(services))
    assert handler.runs == 2
    assert first == second == stored(client, payment)
    assert isinstance(first, Ok)
    assert b"run 1" in first.body


def test_a_payment_without_a_record_gets_no_answer_key(client: redis.Redis, services: WorkerServices) -> None:
    """A worker never writes more about a payment than its answer: no record, nothing stored, but a reply all the same."""
    job_id = run(ENDPOINT, services, "nobody's")

    assert replies(services) == [(job_id, ECHOED)]
    assert client.keys("*nobody*") == []


@pytest.mark.parametrize(
    ("failure", "is_final"),
    [
        (InvalidInput("No such day."), True),
        (JobFailure("Never mind."), True),
        (UpstreamFailed("It failed.", reason="rate_limited"), False),
        (DeadlineExceeded("Too slow."), False),
        (RuntimeError("unexpected"), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_what_is_final_is_stored(
    client: redis.Redis, services: WorkerServices, payment: str, failure: Exception, is_final: bool
) -> None:
    """A failure that may be repeated frees the payment instead, so that the same request runs the job again."""
    job_id = run(running(Watched(failure)), services, payment)

    ((replied_to, answer),) = replies(services)
    assert isinstance(answer, Failed)
    assert (replied_to, answer.retryable) == (job_id, not is_final)
    assert stored(client, payment) == (answer if is_final else None)
    record = client.hgetall(record_key(payment))
    state, failures = (b"DONE", None) if is_final else (b"SETTLED", b"1")
    assert (record[b"state"], record[b"lease"], record.get(b"failures")) == (state, b"0", failures)
    assert (b"failure" in record) is not is_final


def test_a_late_message_is_not_run(client: redis.Redis, services: WorkerServices, payment: str) -> None:
    """Nobody waits for it any more; it is answered, and the payment is free for another try."""
    endpoint = running(handler := Watched())

    job_id = run(endpoint, services, payment, left_s=-0.001)

    assert (handler.runs, *failed(services)) == (0, job_id, "deadline_exceeded", True)
    assert stored(client, payment) is None


def damaged(sealed: str) -> str:
    raw = bytearray(base64.b64decode(sealed))
    raw[20] ^= 1
    return base64.b64encode(raw).decode()


def under_another_key(sealed: str) -> str:
    return str(message(ENDPOINT, "other", Sealer(bytes(32))).kwargs["sealed"])


@pytest.mark.parametrize("changed", [under_another_key, damaged, lambda sealed: "%", lambda sealed: ""])
def test_what_cannot_be_opened_is_not_run(
    client: redis.Redis, services: WorkerServices, payment: str, changed: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Another key, another job or damage: the API hears of it at once, and nothing is run or stored."""
    endpoint = running(handler := Watched())
    made = message(endpoint, payment, services.sealer, body=SECRET)

    end(endpoint, services, dataclasses.replace(made, kwargs={**made.kwargs, "sealed": changed(made.kwargs["sealed"])}))

    assert (handler.runs, unreadable(services)) == (0, [made.message_id])
    assert stored(client, payment) is None
    assert CANARY not in caplog.text


def of_another_endpoint(services: WorkerServices, payment: str) -> tuple[Endpoint, dict[str, Any]]:
    made = message(ENDPOINT, payment, services.sealer)
    return dataclasses.replace(ENDPOINT, name="dear"), made.asdict()


def of_another_job(services: WorkerServices, payment: str) -> tuple[Endpoint, dict[str, Any]]:
    made = message(ENDPOINT, payment, services.sealer)
    return ENDPOINT, {**made.asdict(), "kwargs": {**made.kwargs, "job_id": "0" * 32}}


@pytest.mark.parametrize("mistaken", [of_another_endpoint, of_another_job])
def test_what_is_for_another_is_not_run(
    client: redis.Redis, services: WorkerServices, payment: str, mistaken: Any
) -> None:
    """Arguments are bound to their job and to the endpoint they were paid for: the cheap call's do not run the dear one."""
    endpoint, content = mistaken(services, payment)

    end(dataclasses.replace(endpoint, run=(handler := Watched())), services, dramatiq.Message(**content))

    assert handler.runs == 0
    assert [answer.code for _, answer in replies(services) if isinstance(answer, Failed)] == ["internal_error"]
    assert stored(client, payment) is None


def test_a_ledger_that_is_down(client: redis.Redis, services: WorkerServices, payment: str) -> None:
    """An answer that is not stored is not given: a repeated request could get another one."""
    services = services_with(LedgerConnections([NOBODY]))

    job_id = run(ENDPOINT, services, payment)

    assert failed(services) == (job_id, "unavailable", True)
    assert stored(client, payment) is None


class FakeChildren:
    """Children that do as they are told."""

    def __init__(self, result: bytes | Exception) -> None:
        self.calls: list[tuple[Work, float, float]] = []
        self._result = result

    def call(self, work: Work, *, limit_s: float, wait_s: float) -> bytes:
        self.calls.append((work, limit_s, wait_s))
        if isinstance(self._result, Exception):
            raise self._result
        return self._result

    def taken(self) -> Cost:
        return Cost(0.5, 0.25)


def isolated(services: WorkerServices, result: bytes | Exception) -> tuple[Endpoint, WorkerServices, FakeChildren]:
    """echo as hostile work, whose negative answer says so."""
    fake: Any = FakeChildren(result)

    def exhausted(request: Any) -> Any:
        return Response(ok=False, service="exhausted", you_sent=request.message)

    elsewhere = Watched(AssertionError("not in this process"))
    endpoint = dataclasses.replace(ENDPOINT, pool=Pool.FAST, exhausted=exhausted, run=elsewhere)
    return endpoint, dataclasses.replace(services, children=fake), fake


@pytest.mark.parametrize("left_s", [5.0, 0.5])
def test_hostile_work_runs_in_a_child(
    client: redis.Redis, services: WorkerServices, payment: str, left_s: float
) -> None:
    """With the endpoint's limit of CPU time, whatever the time of day, and what is left until the deadline to wait for one."""
    endpoint, services, fake = isolated(services, outcome.encode(ECHOED))

    run(endpoint, services, payment, left_s=left_s)

    ((work, limit_s, wait_s),) = fake.calls
    assert work == Work("echo", "0xpayer", b'{"message": "hi"}', SettledPayment(payer="0xpayer"))
    assert limit_s == endpoint.child_limit_s
    assert 0 < wait_s <= left_s
    assert stored(client, payment) == ECHOED
    assert costs(services) == [Cost(0.5, 0.25)]


def test_exhausted_work_has_an_answer(client: redis.Redis, services: WorkerServices, payment: str) -> None:
    """A request that takes too much is answered with the endpoint's negative answer, for good."""
    endpoint, services, _ = isolated(services, Exhausted("too much"))

    run(endpoint, services, payment)

    answer = Ok(b'{"ok":false,"service":"exhausted","youSent":"hi"}')
    assert [one for _, one in replies(services)] == [answer]
    assert stored(client, payment) == answer


@pytest.mark.parametrize(("message", "in_child"), [("hi", 0), ("hi" * 9, 1)])
def test_only_what_is_long_runs_in_a_child(
    client: redis.Redis, services: WorkerServices, payment: str, message: str, in_child: int
) -> None:
    """Where an endpoint says which of its requests are."""
    fake: Any = FakeChildren(outcome.encode(ECHOED))
    endpoint = dataclasses.replace(ENDPOINT, pool=Pool.FAST, is_long=lambda request: len(request.message) > 9)

    run(endpoint, dataclasses.replace(services, children=fake), payment, body=msgspec.json.encode({"message": message}))

    assert len(fake.calls) == in_child
    assert isinstance(stored(client, payment), Ok)


def test_long_work_that_is_killed(client: redis.Redis, services: WorkerServices, payment: str) -> None:
    """There is no negative answer to give: its time was too short, and it may be repeated."""
    fake: Any = FakeChildren(Exhausted("too late"))
    endpoint = dataclasses.replace(ENDPOINT, pool=Pool.FAST, is_long=lambda request: True)
    services = dataclasses.replace(services, children=fake)

    job_id = run(endpoint, services, payment)

    assert failed(services) == (job_id, "deadline_exceeded", True)
    assert stored(client, payment) is None


@pytest.mark.parametrize(
    ("result", "code", "retryable"),
    [
        (TimeoutError("no free child"), "deadline_exceeded", True),
        (Lost("the child ended"), "internal_error", True),
        (OSError(CANARY), "internal_error", True),
        (b"\xff", "internal_error", True),
        (b"", "internal_error", True),
        (msgspec.msgpack.encode(["ok"]), "internal_error", True),
        (Forbidden("killed"), "internal_error", False),
    ],
    ids=["no free child", "lost", "no process", "garbage", "empty", "half an outcome", "a forbidden system call"],
)
def test_a_child_that_fails(
    client: redis.Redis,
    services: WorkerServices,
    payment: str,
    result: bytes | Exception,
    code: str,
    retryable: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not the caller's fault: a failure at once, which may be repeated, and nothing is stored. What a system call ended is not
    run again."""
    endpoint, services, _ = isolated(services, result)

    job_id = run(endpoint, services, payment)

    assert failed(services) == (job_id, code, retryable)
    assert costs(services) == [Cost(0.5, 0.25, is_whole=code != "deadline_exceeded")]
    assert (stored(client, payment) is None) is retryable
    assert CANARY not in caplog.text


@pytest.mark.parametrize("error", [MemoryError(CANARY), RecursionError(CANARY), ZeroDivisionError(CANARY)], ids=repr)
def test_whatever_is_raised_there_is_a_reply(
    client: redis.Redis, services: WorkerServices, payment: str, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """By a handler, or by what answers for a handler that was too much: the caller never waits in vain."""

    def fail(request: Any) -> Any:
        raise error

    exhausting, services, _ = isolated(services, Exhausted("too much"))

    run(running(Watched(error)), services, payment)
    run(dataclasses.replace(exhausting, exhausted=fail), services, payment)

    assert [answer.code for _, answer in replies(services) if isinstance(answer, Failed)] == ["internal_error"] * 2
    assert CANARY not in caplog.text


def everything(client: redis.Redis) -> bytes:
    """All that Redis holds: every key with its DUMP, uncompressed."""
    client.config_set("rdbcompression", "no")
    keys: Any = client.keys("*")
    return b"".join(key + bytes(client.dump(key) or b"") for key in keys)  # type: ignore[arg-type]


def disguises(secret: str) -> list[bytes]:
    """A secret as it would look when only encoded."""
    raw = secret.encode()
    return [raw, raw.hex().encode(), *(base64.b64encode(bytes(n) + raw)[4:-4] for n in range(3))]


def discreet(request: Any, context: Any) -> Response:
    return Response(ok=request.message == CANARY, service="coinslot", you_sent=None)


def value_error(request: Any, context: Any) -> Any:
    raise ValueError(request.message)


def key_error(request: Any, context: Any) -> Any:
    return {}[request.message]


def chained(request: Any, context: Any) -> Any:
    try:
        value_error(request, context)
    except ValueError as error:
        raise RuntimeError(request) from error


def upstream(request: Any, context: Any) -> Any:
    try:
        value_error(request, context)
    except ValueError as error:
        raise UpstreamFailed("The other system failed.", reason="unreachable") from error


@pytest.mark.parametrize("handler", [discreet, value_error, key_error, chained, upstream])
def test_nothing_of_the_request_can_be_read(
    client: redis.Redis,
    clean_redis: str,
    services: WorkerServices,
    payment: str,
    handler: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Neither in Redis nor in a log: while the message waits, and after the job ran well or badly."""
    caplog.set_level(logging.DEBUG)
    broker = StreamBroker(clean_redis, middleware=[])
    broker.declare_queue("micro")
    made = broker.enqueue(message(running(handler), payment, services.sealer, body=SECRET))
    waiting = everything(client)

    end(running(handler), services, made)
    done = everything(client)
    broker.close()

    assert made.kwargs["sealed"].encode() in waiting
    for disguise in disguises(CANARY):
        assert disguise not in waiting
        assert disguise not in done
    assert CANARY not in caplog.text
    assert CANARY not in str(made)
    assert CANARY not in repr(replies(services))


def test_what_dramatiq_logs_is_sealed(
    client: redis.Redis, clean_redis: str, services: WorkerServices, payment: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A stock worker at its most talkative: the job is run and answered over the queue, and the log has no body."""
    caplog.set_level(logging.DEBUG)
    broker = StreamBroker(clean_redis, middleware=[], outbox=services.outbox)
    declare_actors(broker, (running(value_error),), services)
    worker = dramatiq.Worker(broker, queues={"micro"}, worker_threads=1, worker_timeout=100)
    worker.start()
    try:
        made = broker.enqueue(message(ENDPOINT, payment, services.sealer, body=SECRET))
        broker.join("micro", timeout=round(patience(10_000)))
    finally:
        worker.stop()
        broker.close()

    assert failed(services) == (made.message_id, "internal_error", True)
    assert "echo" in caplog.text
    assert CANARY not in caplog.text
    assert not any(disguise in everything(client) for disguise in disguises(CANARY))


def test_every_endpoint_has_an_actor(clean_redis: str, services: WorkerServices) -> None:
    """Named like the endpoint, on its pool's queue, and run inline in the micro pool alone."""
    broker = StreamBroker(clean_redis, middleware=[])
    declare_actors(broker, CATALOGUE, services)
    broker.close()

    assert broker.get_declared_actors() == {endpoint.name for endpoint in CATALOGUE}
    assert broker.get_declared_queues() == {endpoint.pool.value for endpoint in CATALOGUE}
    for endpoint in CATALOGUE:
        assert broker.get_actor(endpoint.name).options["inline"] is (endpoint.pool is Pool.MICRO)


def test_a_secret_job_without_the_signature_is_not_run(
    client: redis.Redis, services: WorkerServices, payment: str
) -> None:
    """Its answer could only be stored under a key that we keep."""
    endpoint = dataclasses.replace(ENDPOINT, holds_secret=True, run=(handler := Watched()))
    sent = services.outbox
    assert isinstance(sent, Sent)
    sent._endpoints = {endpoint.name: endpoint}

    end(endpoint, services, made := message(endpoint, payment, services.sealer))

    assert (handler.runs, unreadable(services)) == (0, [made.message_id])
    assert stored(client, payment) is None


def test_a_strangers_message_is_told_of_to_whom_it_names(services: WorkerServices) -> None:
    """Whatever it holds: nothing is raised, and who can be told is told."""
    made = message(ENDPOINT, "nobody's", services.sealer)
    for kwargs in ({}, [], {"reply_to": 5}, {"reply_to": REPLIES, "sealed": 5}, {"reply_to": REPLIES}):
        services.outbox.take([dataclasses.replace(made, kwargs=kwargs)])
    services.outbox.take([dataclasses.replace(made, actor_name="nothing")])

    assert unreadable(services) == [made.message_id] * 3
