"""A worker whose one endpoint takes its time, for what happens to jobs in the middle of their run."""

import dataclasses
import os
import time
from typing import Any

from jobs import echo
from jobs.echo import Response
from shared.endpoint import Pool
from workers import main
from workers.queue.broker import StreamBroker

SLEEP_S = 1.5
LONG = "é" * 300_000
"""Answered to `long`."""
AHEAD = "SLOW_WORKER_AHEAD_S"
"""Environment variable: how wrong the worker's clock is."""


def run(request: Any, context: Any) -> Response:
    """Say it back, later."""
    time.sleep(SLEEP_S)
    said = LONG if request.message == "long" else request.message
    return Response(ok=True, service="coinslot", you_sent=said)


# Workers of the pool CHAIN wait for no port: those of pools that call sites ask this machine's name server first.
ENDPOINT = dataclasses.replace(echo.ENDPOINT, pool=Pool.CHAIN, deadline_s=20, run=run)


def create_broker() -> StreamBroker:
    """As workers.main, with this catalogue."""
    ahead_s, right = float(os.environ.get(AHEAD, "0")), time.time
    time.time = lambda: right() + ahead_s
    return main.create_broker((ENDPOINT,))
