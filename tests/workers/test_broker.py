"""The Streams broker behaves as Dramatiq expects of any broker, with stock actors and a stock Worker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import dramatiq
import pytest
from dramatiq.errors import QueueJoinTimeout, QueueNotFound

from shared import consumer as consumers
from shared.broker import StreamBroker
from shared.consumer import StreamConsumer
from shared.streams import GROUP, stream_key


@pytest.fixture
def broker(clean_redis: str) -> Iterator[StreamBroker]:
    broker = StreamBroker(clean_redis, middleware=[])
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
    broker.join("fast", timeout=10_000)
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
        assert ran.wait(2)
    finally:
        wake.send()
        worker.stop()


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


def test_requeued_messages_go_to_another_consumer_at_once(broker: StreamBroker) -> None:
    """A worker that stops gives back what it had not started."""
    first, second = consumer(broker), consumer(broker)
    sent = broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    first.requeue([take(first)])
    assert take(second).message_id == sent.message_id


def test_closing_gives_back_what_was_fetched(broker: StreamBroker) -> None:
    """Messages in a consumer's buffer are not stranded until the lease runs out."""
    first = consumer(broker)
    ids = {broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {})).message_id for _ in range(3)}
    running = take(first)
    first.close()
    second = consumer(broker)
    assert {take(second).message_id, take(second).message_id} == ids - {running.message_id}


def test_a_dead_consumers_messages_are_taken_over(broker: StreamBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody renews for the length of the lease is claimed by another consumer."""
    monkeypatch.setattr(consumers, "LEASE_MS", 50)
    dead = consumer(broker)
    sent = broker.enqueue(dramatiq.Message("fast", "actor", (), {}, {}))
    assert take(dead).message_id == sent.message_id
    time.sleep(0.1)
    assert take(consumer(broker)).message_id == sent.message_id


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


def test_a_failing_actor_is_not_retried(broker: StreamBroker, start_worker: Workers) -> None:
    """One execution: the API decides about a second run."""
    runs: list[int] = []

    @dramatiq.actor(broker=broker, queue_name="fast")
    def fail() -> None:
        runs.append(1)
        raise RuntimeError("on purpose")

    start_worker(worker_threads=1)
    fail.send()
    broker.join("fast", timeout=5_000)
    time.sleep(0.2)
    assert runs == [1]


def test_the_private_attributes_that_we_use_exist() -> None:
    """An upgrade of Dramatiq that moves them fails here, not in production."""
    message: dramatiq.Message[None] = dramatiq.Message("q", "a", (), {}, {})
    assert dramatiq.broker.MessageProxy(message)._message is message
    assert dramatiq.Worker(StreamBroker("redis://127.0.0.1:1", middleware=[]), queues={"fast"}).consumer_whitelist == {
        "fast"
    }
