"""Writes what the dashboard shows: each second it reads the queue and the workers' reports, and writes RQ's keys."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, cast

import msgspec
import redis
from redis.exceptions import RedisError

from ops import rq_keys
from ops.queue_reader import PoolJobs, QueuedJob, QueueReader
from ops.rq_keys import Pipeline, Registry, plain
from shared.queue.mirror import FIELD, REPORTS, SILENT_S, Report, decode_report

log = logging.getLogger(__name__)

TICK_S = 1.0
CURRENT_S = 10.0
"""A projector that has written nothing for that long shows an old state."""
MOST_REPORTS = 100
"""At each tick; with twenty busy workers there are 40."""
MOST_COUNTED = 20_000
"""Waiting jobs of one queue that are counted."""
_REFRESH_S = rq_keys.LIVE_TTL_S / 3
_REMEMBER_S = 15.0
_CURSOR = "coinslot:mirror:cursor"
_FIELD = FIELD.encode()


class Projector:
    """Keeps the mirror as the queue is.

    Args:
        queue: the queue Redis, which is only read.
        mirror: the Redis of the reports and of RQ's keys.
        on_return: is called when a Redis is back that did not answer. It may have lost what it does not keep on disk. May raise
            RedisError: then it is called again.
    """

    def __init__(self, queue: redis.Redis, mirror: redis.Redis, on_return: Callable[[], object] = lambda: None) -> None:
        self._queue = QueueReader(queue)
        self._mirror = mirror
        self._on_return = on_return
        self._cursor: bytes | None = None
        self._workers: dict[str, tuple[float, Report]] = {}
        self._ended: dict[str, float] = {}
        self._written: dict[str, float] = {}
        self._ticked_at = 0.0
        self._is_reached = True
        self._stopping = threading.Event()

    def start(self) -> None:
        """Tick in a thread until `stop`."""
        threading.Thread(target=self._keep_ticking, name="projector", daemon=True).start()

    def stop(self) -> None:
        """Stop soon."""
        self._stopping.set()

    def is_current(self) -> bool:
        """Whether the mirror shows the present."""
        return time.monotonic() - self._ticked_at < CURRENT_S

    def tick(self) -> None:
        """Read and write once. Raises RedisError; then the same is read again at the next tick."""
        cursor, reports = self._new_reports()
        pools = self._queue.read()
        seconds, micros = self._mirror.time()
        now = seconds + micros / 1e6
        for at, report in reports:
            self._workers[report.worker] = (at, report)
        self._workers = {name: seen for name, seen in self._workers.items() if now - seen[0] < SILENT_S}
        # In one transaction: nobody sees a half of it.
        with self._mirror.pipeline(transaction=True) as write:
            touched = self._write_ended(write, (report for _, report in reports))
            for pool, jobs in pools.items():
                self._write_pool(write, pool, jobs)
            self._write_workers(write)
            write.set(_CURSOR, cursor)
            write.execute()
        self._cursor = cursor
        self._trim(touched, now)
        self._forget()
        self._ticked_at = time.monotonic()

    def _keep_ticking(self) -> None:
        while not self._stopping.wait(TICK_S):
            try:
                if not self._is_reached:
                    self._on_return()
                self.tick()
            except RedisError as error:
                if self._is_reached:
                    log.warning("the dashboard shows an old state: Redis fails with %s", type(error).__name__)
                self._is_reached = False
            else:
                if not self._is_reached:
                    log.warning("the dashboard shows the present again")
                self._is_reached = True

    def _new_reports(self) -> tuple[bytes, list[tuple[float, Report]]]:
        """The id of the last report, and those that were not read before, with the Unix second at which the mirror got each."""
        if self._cursor is None:
            self._cursor = cast(bytes | None, self._mirror.get(_CURSOR)) or b"0-0"
        answer = cast(Any, self._mirror.xread({REPORTS: self._cursor}, count=MOST_REPORTS))
        reports = []
        cursor = self._cursor
        for _, entries in answer:
            for entry, fields in entries:
                cursor = entry
                try:
                    report = decode_report(fields[_FIELD])
                except (msgspec.DecodeError, KeyError):
                    continue  # of another version
                reports.append((int(entry.partition(b"-")[0]) / 1000, report))
        return cursor, reports

    def _write_ended(self, write: Pipeline, reports: Iterable[Report]) -> set[tuple[Registry, str]]:
        """Returns the registries and queues that have more jobs now."""
        touched = set()
        for report in reports:
            for run in report.ended:
                self._ended[run.job_id] = time.monotonic()
                touched.add((rq_keys.write_ended(write, run, report.worker), plain(run.queue)))
        return touched

    def _write_pool(self, write: Pipeline, pool: str, jobs: PoolJobs) -> None:
        key, started = rq_keys.queue_key(pool), rq_keys.started_key(pool)
        write.sadd(rq_keys.QUEUES, key)
        write.delete(key, started)
        ids = [job.id for job in jobs.waiting]
        if jobs.unlisted:
            rest = f"not-listed-{pool}"
            rq_keys.write_seen(write, rest, pool, "queued", "more jobs than are listed", time.time())
            ids += [rest] * min(jobs.unlisted, MOST_COUNTED)
        if ids:
            write.rpush(key, *ids)
        running = [job for job in jobs.running if job.id not in self._ended]
        if running:
            expiry = time.time() + rq_keys.LIVE_TTL_S
            write.zadd(started, {f"{job.id}:{job.entry}": expiry for job in running})
        for status, seen in (("queued", jobs.waiting), ("started", running)):
            for job in seen:
                self._write_seen(write, job, pool, status)

    def _write_seen(self, write: Pipeline, job: QueuedJob, queue: str, status: str) -> None:
        now, mark = time.monotonic(), f"{status} {job.id}"
        if now - self._written.get(mark, -_REFRESH_S) >= _REFRESH_S:
            self._written[mark] = now
            rq_keys.write_seen(write, job.id, queue, status, job.endpoint, job.enqueued)

    def _write_workers(self, write: Pipeline) -> None:
        write.delete(rq_keys.WORKERS)
        for at, report in self._workers.values():
            answers, failures = report.counted
            shared: dict[str, str | int] = {
                "birth": rq_keys.moment(report.born),
                "last_heartbeat": rq_keys.moment(at),
                "pid": report.pid,
                "hostname": plain(report.host),
                "successful_job_count": answers,
                "failed_job_count": failures,
            }
            queues = [plain(queue) for queue in report.queues]
            running = sorted(
                (run for run in report.running if run.job_id not in self._ended), key=attrgetter("started")
            )
            for run in running:
                rq_keys.write_started(write, run, report.worker)
            for number, job in enumerate(running or (None,), start=1):
                name = plain(report.worker) if number == 1 else f"{plain(report.worker)}.{number}"
                rq_keys.write_worker(write, name, queues=queues, more=shared, job=job)

    def _trim(self, touched: Iterable[tuple[Registry, str]], now: float) -> None:
        """Remove what is too old or too much."""
        for registry, queue in touched:
            key = rq_keys.registry_key(registry, queue)
            self._mirror.zremrangebyscore(key, "-inf", now)
            surplus = cast(list[bytes], self._mirror.zrange(key, 0, -rq_keys.MOST_ENDED - 1))
            if surplus:
                ids = [job_id.decode() for job_id in surplus]
                keys = [of(job_id) for job_id in ids for of in (rq_keys.job_key, rq_keys.result_key)]
                with self._mirror.pipeline(transaction=True) as write:
                    write.zrem(key, *surplus)
                    write.delete(*keys)
                    write.execute()

    def _forget(self) -> None:
        since = time.monotonic() - _REMEMBER_S
        self._ended = {job_id: at for job_id, at in self._ended.items() if at > since}
        self._written = {mark: at for mark, at in self._written.items() if at > since}
