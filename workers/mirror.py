"""Reports to the dashboard what this worker process runs and has ended. It never fails a job and never delays one: the thread
of a job only notes, and one thread sends every half second. What cannot be sent is dropped."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from redis.exceptions import RedisError, ResponseError

from shared.endpoint import Endpoint
from shared.outcome import Failed
from shared.queue.message import Arguments
from shared.queue.mirror import (
    FIELD,
    HEARTBEAT_S,
    KEPT_REPORTS,
    REPORT_S,
    REPORTS,
    REPORTS_TTL_S,
    Report,
    Run,
    encode_report,
    shortened,
    shortened_payment,
)
from shared.servers.redis_connection import RedisConnection
from workers.answers import Result

if TYPE_CHECKING:
    from dramatiq import Message

log = logging.getLogger(__name__)

MOST_ANSWERED = 20
"""Answered jobs in one report, the last ones. A worker of quick jobs answers thousands."""
MOST_FAILED = 100
"""Failed jobs in one report, the last ones."""
MOST_RUNNING = 200
"""Running jobs in one report."""
_MOST_NOTED = 10_000
"""Notes of running jobs. There are never that many: only the notes of jobs whose end was lost would be."""
_CLOSE_WITHIN_S = 1.0


class Mirror:
    """Where a worker notes what happens to its jobs. This one forgets it: there is no dashboard."""

    def start(self, queues: Collection[str]) -> None:
        """Begin to report, for a worker of these queues."""

    def started(self, job_id: str, endpoint: Endpoint, arguments: Arguments) -> None:
        """A job begins to run, in the calling thread."""

    def ended(self, messages: Sequence[Message[object]], results: Sequence[Result | None]) -> None:
        """Jobs have ended with these results; None: nobody can tell whose it was."""

    def close(self) -> None:
        """Report once more, and stop."""


NO_MIRROR = Mirror()


class RedisMirror(Mirror):
    """Reports to a Redis stream (shared/queue/mirror.py).

    Args:
        url: the mirror.
    """

    def __init__(self, url: str) -> None:
        self._connection = RedisConnection(url)
        self._running: dict[str, Run] = {}
        self._answered: deque[Run] = deque(maxlen=MOST_ANSWERED)
        self._failed: deque[Run] = deque(maxlen=MOST_FAILED)
        self._answers = 0
        self._failures = 0
        self._head = ("", [""], 0, "", 0.0)
        self._sent_at = 0.0
        self._sent_running: list[str] = []
        self._is_reached = True
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._keep_reporting, name="mirror", daemon=True)

    def start(self, queues: Collection[str]) -> None:
        """Begin to report, for a worker of these queues."""
        host, pid = socket.gethostname(), os.getpid()
        self._head = (f"{'+'.join(queues)}.{host}.{pid}", list(queues), pid, host, time.time())
        self._thread.start()

    def started(self, job_id: str, endpoint: Endpoint, arguments: Arguments) -> None:
        """A job begins to run, in the calling thread."""
        self._running[job_id] = Run(
            job_id,
            endpoint.name,
            str(endpoint.pool),
            arguments.request_id,
            arguments.payment_id,
            arguments.payment.payer,
            time.time(),
        )

    def ended(self, messages: Sequence[Message[object]], results: Sequence[Result | None]) -> None:
        """Jobs have ended with these results; None: nobody can tell whose it was."""
        now = time.time()
        for message, result in zip(messages, results, strict=True):
            run = self._running.pop(message.message_id, None)
            if run is None:  # given up, after it ended the workers that ran it
                run = Run(message.message_id, message.actor_name, message.queue_name)
                run.payment_id = "" if result is None else result.payment_id
            run.ended = now
            outcome = None if result is None else result.outcome
            if outcome is None or isinstance(outcome, Failed):
                run.code = "worker_key" if outcome is None else outcome.code
                run.cause = run.code if outcome is None else outcome.reason or outcome.code
                self._failures += 1
                self._failed.append(run)
            else:
                self._answers += 1
                self._answered.append(run)

    def close(self) -> None:
        """Report once more, and stop. Waits for a second at most."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_WITHIN_S)

    def _keep_reporting(self) -> None:
        while not self._closing.wait(REPORT_S):
            self._report()
        self._report()
        self._connection.close()

    def _report(self) -> None:
        running = list(self._running.values())
        if len(running) > _MOST_NOTED:
            self._running.clear()
        running = running[:MOST_RUNNING]
        names = [run.job_id for run in running]
        ended = [*_taken(self._failed), *_taken(self._answered)]
        if not ended and names == self._sent_running and time.monotonic() - self._sent_at < HEARTBEAT_S:
            return
        worker, queues, pid, host, born = self._head
        report = Report(
            worker=worker,
            queues=queues,
            pid=pid,
            host=host,
            born=born,
            running=[_shown(run) for run in running],
            ended=[_shown(run) for run in ended],
            counted=(self._answers, self._failures),
        )
        self._send(encode_report(report))
        self._sent_at, self._sent_running = time.monotonic(), names

    def _send(self, report: bytes) -> None:
        add = ("XADD", REPORTS, "MAXLEN", "~", KEPT_REPORTS, "*", FIELD, report)
        try:
            added, _ = self._connection.send((add, ("EXPIRE", REPORTS, REPORTS_TTL_S)))
            if isinstance(added, ResponseError):
                raise added
        except (RedisError, OSError) as error:
            self._connection.close()
            if self._is_reached:
                log.warning("no jobs are reported to the dashboard: its Redis fails with %s", type(error).__name__)
            self._is_reached = False
        else:
            if not self._is_reached:
                log.warning("jobs are reported to the dashboard again")
            self._is_reached = True


def _taken(runs: deque[Run]) -> list[Run]:
    """What is in it now; other threads append meanwhile."""
    taken = []
    while runs:
        try:
            taken.append(runs.popleft())
        except IndexError:  # a full one has dropped the last
            break
    return taken


def _shown(run: Run) -> Run:
    run.payer, run.payment_id = shortened(run.payer), shortened_payment(run.payment_id)
    return run
