"""What the processes of one machine count, for Prometheus.

Each process counts into files of its own in COINSLOT_METRICS_DIR, and the exporter (ops/exporter.py) adds them up: only the
exporter needs a port, and what a process has counted outlives it. Without that setting nothing is counted, and
prometheus_client is not imported. Every label has a closed set of values, so no caller can make a new series.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client reads it when it is imported."""

_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0)


class Metrics:
    """The series. Each method is a no-op until `start`."""

    def __init__(self) -> None:
        self._series: _Series | None = None

    def start(self, folder: str) -> None:
        """Count from now on. To be called in the process that counts, after it was forked; an empty folder means not to."""
        if not folder or self._series is not None:
            return
        os.makedirs(folder, exist_ok=True)
        os.environ[FOLDER_VARIABLE] = folder
        self._series = _Series()

    def call(self, endpoint: str, status: int, cause: str, seconds: float) -> None:
        """Count an HTTP request to a paid path.

        Args:
            cause: `answered`, `unpaid`, `payment_refused`, or what the log calls the cause of a failure.
        """
        if self._series is not None:
            self._series.calls.labels(endpoint, str(status), cause).inc()
            if status == 200:
                self._series.call_seconds.labels(endpoint).observe(seconds)

    def payment(self, endpoint: str, rail: str, event: str, *, dollars: float = 0.0) -> None:
        """Count a payment that was `settled` or `refused`, as the ledger's journal has it."""
        if self._series is not None:
            self._series.payments.labels(endpoint, rail, event).inc()
            if dollars:
                self._series.taken.labels(rail).inc(dollars)

    def settle(self, rail: str, result: str, seconds: float) -> None:
        """Count a settle call: `settled`, `declined`, `not_sent` or `unknown`."""
        if self._series is not None:
            self._series.settle_seconds.labels(rail, result).observe(seconds)

    def job(self, pool: str, endpoint: str, result: str, *, waited_s: float, ran_s: float) -> None:
        """Count a job that ended: `answered`, `failed` when it may be run again, or `late` when it was not started in time."""
        if self._series is not None:
            self._series.jobs.labels(pool, endpoint, result).inc()
            self._series.queue_seconds.labels(pool).observe(max(0.0, waited_s))
            self._series.job_seconds.labels(pool).observe(ran_s)

    def egress_refused(self, reason: str) -> None:
        """Count a host or a request that the egress policy has refused."""
        if self._series is not None:
            self._series.egress_refusals.labels(reason).inc()

    def child_killed(self) -> None:
        """Count a child process that was killed at its limit."""
        if self._series is not None:
            self._series.child_kills.inc()

    def browser_started(self) -> None:
        """Count a start of a browser."""
        if self._series is not None:
            self._series.browser_starts.inc()


class _Series:
    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram

        # The exporter reads the files; nothing is collected here.
        registry = CollectorRegistry()

        def counter(name: str, help_text: str, *labels: str) -> Counter:
            return Counter(f"coinslot_{name}", help_text, labels, registry=registry)

        def histogram(name: str, help_text: str, *labels: str) -> Histogram:
            return Histogram(f"coinslot_{name}", help_text, labels, registry=registry, buckets=_SECONDS)

        self.calls = counter("calls", "Requests to paid paths.", "endpoint", "status", "cause")
        self.call_seconds = histogram("call_seconds", "From the request to its 200.", "endpoint")
        self.payments = counter("payments", "Payments settled and refused.", "endpoint", "rail", "event")
        self.taken = counter("taken_dollars", "Money of settled payments.", "rail")
        self.settle_seconds = histogram("settle_seconds", "Settle calls to facilitators.", "rail", "result")
        self.jobs = counter("jobs", "Jobs that ended.", "pool", "endpoint", "result")
        self.queue_seconds = histogram("queue_seconds", "From the queueing of a job to its start.", "pool")
        self.job_seconds = histogram("job_seconds", "From the start of a job to its end.", "pool")
        self.egress_refusals = counter("egress_refusals", "Hosts and requests refused by the egress policy.", "reason")
        self.child_kills = counter("child_kills", "Child processes killed at their limits.")
        self.browser_starts = counter("browser_starts", "Browsers started.")


metrics = Metrics()
