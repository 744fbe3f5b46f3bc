"""A worker reports its jobs to the dashboard, and no failure of the mirror reaches a job."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import dramatiq
import pytest
import redis

from compose.sandbox.child import ROOT
from jobs.echo import ENDPOINT
from shared.outcome import Failed, Ok
from shared.queue.message import Arguments
from shared.queue.mirror import FIELD, REPORTS, Report, Run, decode_report
from shared.settled_payment import SettledPayment
from tests.workers.until import until
from workers import mirror as mirrors
from workers.answers import Result
from workers.mirror import MOST_ANSWERED, MOST_FAILED, RedisMirror

PAYER = "0x30565aaca49b61a2f4a50e99c5e5b42b4f90da2f"
PAYMENT = f"eip155:8453:{PAYER}:0x01"
ARGUMENTS = Arguments(PAYMENT, SettledPayment(payer=PAYER), b"a secret body", b"a key", "request-1")
OK = Ok(b"a secret answer")
FAILED = Failed("upstream_failed", "a secret detail", "timeout", retryable=True)

Mirrors = Callable[[str], RedisMirror]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirrors]:
    """Starts reporting often."""
    monkeypatch.setattr(mirrors, "REPORT_S", 0.02)
    monkeypatch.setattr(mirrors, "HEARTBEAT_S", 0.05)
    started: list[RedisMirror] = []

    def start(url: str) -> RedisMirror:
        started.append(RedisMirror(url))
        started[-1].start(["micro"])
        return started[-1]

    yield start
    for mirror in started:
        mirror.close()


def message(job_id: str) -> dramatiq.Message[Any]:
    return dramatiq.Message("micro", "echo", (), {}, {}, job_id)


def result(outcome: Ok | Failed) -> Result:
    return Result(PAYMENT, ENDPOINT, b"a key", outcome)


def run(mirror: RedisMirror, job_id: str, outcome: Ok | Failed = OK) -> None:
    """A job from its start to its end."""
    mirror.started(job_id, ENDPOINT, ARGUMENTS)
    mirror.ended([message(job_id)], [result(outcome)])


def reports(client: redis.Redis) -> list[Report]:
    entries: Any = client.xrange(REPORTS)
    return [decode_report(fields[FIELD.encode()]) for _, fields in entries]


def reported(client: redis.Redis, is_there: Callable[[list[Report]], bool]) -> list[Report]:
    """The reports, once they are as expected."""
    until(lambda: is_there(reports(client)))
    return reports(client)


def ended(found: list[Report]) -> list[Run]:
    return [run for report in found for run in report.ended]


def test_a_job_is_reported_running_and_ended(clean_redis: str, start: Mirrors) -> None:
    """With its ids and its cause, and without body, key, answer, detail or the payer's address."""
    mirror = start(clean_redis)
    with redis.Redis.from_url(clean_redis) as client:
        mirror.started("job-1", ENDPOINT, ARGUMENTS)
        found = reported(client, lambda found: any(report.running for report in found))
        (running,) = next(report.running for report in found if report.running)
        mirror.ended([message("job-1")], [result(FAILED)])
        run(mirror, "job-2")
        found = reported(client, lambda found: len(ended(found)) == 2)
        raw = repr(client.xrange(REPORTS))
    assert (running.job_id, running.request_id, running.payer) == ("job-1", "request-1", "0x3056…da2f")
    failed, answered = sorted(ended(found), key=lambda run: run.job_id)
    assert (failed.cause, failed.code, failed.queue) == ("timeout", "upstream_failed", "micro")
    assert failed.payment_id == "eip155:8453:0x3056…da2f:0x01"
    assert failed.started <= failed.ended
    assert (answered.cause, answered.code) == ("", "")
    assert found[-1].counted == (1, 1)
    assert found[-1].running == []
    assert "secret" not in raw
    assert "a key" not in raw
    assert PAYER[2:] not in raw


