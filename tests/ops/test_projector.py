"""The mirror shows the queue as it is: RQ's own classes, which rq-dashboard uses, read it."""

import time

import pytest
import redis
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.job import Job
from rq.registry import FailedJobRegistry, FinishedJobRegistry, StartedJobRegistry

from ops import projector as projectors
from ops import queue_reader, rq_keys
from ops.projector import Projector
from shared.pools import Pool
from shared.queue.mirror import FIELD as REPORT_FIELD
from shared.queue.mirror import REPORTS
from shared.queue.streams import FIELD, stream_key
from tests.ops.conftest import a_run, answered, enqueue, failed, fetch, finish, report


def waiting(mirror: redis.Redis, queue: str = "fast") -> list[str]:
    return Queue(queue, connection=mirror).get_job_ids()


def started(mirror: redis.Redis, queue: str = "fast") -> list[str]:
    return StartedJobRegistry(queue, connection=mirror).get_job_ids(cleanup=False)


def job(mirror: redis.Redis, job_id: str) -> Job:
    return Job.fetch(job_id, connection=mirror)


def test_every_pool_is_a_queue(projector: Projector, mirror: redis.Redis) -> None:
    """Also one that nothing was ever in, and that no worker has read."""
    projector.tick()
    assert {queue.name for queue in Queue.all(connection=mirror)} == set(Pool)
    assert projector.is_current()


def test_a_job_is_shown_from_its_queue_to_its_end(
    projector: Projector, queue: redis.Redis, mirror: redis.Redis
) -> None:
    """Queued, started with its worker, finished or failed with its cause; always under its own id."""
    entries = [enqueue(queue, name) for name in ("one", "two", "three")]
    projector.tick()
    assert waiting(mirror) == ["one", "two", "three"]
    assert job(mirror, "one").get_status() == "queued"
    assert job(mirror, "one").description == "dns"
    assert job(mirror, "one").enqueued_at is not None

    fetch(queue, 2)
    report(mirror, running=[a_run("one"), a_run("two")])
    projector.tick()
    assert (waiting(mirror), started(mirror)) == (["three"], ["one", "two"])
    assert job(mirror, "one").get_status() == "started"
    assert job(mirror, "one").started_at is not None
    workers = {worker.name: worker for worker in Worker.all(connection=mirror)}
    assert sorted(workers) == ["fast.host.7", "fast.host.7.2"]
    assert [workers[name].get_current_job_id() for name in sorted(workers)] == ["one", "two"]
    assert workers["fast.host.7"].queue_names() == ["fast"]

    for entry in entries[:2]:
        finish(queue, entry)
    report(mirror, ended=[answered("one"), failed("two")])
    projector.tick()
    assert (waiting(mirror), started(mirror)) == (["three"], [])
    assert FinishedJobRegistry("fast", connection=mirror).get_job_ids(cleanup=False) == ["one"]
    assert FailedJobRegistry("fast", connection=mirror).get_job_ids(cleanup=False) == ["two"]
    assert job(mirror, "one").get_status() == "finished"
    assert job(mirror, "one").latest_result() is None
    result = job(mirror, "two").latest_result()
    assert result is not None
    assert result.exc_string == (
        "cause=timeout\ncode=upstream_failed\nendpoint=dns\nrequest=request-two\npayment=payment-two\njob=two"
        "\nworker=fast.host.7"
    )
    assert job(mirror, "two").get_meta() == {
        "request": "request-two",
        "payment": "payment-two",
        "payer": "0x3056…da2f",
        "cause": "timeout",
        "worker": "fast.host.7",
    }
    (worker,) = Worker.all(connection=mirror)
    assert worker.get_current_job_id() is None
    assert (worker.successful_job_count, worker.failed_job_count) == (1, 2)


def test_no_argument_is_copied(projector: Projector, queue: redis.Redis, mirror: redis.Redis) -> None:
    """The call of the job is its endpoint's name."""
    enqueue(queue, "one")
    projector.tick()
    assert job(mirror, "one").get_call_string() == "dns()"
    everything = [mirror.dump(key) for key in mirror.scan_iter()]
    assert everything
    assert not any(b"secret" in (content or b"") for content in everything)


def test_an_end_that_is_reported_before_the_entry_is_gone_counts(
    projector: Projector, queue: redis.Redis, mirror: redis.Redis
) -> None:
    """The job is not shown as running again, now or at a later tick."""
    entry = enqueue(queue, "one")
    projector.tick()
    fetch(queue, 1)
    report(mirror, ended=[answered("one")])
    projector.tick()
    assert started(mirror) == []
    finish(queue, entry)
    projector.tick()
    assert job(mirror, "one").get_status() == "finished"


def test_a_job_that_ran_twice_is_where_its_last_end_put_it(projector: Projector, mirror: redis.Redis) -> None:
    """Its worker had died before it could answer."""
    report(mirror, ended=[failed("one")])
    projector.tick()
    report(mirror, ended=[answered("one")])
    projector.tick()
    assert FailedJobRegistry("fast", connection=mirror).get_job_ids(cleanup=False) == []
    assert job(mirror, "one").latest_result() is None


