"""Run the API: `python -m api`."""

from __future__ import annotations

import os
import resource
import sys
from typing import TYPE_CHECKING

from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes
from granian.http import HTTP1Settings
from granian.server import Server

from api.hang_up import pass_on
from api.redis_client import run_check
from shared.observability import tracing
from shared.observability.log_redaction import redact_logs
from shared.observability.logs import granian_config
from shared.observability.metrics import metrics
from shared.process.command_line import command_line, run
from shared.process.forked_workers import prepare_forks
from shared.process.setting_names import read_settings
from shared.process.tuning import keep_freed_memory, tune_gc
from shared.process.user import refuse_root
from shared.sealing.keys import read_sealing_keys
from shared.servers.ledger_start import NEW_LEDGER, refuse_wrong_ledger
from shared.servers.queue_start import checked_by_api, refuse_wrong_queue
from shared.settings.service import InvalidSetting, Settings

if TYPE_CHECKING:
    from api.rsgi import Rsgi


IDLE_S = 75
"""A connection without a request, or with half a request's head, is closed after that: later than a proxy in front gives up a
quiet one (nginx after 60 s), which else sends its next request into the closed connection."""
CONNECTIONS = 16_384
"""Connections of one process. One more waits until another ends: with granian's default of 1,024, idle ones of one address kept
a new caller waiting for 9.7 s (measured)."""
BACKLOG = 4_096
"""Connections that the kernel keeps until they are accepted; Linux takes at most net.core.somaxconn."""


def application() -> Rsgi:
    """Build the API in granian's worker process. The master process, which only supervises, never loads it.

    Raises:
        SystemExit: with a sentence about a setting that cannot be used.
    """
    from api.app import RELOAD, create_app
    from api.draining import Draining
    from api.hang_up import HangUp
    from api.rsgi import Rsgi
    from jobs.packages import RefusedPackage

    settings = Settings.from_env(os.environ)
    metrics.start(settings.metrics_dir)
    try:
        app = create_app(settings)
    except (InvalidSetting, RefusedPackage) as error:
        sys.exit(f"coinslot: {error}")
    tune_gc()
    keep_freed_memory()
    redact_logs()
    return Rsgi(app, app.lifespan, Draining(settings.host, settings.port), HangUp(app.state[RELOAD]))


def serve(application: str, host: str, port: int, log: str) -> None:
    """Run the HTTP server until SIGTERM. SIGHUP is the application's.

    Args:
        application: the function that builds what it serves, ``module:function``.
        log: COINSLOT_LOG.
    """
    server = Server(
        application,
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        # CPU per call at 64 in flight, measured: 74 us so; more threads 77 to 93, tasks in Rust 86, asyncio's own loop 94. The
        # other runtime writes an event for every response, this one only when its thread sleeps: 3 % more calls.
        loop=Loops.uvloop,
        runtime_mode=RuntimeModes.mt,
        websockets=False,
        log_dictconfig=granian_config(log),
        backlog=BACKLOG,
        backpressure=CONNECTIONS,
        # A request head well above 32 KB is 431; granian takes 420 KB by default.
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_S * 1000, max_buffer_size=32 * 1024),
        workers_kill_timeout=40,
    )
    pass_on(server)
    server.serve()


def main() -> None:
    """Serve until SIGTERM; calls in flight are finished first."""
    parser = command_line("python -m api", "Run the API.")
    parser.add_argument("--new-ledger", action="store_true", help=NEW_LEDGER)
    arguments = parser.parse_args()
    settings = read_settings(os.environ)
    refuse_root(settings)
    read_sealing_keys(settings)  # report a mistake before anything is served
    refuse_wrong_ledger(settings, run_check, is_new=arguments.new_ledger)
    refuse_wrong_queue(settings, checked_by_api(), run_check)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each connection is an open file
    tracing.check(settings)
    prepare_forks()
    serve("api.__main__:application", settings.host, settings.port, settings.log)


if __name__ == "__main__":
    run("coinslot", main)
