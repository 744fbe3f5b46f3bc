"""Run the API: `python -m api`."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes
from granian.http import HTTP1Settings
from granian.server import Server

from shared import tracing
from shared.allocator import keep_freed_memory
from shared.gc_tuning import tune_gc
from shared.log_redaction import redact_logs
from shared.logs import granian_config
from shared.settings import InvalidSetting, Settings

if TYPE_CHECKING:
    from api.rsgi import Rsgi


def application() -> Rsgi:
    """Build the API in granian's worker process. The master process, which only supervises, never loads it."""
    from api.app import create_app
    from api.rsgi import Rsgi

    app = create_app()
    tune_gc()
    keep_freed_memory()
    redact_logs()
    return Rsgi(app, app.lifespan)


def main() -> None:
    """Serve until SIGTERM; calls in flight are finished first."""
    settings = Settings.from_env(os.environ)
    tracing.check(settings)
    # A worker keeps the handlers of its master until it has loaded the app: a SIGTERM would be lost, and the stop take 40 s.
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    Server(
        "api.__main__:application",
        factory=True,
        address=settings.host,
        port=settings.port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        # CPU per call at 64 in flight, measured: 74 us so; more threads 77 to 93, tasks in Rust 86, asyncio's own loop 94. The
        # other runtime writes an event for every response, this one only when its thread sleeps: 3 % more calls.
        loop=Loops.uvloop,
        runtime_mode=RuntimeModes.mt,
        websockets=False,
        log_dictconfig=granian_config(settings.log),
        # A request head well above 32 KB is 431; granian takes 420 KB by default.
        http1_settings=HTTP1Settings(header_read_timeout=5_000, max_buffer_size=32 * 1024),
        workers_kill_timeout=40,
    ).serve()


if __name__ == "__main__":
    try:
        main()
    except InvalidSetting as error:
        sys.exit(f"coinslot: {error}")
