"""Answers Prometheus for one machine: `python -m ops.exporter`, then GET /metrics on COINSLOT_METRICS_PORT.

It adds up what the processes of the machine have counted, and asks the queue, the ledger, the API and our facilitator for what
is true now. When one of these does not answer, its series are missing and `coinslot_source_up` is 0. Where COINSLOT_BOOKS_DIR
is set, it also keeps the books (ops/books/).
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from ops import gauges
from ops.books.keeper import keep
from ops.counted import CountedSeries
from shared.observability.logs import configure_logs
from shared.process.command_line import command_line, run
from shared.process.setting_names import read_settings
from shared.servers.ledger_servers import connect_ledger
from shared.servers.redis_connection import connect
from shared.settings.service import PREFIX, InvalidSetting, Settings

log = logging.getLogger(__name__)

TRY_AGAIN_S = 10.0
"""When the port is another process's."""

Source = Callable[[], Iterable[Metric]]


class Sources(Collector):
    """Reads every source once for each scrape, all at the same time, so that a silent one costs its own time limit at most."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._threads = ThreadPoolExecutor(2 * len(sources), thread_name_prefix="source")

    def collect(self) -> Iterator[Metric]:
        """What prometheus_client asks for."""
        up = GaugeMetricFamily("coinslot_source_up", "Whether a source of the series answers.", labels=["source"])
        for name, read in {
            name: self._threads.submit(_read, name, source) for name, source in self._sources.items()
        }.items():
            families = read.result()
            up.add_metric([name], int(families is not None))
            yield from families or ()
        yield up


def _read(name: str, source: Source) -> list[Metric] | None:
    """What a source has; None when it does not answer. Whatever is wrong with one, the others are read."""
    try:
        return list(source())
    except (RedisError, OSError, gauges.NoAnswer, InvalidSetting) as error:
        log.debug("%s: %s", name, type(error).__name__)
    except Exception:
        log.exception("%s cannot be read", name)
    return None


def sources(settings: Settings) -> dict[str, Source]:
    """By name, which is a label of `coinslot_source_up`."""
    queue = connect(settings.redis_url(settings.queue_url))

    def ledger() -> Iterator[Metric]:
        with connect_ledger(settings) as client:
            yield from (*gauges.payments(client), *gauges.channels(client, settings), *gauges.calls(client))

    read: dict[str, Source] = {
        "queue": lambda: gauges.pools(queue),
        "ledger": ledger,
        "api": lambda: gauges.rails(settings),
        "facilitator": lambda: gauges.settlers(settings),
    }
    if settings.metrics_dir:
        read["processes"] = CountedSeries(Path(settings.metrics_dir)).read
    return read


def main() -> None:
    """Serve until SIGTERM."""
    command_line("python -m ops.exporter", "Answer Prometheus.").parse_args()
    settings = read_settings(os.environ)
    configure_logs(settings.log)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Sources(sources(settings)))
    if settings.books_dir:  # it may be killed anywhere
        threading.Thread(target=keep, args=(settings, ended), name="books", daemon=True).start()
    server = _served(settings, registry, ended)
    ended.wait()
    if server is not None:
        server.shutdown()


def _served(settings: Settings, registry: CollectorRegistry, ended: threading.Event) -> WSGIServer | None:
    """The server, as soon as the port is free. To end instead would make a start of the service fail for its metrics."""
    is_reported = False
    while not ended.is_set():
        try:
            server, _ = start_http_server(settings.metrics_port, settings.metrics_host, registry)
            return server
        except OSError as error:
            if not is_reported:
                where = f"port {settings.metrics_port} of {settings.metrics_host}"
                log.error("%s cannot be used (%s): set %sMETRICS_PORT to another one", where, error.strerror, PREFIX)
            is_reported = True
            ended.wait(TRY_AGAIN_S)
    return None


if __name__ == "__main__":
    run("coinslot exporter", main)
