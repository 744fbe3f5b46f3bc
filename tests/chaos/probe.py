"""What is sold in the tests of this folder: endpoints that say back what they were sent and that they did it.

Every run of a handler is a line in executions.jsonl, and answers with something of its own: two runs for one payment cannot
look like one.
"""

import dataclasses
import json
import os
import secrets
import time
from pathlib import Path

from jobs import echo
from jobs.echo import Request, Response
from jobs.observation import Observed
from jobs.ports import Context
from jobs.site import Site
from shared.endpoint import Endpoint, Pool

FOLDER = "CHAOS_FOLDER"
"""Of the environment: where the run's files are."""
SLOW_S = 0.2


def run(request: Request, context: Context) -> Response:
    """Say it back, and leave a trace."""
    visit = _trace(request)
    return Response(ok=True, service="coinslot", you_sent=f"{request.message} {visit}")


def watch(request: Request, context: Context) -> Observed:
    """Look at something that is another each time: say what is seen now, and what was seen before."""
    visit = _trace(request)
    before = context.previous.observation.decode() if context.previous else "-"
    response = Response(ok=True, service="coinslot", you_sent=f"{request.message} {visit} {before}")
    return Observed(response, visit.encode())


def subject_of(request: Request, site: Site) -> str:
    """What is in front of the stroke."""
    return (request.message or "").partition("/")[0]


def _trace(request: Request) -> str:
    visit = secrets.token_hex(8)
    line = json.dumps({"call": request.message, "at": time.time(), "visit": visit}) + "\n"
    # One write in append mode: the lines of two processes do not mix.
    log = os.open(Path(os.environ[FOLDER]) / "executions.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(log, line.encode())
    finally:
        os.close(log)
    return visit


def run_slowly(request: Request, context: Context) -> Response:
    """The same, with a time to be killed in."""
    time.sleep(SLOW_S / 2)
    response = run(request, context)
    time.sleep(SLOW_S / 2)
    return response


ECHO: Endpoint = dataclasses.replace(echo.ENDPOINT, deadline_s=3, run=run)
SLOW: Endpoint = dataclasses.replace(ECHO, name="slow", pool=Pool.CHAIN, run=run_slowly, listed=False)
WATCH: Endpoint = dataclasses.replace(ECHO, name="watch", run=watch, subject=subject_of, listed=False)
CATALOGUE = (ECHO, SLOW, WATCH)
PATIENT = tuple(dataclasses.replace(endpoint, deadline_s=echo.ENDPOINT.deadline_s) for endpoint in CATALOGUE)
"""With the shortest deadline that the product has."""