def test_depth_is_true_beyond_what_is_listed(
    monkeypatch: pytest.MonkeyPatch, queue: redis.Redis, mirror: redis.Redis
) -> None:
    """Entries are read a few at a time, and are all counted from the first tick on."""
    monkeypatch.setattr(queue_reader, "MOST_READ", 3)
    monkeypatch.setattr(queue_reader, "MOST_KNOWN", 5)
    projector = Projector(queue, mirror)
    entries = [enqueue(queue, f"job-{number}") for number in range(10)]
    for known in (3, 5, 5):
        projector.tick()
        ids = waiting(mirror)
        assert len(ids) == 10
        assert ids[:known] == [f"job-{number}" for number in range(known)]
        assert set(ids[known:]) == {"not-listed-fast"}
        assert job(mirror, "not-listed-fast").description == "more jobs than are listed"
    fetch(queue, 4)
    for entry in entries[:4]:
        finish(queue, entry)
    for _ in range(3):
        projector.tick()
    assert len(waiting(mirror)) == 6
    assert waiting(mirror)[:5] == [f"job-{number}" for number in range(4, 9)]


def test_a_queue_that_was_lost_is_read_again(projector: Projector, queue: redis.Redis, mirror: redis.Redis) -> None:
    """As after a restart of a Redis without persistence, also when its clock is behind."""
    for number in range(3):
        enqueue(queue, f"old-{number}")
    projector.tick()
    queue.flushall()
    projector.tick()
    message = '{"actor_name":"dns","message_id":"new","message_timestamp":1}'
    queue.xadd(stream_key(Pool.FAST), {FIELD: message}, id="1-1")
    projector.tick()
    assert waiting(mirror) == ["new"]


def test_what_is_no_message_and_no_report_is_passed_over(
    projector: Projector, queue: redis.Redis, mirror: redis.Redis
) -> None:
    """What follows is shown."""
    queue.xadd(stream_key(Pool.FAST), {FIELD: b"\xff"})
    queue.xadd(stream_key(Pool.FAST), {"other": "field"})
    enqueue(queue, "one")
    mirror.xadd(REPORTS, {REPORT_FIELD: b"\xff"})
    report(mirror, running=[a_run("one")])
    projector.tick()
    assert waiting(mirror)[0] == "one"
    assert len(Worker.all(connection=mirror)) == 1


def test_a_silent_worker_is_gone(monkeypatch: pytest.MonkeyPatch, projector: Projector, mirror: redis.Redis) -> None:
    """It has not reported for long."""
    report(mirror, running=[a_run("one")])
    projector.tick()
    assert len(Worker.all(connection=mirror)) == 1
    monkeypatch.setattr(projectors, "SILENT_S", -1.0)
    projector.tick()
    assert Worker.all(connection=mirror) == []


def test_a_new_dashboard_goes_on_where_the_old_one_ended(
    projector: Projector, queue: redis.Redis, mirror: redis.Redis
) -> None:
    """Reports are not read twice; what was reported meanwhile is read."""
    report(mirror, ended=[answered("one")])
    projector.tick()
    mirror.delete(rq_keys.job_key("one"))
    report(mirror, ended=[answered("two")])
    Projector(queue, mirror).tick()
    assert not mirror.exists(rq_keys.job_key("one"))
    assert job(mirror, "two").get_status() == "finished"


def test_the_registries_are_bounded(monkeypatch: pytest.MonkeyPatch, projector: Projector, mirror: redis.Redis) -> None:
    """The last ones stay, and nothing of the others."""
    monkeypatch.setattr(rq_keys, "MOST_ENDED", 3)
    report(mirror, ended=[failed(f"job-{number}") for number in range(10)])
    projector.tick()
    assert sorted(FailedJobRegistry("fast", connection=mirror).get_job_ids(cleanup=False)) == [
        "job-7",
        "job-8",
        "job-9",
    ]
    assert sorted(key.decode() for key in mirror.scan_iter("rq:job:*")) == [f"rq:job:job-{n}" for n in (7, 8, 9)]
    assert len(list(mirror.scan_iter("rq:results:*"))) == 3
    assert all(mirror.ttl(key) > 0 for key in mirror.scan_iter("rq:job:*"))


def test_what_could_not_be_written_is_written_later(
    projector: Projector, mirror: redis.Redis, queue: redis.Redis
) -> None:
    """A full mirror fails a tick, and no report is lost for that."""
    report(mirror, ended=[answered("one")])
    mirror.config_set("maxmemory", 1)
    try:
        with pytest.raises(RedisError):
            projector.tick()
    finally:
        mirror.config_set("maxmemory", 0)
    assert not projector.is_current()
    projector.tick()
    assert job(mirror, "one").get_status() == "finished"


def test_entries_are_read_once(projector: Projector, queue: redis.Redis, mirror: redis.Redis) -> None:
    """However long they wait: their bodies are not sent at every tick."""
    for number in range(20):
        enqueue(queue, f"job-{number}")
    projector.tick()
    before = queue.info("stats")["total_net_output_bytes"]
    for _ in range(5):
        projector.tick()
    assert queue.info("stats")["total_net_output_bytes"] - before < 20_000
    assert len(waiting(mirror)) == 20
    assert time.time() - (job(mirror, "job-0").created_at.timestamp()) < 60
