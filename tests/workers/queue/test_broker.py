"""The Streams broker behaves as Dramatiq expects of any broker, with stock actors and a stock Worker."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty
from typing import Any

import dramatiq
import pytest
from dramatiq.broker import MessageProxy
from dramatiq.errors import QueueJoinTimeout, QueueNotFound
from dramatiq.worker import WorkerThread

from shared.layouts import MESSAGES
from shared.queue.replies import LIST_TTL_S
from shared.queue.streams import GROUP, MAX_DELIVERIES, OUTDATED, stream_key, unavailable_key
from tests.time_limits import patience
from workers.queue import consumer as consumers
from workers.queue.broker import StreamBroker
from workers.queue.consumer import StreamConsumer
from workers.queue.work_queue import FastWorkQueue, WorkQueue


@pytest.fixture
def broker(clean_redis: str) -> Iterator[StreamBroker]:
    broker = StreamBroker(clean_redis, middleware=[FastWorkQueue()])
    yield broker
    broker.close()


Workers = Callable[..., dramatiq.Worker]


@pytest.fixture
def start_worker(broker: StreamBroker) -> Iterator[Workers]:
    """Starts stock Dramatiq workers and stops them at the end."""
    workers: list[dramatiq.Worker] = []

    def start(**options: Any) -> dramatiq.Worker:
        worker = dramatiq.Worker(broker, worker_timeout=100, **options)
        worker.start()
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        worker.stop()


def test_messages_are_processed_once_each(broker: StreamBroker, start_worker: Workers) -> None:
    """Enqueued before and after the worker starts, every message runs once and none is left."""
    seen: list[int] = []

    @dramatiq.actor(broker=broker, queue_name="fast")
    def note(number: int) -> None:
        seen.append(number)

    for number in range(50):
        note.send(number)
    start_worker(worker_threads=4)
    for number in range(50, 100):
        note.send(number)
    broker.join("fast", timeout=round(patience(10_000)))
    assert sorted(seen) == list(range(100))
    assert broker.client.xlen(stream_key("fast")) == 0


def test_an_idle_consumer_is_woken_at_once(broker: StreamBroker, start_worker: Workers) -> None:
    """Nothing polls: a message to an idle queue runs long before any timeout could have ended."""
    ran = threading.Event()

    @dramatiq.actor(broker=broker, queue_name="fast")
    def wake() -> None:
        ran.set()

    worker = dramatiq.Worker(broker, worker_timeout=5_000, worker_threads=1)
    worker.start()
    try:
        time.sleep(0.3)
        wake.send()
        assert ran.wait(patience(2))
    finally:
        wake.send()
        worker.stop()


def test_a_batched_queue_acknowledges_in_few_writes_what_ends_together(clean_redis: str) -> None:
    """Sixteen jobs that end at one moment are acknowledged together, and sixteen others are read at once."""
    broker = StreamBroker(clean_redis, middleware=[FastWorkQueue()], batched={"slow"})
    barrier = threading.Barrier(16)

    @dramatiq.actor(broker=broker, queue_name="slow")
    def meet() -> None:
        barrier.wait(10)

    broker.client.config_resetstat()
    for _ in range(64):
        meet.send()
    worker = dramatiq.Worker(broker, worker_timeout=100, worker_threads=16)
    worker.queue_prefetch = 16
    worker.start()
    try:
        broker.join("slow", timeout=round(patience(10_000)))
        assert broker.client.info("commandstats")["cmdstat_xack"]["calls"] <= 16
    finally:
        worker.stop()
        broker.close()


def test_an_undeclared_queue_is_refused(broker: StreamBroker) -> None:
    """Consuming, enqueueing, joining and flushing name a declared queue."""
    message: dramatiq.Message[None] = dramatiq.Message("nowhere", "actor", (), {}, {})
    for call in (
        lambda: broker.consume("nowhere"),
        lambda: broker.enqueue(message),
        lambda: broker.join("nowhere"),
        lambda: broker.flush("nowhere"),
    ):
        with pytest.raises(QueueNotFound):
            call()


def test_delays_are_refused(broker: StreamBroker) -> None:
    """There are no delay queues, and asking for one is an error rather than a lost job."""
    broker.declare_queue("fast")
    with pytest.raises(ValueError, match="delay"):
        broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}), delay=1000)
    assert broker.get_declared_delay_queues() == set()


def test_flush_drops_everything(broker: StreamBroker) -> None:
    """Waiting messages of every declared queue are gone."""
    for queue in ("fast", "net"):
        broker.declare_queue(queue)
        broker.enqueue(dramatiq.Message(queue, "actor", (), {}, {}))
    broker.flush_all()
    broker.join("fast", timeout=100)
    broker.join("net", timeout=100)


def test_join_times_out(broker: StreamBroker) -> None:
    """Waiting for a queue that nobody serves ends with Dramatiq's own exception."""
    broker.declare_queue("fast")
    broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    with pytest.raises(QueueJoinTimeout):
        broker.join("fast", timeout=50)


