"""What the processes of one machine count, for Prometheus.

Each process counts into two files in COINSLOT_METRICS_DIR, and the exporter (ops/exporter.py) adds them up: only the
exporter needs a port, and what a process has counted outlives it. Without that setting nothing is counted, and
prometheus_client is not imported. Every label has a closed set of values, so no caller can make a new series.
"""

from __future__ import annotations

import fcntl
import functools
import logging
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

    from shared.endpoint import Fault

log = logging.getLogger(__name__)

KINDS = ("counter", "histogram")
"""A process has a file of each: `counter_<pid>-<random>.db`."""
FILE_BYTES = 1024 * 1024
"""Room for every series that one process can have. tests/ops/test_counted.py fills it."""

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0)
_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where prometheus_client looks for its files."""

Arguments = ParamSpec("Arguments")


def _harmless(
    count: Callable[Concatenate[Metrics, Series, Arguments], None],
) -> Callable[Concatenate[Metrics, Arguments], None]:
    """Makes a method do nothing before `start`, and never raise: a paid call must not fail because it is counted."""

    @functools.wraps(count)
    def method(self: Metrics, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        if self.series is None:
            return
        try:
            count(self, self.series, *args, **kwargs)
        except Exception as error:
            if not self.has_failed:
                log.error("metrics are not complete: %s failed with %s", count.__name__, type(error).__name__)
            self.has_failed = True

    return method


class Metrics:
    """Counts what happens in this process. A call takes some microseconds, and no method raises."""

    def __init__(self) -> None:
        self.series: Series | None = None
        self.has_failed = False

    def start(self, folder: str) -> None:
        """Count from now on, in files in this folder; an empty name means not to. Without room for the files it says so in the
        log, and counts nothing. Call it in the process that counts: a child that is forked later must not count."""
        if not folder or self.series is not None:
            return
        try:
            name = _make_files(Path(folder))
        except OSError as error:
            log.error("nothing is counted for metrics: %s cannot be used (%s)", folder, error.strerror)
            return
        os.environ[_FOLDER_VARIABLE] = folder
        self.series = Series(name)

    @_harmless
    def call(
        self, series: Series, endpoint: str, status: int, cause: str, seconds: float, fault: Fault | Literal[""] = ""
    ) -> None:
        """Count an answer to a request of a paid path.

        Args:
            cause: `answered`, `unpaid`, `payment_refused`, `preflight`, or what the log calls the cause of a failure.
            fault: of a call that was charged and not answered. Otherwise "".
        """
        series.calls(endpoint, status, cause, fault).inc()
        if status == 200:
            series.call_seconds(endpoint).observe(seconds)

    @_harmless
    def payment(self, series: Series, endpoint: str, rail: str, event: str, *, tokens: float = 0.0) -> None:
        """Count a payment that became `settled` or `rejected`: once for each such entry of the ledger's journal.

        Args:
            tokens: what was paid, in whole tokens.
        """
        series.payments(endpoint, rail, event).inc()
        if tokens:
            series.money_taken(rail).inc(tokens)

    @_harmless
    def settle(self, series: Series, rail: str, result: str, seconds: float) -> None:
        """Count a settle call to a facilitator: `settled`, `declined`, `not_sent` or `unknown`."""
        series.settle_seconds(rail, result).observe(seconds)

    @_harmless
    def job_ran(self, series: Series, pool: str, waited_s: float, ran_s: float) -> None:
        """Count a run of a job: how long it waited in the queue, and how long it ran."""
        series.queue_seconds(pool).observe(max(0.0, waited_s))
        series.job_seconds(pool).observe(ran_s)

    @_harmless
    def job_ended(self, series: Series, pool: str, endpoint: str, result: str) -> None:
        """Count a job's result as the ledger has it: `done`, `failed` when it may be run again, `superseded` when another
        result was there first, `not_stored`."""
        series.jobs(pool, endpoint, result).inc()

    @_harmless
    def egress_refused(self, series: Series, reason: str) -> None:
        """Count a connection that is not made: `blocked_address`, `blocked_redirect`, or of the browser's requests `browser_`
        and a reason of workers/egress/allowance.py."""
        series.egress_refusals(reason).inc()

    @_harmless
    def egress_proxied(self, series: Series, pool: str, result: str) -> None:
        """Count a connection through a proxy of the operator's: `connected`, `unreachable` when the proxy could not reach the
        host, or `failed` when the proxy did not do its work."""
        series.egress_proxied(pool, result).inc()

    @_harmless
    def egress_rerouted(self, series: Series, pool: str) -> None:
        """Count a request, page or fetch that is repeated by another exit because a site has refused it."""
        series.egress_rerouted(pool).inc()

    @_harmless
    def child_killed(self, series: Series, reason: str) -> None:
        """Count a child process that ended with its call: `exhausted`, `forbidden`, `lost`, or `late` when nobody waited
        any more."""
        series.child_kills(reason).inc()

    @_harmless
    def page(self, series: Series, result: str) -> None:
        """Count a page of the browser: `rendered`, or the reason why not."""
        series.browser_pages(result).inc()

    @_harmless
    def browser_started(self, series: Series) -> None:
        """Count a start of a browser."""
        series.browser_starts().inc()


class Series:
    """All series of a process, each by its labels. docs/metrics.md has the table.

    Args:
        name: what the names of its files have in common.
    """

    def __init__(self, name: str) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram, values

        # The library would name files after the process id only, which another process gets later.
        values.ValueClass = values.MultiProcessValue(lambda: name)  # type: ignore[no-untyped-call]
        registry = CollectorRegistry()  # the exporter reads the files: nothing is collected here

        def counter(name: str, help_text: str, *labels: str) -> Callable[..., Counter]:
            made = Counter(name, help_text, labels, registry=registry)
            return functools.cache(made.labels if labels else lambda: made)  # 0.2 us instead of 2

        def histogram(name: str, help_text: str, *labels: str) -> Callable[..., Histogram]:
            made = Histogram(name, help_text, labels, registry=registry, buckets=_SECONDS)
            return functools.cache(made.labels)

        self.calls = counter(
            "coinslot_calls", "Answers to requests of paid paths.", "endpoint", "status", "cause", "fault"
        )
        self.call_seconds = histogram("coinslot_call_seconds", "From a request to its 200.", "endpoint")
        self.payments = counter("coinslot_payments", "Payments settled and rejected.", "endpoint", "rail", "event")
        self.money_taken = counter("coinslot_money_taken", "Settled payments, in whole USDC or RLUSD.", "rail")
        self.settle_seconds = histogram("coinslot_settle_seconds", "Settle calls to facilitators.", "rail", "result")
        self.queue_seconds = histogram("coinslot_queue_seconds", "From the queueing of a job to its start.", "pool")
        self.job_seconds = histogram("coinslot_job_seconds", "From the start of a job to its end.", "pool")
        self.jobs = counter("coinslot_jobs", "Results of jobs, as the ledger has them.", "pool", "endpoint", "result")
        self.egress_refusals = counter("coinslot_egress_refusals", "Connections and requests not made.", "reason")
        self.egress_proxied = counter("coinslot_egress_proxied", "Connections through a proxy.", "pool", "result")
        self.egress_rerouted = counter("coinslot_egress_rerouted", "Requests that leave by another exit.", "pool")
        self.child_kills = counter("coinslot_child_kills", "Child processes that ended with their call.", "reason")
        self.browser_pages = counter("coinslot_browser_pages", "Pages rendered, or why not.", "result")
        self.browser_starts = counter("coinslot_browser_starts", "Browsers started.")


def _make_files(folder: Path) -> str:
    """Make the files of this process, and lock them for as long as it lives: so the exporter knows whose process has ended.
    Returns what their names have in common.

    They get all their room at once. A process that writes to a mapped file gets SIGBUS when the disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{os.getpid()}-{secrets.token_hex(4)}"
    for kind in KINDS:
        made = folder / f"{kind}_{name}.new"
        descriptor = os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)  # never closed
        try:
            os.posix_fallocate(descriptor, 0, FILE_BYTES)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            os.close(descriptor)
            made.unlink()
            raise
        made.rename(made.with_suffix(".db"))  # never to be seen without its lock
    return name


metrics = Metrics()
