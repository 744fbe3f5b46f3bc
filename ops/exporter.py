"""Answers Prometheus for one machine: `python -m ops.exporter`, then GET /metrics on COINSLOT_METRICS_PORT.

It adds up what the processes of the machine have counted (shared/metrics.py), and asks the queue, the ledger, the API and our
facilitator for what is true now. When one of these does not answer, its series are missing and `coinslot_source_up` is 0.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

from redis.exceptions import RedisError

from ops.asking import api_place, asked
from shared.ledger import LOST, OPEN, RECHECK, REFUNDABLE, record_key
from shared.metrics import FOLDER_VARIABLE
from shared.pool_states import ARGUMENTS, KEYS, SCRIPT, pool_states
from shared.redis_connection import connect
from shared.settings import InvalidSetting, Settings

MOST_OPEN = 1_000
"""Open payments whose state is counted, at each scrape."""
_BALANCE = re.compile(r"([0-9.]+) (\w+)")


class Unavailable(Exception):
    """A source does not answer."""


class StateCollector:
    """The gauges. Implements prometheus_client's Collector."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ledger = connect(settings.ledger_url)
        self._queue = connect(settings.queue_url)

    def collect(self) -> Iterator[Any]:
        """Read every source once."""
        from prometheus_client.core import GaugeMetricFamily

        up = GaugeMetricFamily("coinslot_source_up", "Whether a source of the series answers.", labels=["source"])
        sources: dict[str, Callable[[], Iterator[Any]]] = {
            "queue": self._pools,
            "ledger": self._payments,
            "api": self._rails,
            "facilitator": self._balances,
        }
        for name, read in sources.items():
            try:
                yield from list(read())
                up.add_metric([name], 1)
            except (RedisError, Unavailable):
                up.add_metric([name], 0)
        yield up

    def _pools(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        states = pool_states(cast(list[Any], self._queue.eval(SCRIPT, len(KEYS), *KEYS, *ARGUMENTS)))
        for name, help_text, value in (
            ("depth", "Jobs that wait or run.", lambda state: state.depth),
            ("running", "Jobs that a worker has fetched.", lambda state: state.running),
            ("oldest_wait_seconds", "How long the oldest job has waited.", lambda state: state.waited_ms / 1000),
            ("workers", "Living worker processes.", lambda state: state.workers),
            ("available_workers", "Living worker processes whose ports work.", lambda state: state.available),
        ):
            family = GaugeMetricFamily(f"coinslot_pool_{name}", help_text, labels=["pool"])
            for pool, state in states.items():
                family.add_metric([pool.value], value(state))
            yield family

    def _payments(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        family = GaugeMetricFamily("coinslot_ledger_payments", "Payments by what they wait for.", labels=["kind"])
        kinds = {"open": OPEN, "refundable": REFUNDABLE, "recheck": RECHECK, "lost": LOST}
        for kind, key in kinds.items():
            family.add_metric([kind], cast(int, self._ledger.zcard(key)))
        named = cast(list[bytes], self._ledger.zrange(OPEN, 0, MOST_OPEN - 1))
        pipeline = self._ledger.pipeline(transaction=False)
        for payment_id in named:
            pipeline.hget(record_key(payment_id.decode()), "state")
        states = pipeline.execute() if named else []
        family.add_metric(["unknown"], states.count(b"UNKNOWN"))
        yield family

    def _rails(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        _, told = asked(f"{api_place(self._settings)}/readyz")
        if told is None:
            raise Unavailable
        family = GaugeMetricFamily("coinslot_rail_up", "Whether a rail takes payments.", labels=["rail"])
        for name, works in told["checks"].items():
            if name.startswith("facilitator:"):
                family.add_metric([name.removeprefix("facilitator:")], int(works))
        yield family
        yield GaugeMetricFamily("coinslot_ready", "Whether the API is ready.", value=int(told["ok"]))

    def _balances(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        _, told = asked(f"{self._settings.evm.facilitator_url}/healthz")
        if told is None or not isinstance(told.get("rails"), dict):
            raise Unavailable
        family = GaugeMetricFamily(
            "coinslot_settler_balance", "What settling accounts have.", labels=["network", "unit"]
        )
        for network, rail in told["rails"].items():
            if found := _BALANCE.match(rail.get("balance", "")):
                family.add_metric([network, found[2]], float(found[1]))
        yield family


def main() -> None:
    """Serve until SIGTERM."""
    settings = Settings.from_env(os.environ)
    if settings.metrics_dir:
        os.makedirs(settings.metrics_dir, exist_ok=True)
        os.environ[FOLDER_VARIABLE] = settings.metrics_dir
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    if settings.metrics_dir:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(StateCollector(settings))
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    server, thread = start_http_server(settings.metrics_port, settings.metrics_host, registry)
    ended.wait()
    server.shutdown()
    thread.join()


if __name__ == "__main__":
    try:
        main()
    except (InvalidSetting, OSError) as error:
        sys.exit(f"coinslot exporter: {error}")