def test_a_user_that_may_only_report_is_enough(clean_redis: str, start: Mirrors) -> None:
    """The rules are those in docs/metrics.md."""
    rules = "~coinslot:mirror:reports +xadd +expire +select"
    assert rules in (ROOT / "docs" / "metrics.md").read_text()
    with redis.Redis.from_url(clean_redis) as client:
        client.execute_command("ACL", "SETUSER", "coinslot-worker", "reset", "on", ">pw", *rules.split())  # type: ignore[no-untyped-call]
        run(start(clean_redis.replace("redis://", "redis://coinslot-worker:pw@")), "job-1")
        reported(client, lambda found: len(ended(found)) == 1)


def test_a_job_that_was_given_up_is_a_failure(clean_redis: str, start: Mirrors) -> None:
    """It never started in the worker that gives it up, and perhaps nobody can tell whose it was."""
    mirror = start(clean_redis)
    mirror.ended([message("job-1"), message("job-2")], [result(Failed("internal_error", "")), None])
    with redis.Redis.from_url(clean_redis) as client:
        found = ended(reported(client, lambda found: len(ended(found)) == 2))
    assert [(run.job_id, run.endpoint, run.queue, run.cause, run.started) for run in found] == [
        ("job-1", "echo", "micro", "internal_error", 0.0),
        ("job-2", "echo", "micro", "worker_key", 0.0),
    ]


def test_an_idle_worker_is_heard_of(clean_redis: str, start: Mirrors) -> None:
    """Again and again."""
    start(clean_redis)
    with redis.Redis.from_url(clean_redis) as client:
        found = reported(client, lambda found: len(found) >= 3)
    assert {report.worker.partition(".")[0] for report in found} == {"micro"}


def test_the_last_report_is_sent_at_the_end(clean_redis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a worker that stops before its next one is due."""
    monkeypatch.setattr(mirrors, "REPORT_S", 60.0)
    mirror = RedisMirror(clean_redis)
    mirror.start(["micro"])
    run(mirror, "job-1")
    mirror.close()
    with redis.Redis.from_url(clean_redis) as client:
        assert [run.job_id for run in ended(reports(client))] == ["job-1"]


def test_only_the_last_are_reported() -> None:
    """Memory is bounded, however much happens between two reports, and failures are not pushed out by answers."""
    mirror = RedisMirror("redis://127.0.0.1:1/0")
    for number in range(5_000):
        run(mirror, f"failed-{number}", FAILED)
        run(mirror, f"answered-{number}")
    assert len(mirror._failed) == MOST_FAILED
    assert [run.job_id for run in mirror._answered][-1] == "answered-4999"
    assert len(mirror._answered) == MOST_ANSWERED
    assert mirror._running == {}


def noted_in(mirror: RedisMirror) -> float:
    """Seconds that the thread of a job spends on a thousand jobs."""
    started = time.thread_time()
    for number in range(1_000):
        run(mirror, f"job-{number}")
    return time.thread_time() - started


def test_a_dead_mirror_is_not_noticed(start: Mirrors, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody listens. The log says so, once."""
    mirror = start("redis://127.0.0.1:1/0")
    noted_in(mirror)
    until(lambda: caplog.records)
    time.sleep(0.2)
    assert [record.getMessage() for record in caplog.records] == [
        "no jobs are reported to the dashboard: its Redis fails with ConnectionError"
    ]
    assert mirror._thread.is_alive()


def test_a_mirror_that_does_not_answer_is_not_noticed(start: Mirrors) -> None:
    """It takes the connection and says nothing: the reporting thread waits for it, and no other."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connections: list[socket.socket] = []
        threading.Thread(target=lambda: connections.append(silent.accept()[0]), daemon=True).start()
        mirror = start(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        until(lambda: connections)
        assert noted_in(mirror) < 1.0  # 1 ms a job; it takes 3 us
        started = time.monotonic()
        mirror.close()
        assert time.monotonic() - started < 10
        connections[0].close()
