"""A worker whose one endpoint takes its time, for what happens to jobs in the middle of their run."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

from jobs import echo
from jobs.echo import Response
from shared.broker import StreamBroker
from shared.endpoint import Pool
from workers import main

SLEEP_S = 1.0


def run(request: Any, context: Any) -> Response:
    """Say it back, later."""
    time.sleep(SLEEP_S)
    return Response(ok=True, service="coinslot", you_sent=request.message)


ENDPOINT = dataclasses.replace(echo.ENDPOINT, pool=Pool.WHOIS, deadline_s=20, run=run)


def create_broker() -> StreamBroker:
    """As workers.main, with this catalogue."""
    return main.create_broker((ENDPOINT,))