def consumer(broker: StreamBroker, prefetch: int = 10) -> StreamConsumer:
    broker.declare_queue("fast")
    made = broker.consume("fast", prefetch=prefetch, timeout=50)
    assert isinstance(made, StreamConsumer)
    return made


def take(made: StreamConsumer, tries: int = 20) -> Any:
    return next((message for message in (next(made) for _ in range(tries)) if message is not None), None)


def test_prefetch_bounds_what_a_consumer_holds(broker: StreamBroker) -> None:
    """Unfinished messages count; an acknowledged one makes room."""
    made = consumer(broker, prefetch=1)
    for _ in range(2):
        broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    first = take(made)
    assert take(made, tries=3) is None
    made.ack(first)
    assert take(made).message_id != first.message_id


def test_nack_drops_the_message(broker: StreamBroker) -> None:
    """A failure has been answered already: nothing is kept to be run again."""
    made = consumer(broker)
    broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    made.nack(take(made))
    assert broker.client.xlen(stream_key("fast")) == 0
    assert broker.client.xpending(stream_key("fast"), GROUP)["pending"] == 0


def test_a_living_consumer_keeps_its_messages(broker: StreamBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that runs longer than the lease is not run twice, because its consumer renews it."""
    monkeypatch.setattr(consumers, "LEASE_MS", 400)
    monkeypatch.setattr(consumers, "RENEW_MS", 50)
    living, other = consumer(broker), consumer(broker)
    broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    assert take(living) is not None
    ends = time.monotonic() + 1.0
    while time.monotonic() < ends:
        assert next(living) is None
        assert next(other) is None


def test_what_is_not_a_message_is_dropped(broker: StreamBroker) -> None:
    """Something else in the stream does not stop the queue for ever."""
    made = consumer(broker)
    assert next(made) is None
    broker.client.xadd(stream_key("fast"), {"m": b"\xff"})
    broker.client.xadd(stream_key("fast"), {"other": b"1"})
    sent = broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    assert take(made).message_id == sent.message_id


@pytest.mark.parametrize("foreign", [("actor", {"layout": MESSAGES.written + 1}), ("of the next release", {})])
def test_what_only_another_version_can_run_is_left_to_it(
    broker: StreamBroker, foreign: tuple[str, dict[str, Any]]
) -> None:
    """A worker runs what it fetched beside it, then fetches nothing and says why; a worker that can gets it at once, as
    often as it was left. After its deadline nobody waits for it."""
    dramatiq.actor(lambda **_: None, broker=broker, queue_name="fast", actor_name="actor")
    name, options = foreign
    in_time, late = ({"deadline_ms": int(time.time() * 1000) + ahead_ms} for ahead_ms in (60_000, -1_000))
    for kwargs in (in_time, late):
        broker.enqueue(dramatiq.Message("fast", name, (), kwargs, options))
    ours = broker.enqueue(dramatiq.Message("fast", "actor", (), in_time, {}))
    older = consumer(broker)

    for _ in range(MAX_DELIVERIES + 1):
        older._outdated._until = 0.0
        if (message := take(older, tries=4)) is not None:
            assert message.message_id == ours.message_id
            older.ack(message)

    assert broker.client.xlen(stream_key("fast")) == 1
    assert broker.client.get(unavailable_key("fast", older._name)) == OUTDATED.encode()
    dramatiq.actor(lambda **_: None, broker=broker, queue_name="fast", actor_name="of the next release")
    newer = consumer(broker)
    newer._outdated.why = lambda message: ""  # type: ignore[method-assign]
    assert take(newer).message.actor_name == name


def test_a_failing_actor_is_not_retried(broker: StreamBroker, start_worker: Workers) -> None:
    """One execution: the API decides about a second run."""
    runs: list[int] = []

    @dramatiq.actor(broker=broker, queue_name="fast")
    def fail() -> None:
        runs.append(1)
        raise RuntimeError("on purpose")

    start_worker(worker_threads=1)
    fail.send()
    broker.join("fast", timeout=round(patience(5_000)))
    time.sleep(0.2)
    assert runs == [1]


def test_joining_a_worker_waits_for_what_it_fetched(broker: StreamBroker, start_worker: Workers) -> None:
    """Dramatiq's own way to wait in tests, through our hand-over."""
    done: list[int] = []

    @dramatiq.actor(broker=broker, queue_name="fast")
    def slow(number: int) -> None:
        time.sleep(0.1)
        done.append(number)

    worker = start_worker(worker_threads=2)
    assert isinstance(worker.work_queue, WorkQueue)
    for number in range(4):
        slow.send(number)
    while not worker.work_queue.unfinished_tasks:
        time.sleep(0.005)
    broker.join("fast", timeout=round(patience(5_000)))
    worker.join()
    assert sorted(done) == [0, 1, 2, 3]


def test_a_thread_that_waits_for_ever_does_not_hold_up_the_stop(broker: StreamBroker) -> None:
    """As Python's own queue makes one wait, now and then, whatever its timeout; nothing of it is left in the queue."""
    dramatiq.actor(broker=broker, queue_name="micro")(print)
    worker = dramatiq.Worker(broker, worker_threads=3, worker_timeout=100)
    worker.start()
    for thread in worker.workers:
        thread.timeout = None  # type: ignore[assignment]
    time.sleep(0.3)

    started = time.monotonic()
    worker.stop(timeout=20_000)

    assert time.monotonic() - started < patience(10)
    assert not any(thread.is_alive() for thread in worker.workers)
    with pytest.raises(Empty):
        worker.work_queue.get_nowait()


def test_only_middleware_that_listens_is_told(broker: StreamBroker) -> None:
    """Every signal that a middleware overrides reaches it, before and after, added early or late."""
    signals: list[str] = []

    class Listening(dramatiq.Middleware):
        def before_enqueue(self, broker: Any, message: Any, delay: Any) -> None:
            signals.append("before_enqueue")

        def after_declare_queue(self, broker: Any, queue_name: str) -> None:
            signals.append(queue_name)

    broker.declare_queue("early")
    broker.add_middleware(Listening())
    broker.declare_queue("late")
    broker.enqueue(dramatiq.Message("late", "actor", (), {}, {}))
    assert signals == ["early", "late", "before_enqueue"]


class Replies:
    """An outbox whose messages all answer the same."""

    def __init__(self, address: str = "replies") -> None:
        self.address = address
        self.writes: list[int] = []

    def take(self, messages: Sequence[dramatiq.Message[Any]]) -> list[tuple[str, bytes]]:
        self.writes.append(len(messages))
        return [(self.address, message.message_id.encode()) for message in messages]


@pytest.fixture
def replies(broker: StreamBroker) -> Replies:
    outbox = Replies()
    broker.outbox = outbox
    return outbox


def pushed(broker: StreamBroker, address: str = "replies") -> list[str]:
    raw: Any = broker.client.lrange(address, 0, -1)
    return [one.decode() for one in raw]


def test_a_message_ends_with_its_reply(broker: StreamBroker, replies: Replies) -> None:
    """One write pushes the reply, sets the list's expiry and removes the message."""
    made = consumer(broker)
    sent = broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    made.ack(take(made))
    assert pushed(broker) == [sent.message_id]
    assert 0 < int(broker.client.ttl("replies")) <= LIST_TTL_S  # type: ignore[arg-type]
    assert broker.client.xlen(stream_key("fast")) == 0


def test_who_writes_writes_for_others_too(broker: StreamBroker, replies: Replies) -> None:
    """Messages that end while a write is under way are ended by the thread that writes, and none is forgotten."""
    made = consumer(broker, prefetch=50)
    ids = [broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {})).message_id for _ in range(50)]
    messages = [take(made) for _ in range(50)]
    threads = [threading.Thread(target=made.ack, args=(message,)) for message in messages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    broker.join("fast", timeout=round(patience(2_000)))
    assert sorted(pushed(broker)) == sorted(ids)
    assert sum(replies.writes) == 50


def test_an_outbox_that_fails_stops_nothing(broker: StreamBroker, caplog: pytest.LogCaptureFixture) -> None:
    """A bug there costs replies, which the callers' deadline answers for, and not the queue."""

    class Broken:
        def take(self, messages: Any) -> Any:
            raise RuntimeError("on purpose")

    broker.outbox = Broken()
    made = consumer(broker)
    broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    made.ack(take(made))
    assert broker.client.xlen(stream_key("fast")) == 0
    assert "no replies" in caplog.text


def test_inline_actors_run_where_the_queue_is_read(
    broker: StreamBroker, replies: Replies, start_worker: Workers
) -> None:
    """In the consumer's thread, many to a write, with Dramatiq's middleware and its exceptions."""
    threads: set[str] = set()
    signals: list[tuple[str, bool]] = []

    class Watching(dramatiq.Middleware):
        def after_process_message(
            self, broker: Any, message: Any, *, result: Any = None, exception: Any = None
        ) -> None:
            signals.append((message.message_id, exception is None))

        def after_ack(self, broker: Any, message: Any) -> None:
            signals.append((message.message_id, True))

    broker.add_middleware(Watching())

    @dramatiq.actor(broker=broker, queue_name="micro", inline=True)
    def note(number: int) -> None:
        threads.add(threading.current_thread().name)
        if number == 3:
            raise RuntimeError("on purpose")

    ids = [note.send(number).message_id for number in range(100)]
    start_worker(worker_threads=2)
    broker.join("micro", timeout=round(patience(5_000)))
    assert len(threads) == 1
    assert pushed(broker) == ids
    assert max(replies.writes) > 1
    wanted = [(message_id, True) for message_id in ids for _ in range(2)]
    wanted[wanted.index((ids[3], True))] = (ids[3], False)
    assert sorted(signals) == sorted(wanted)


def test_a_backlog_is_run_in_larger_batches(broker: StreamBroker, replies: Replies) -> None:
    """As soon as four in a row were full, until one is not."""

    @dramatiq.actor(broker=broker, queue_name="fast", inline=True)
    def nothing() -> None: ...

    made = consumer(broker)
    for waiting in (170, 50):
        for _ in range(waiting):
            nothing.send()
        while broker.client.xlen(stream_key("fast")):
            assert take(made, tries=1) is None
    assert replies.writes == [16, 16, 16, 16, 32, 32, 32, 10, 16, 16, 16, 2]


def test_a_queue_is_inline_or_not(broker: StreamBroker) -> None:
    """A reader cannot know what the next message will be, so all actors of a queue are run alike."""

    @dramatiq.actor(broker=broker, queue_name="micro", inline=True)
    def first() -> None: ...

    with pytest.raises(ValueError, match="all actors of micro"):

        @dramatiq.actor(broker=broker, queue_name="micro")
        def second() -> None: ...


def test_a_message_that_ends_its_workers_is_given_up(
    broker: StreamBroker, replies: Replies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three consumers die with it; the fourth does not run it, and answers."""
    monkeypatch.setattr(consumers, "LEASE_MS", 20)
    broker.declare_queue("fast")
    sent = broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    for _ in range(3):
        assert take(consumer(broker)).message_id == sent.message_id
        time.sleep(0.05)
    assert pushed(broker) == []
    assert take(consumer(broker), tries=2) is None
    assert pushed(broker) == [sent.message_id]
    assert broker.client.xlen(stream_key("fast")) == 0


def test_dead_consumers_are_forgotten(broker: StreamBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their names do not pile up in the group for every worker that was killed."""
    monkeypatch.setattr(consumers, "LEASE_MS", 60_000)  # however slow this machine is, the second one claims nothing
    monkeypatch.setattr(consumers, "FORGET_MS", 100)
    broker.declare_queue("fast")
    broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    assert take(consumer(broker)) is not None  # and dies with it
    assert next(consumer(broker)) is None
    monkeypatch.setattr(consumers, "LEASE_MS", 20)
    time.sleep(0.2)
    living = consumer(broker)
    living.ack(take(living))
    told: Any = broker.client.xinfo_consumers(stream_key("fast"), GROUP)
    # The one whose message was taken over is gone as well: it held nothing any more.
    assert [one["name"] for one in told] == [living._name.encode()]


def test_what_we_use_of_dramatiqs_insides_is_there(broker: StreamBroker) -> None:
    """An upgrade of Dramatiq that moves it fails here, not in production."""
    worker = dramatiq.Worker(broker, queues={"fast"}, worker_threads=3)
    assert worker.consumer_whitelist == {"fast"}
    assert (worker.queue_prefetch, worker.worker_threads) == (6, 3)

    calls: list[str] = []

    class StandIn:
        def post_process_message(self, message: MessageProxy) -> None:
            calls.append("post_process_message")

        def task_done(self) -> None:
            calls.append("task_done")

    @dramatiq.actor(broker=broker, queue_name="fast")
    def note() -> None:
        calls.append("run")

    stand_in: Any = StandIn()
    thread = WorkerThread(broker=broker, consumers={"fast": stand_in}, work_queue=stand_in, worker_timeout=0)
    thread.process_message(MessageProxy(note.message()))
    assert calls == ["run", "post_process_message", "task_done"]
