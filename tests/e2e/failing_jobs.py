"""Workers of a service whose jobs fail, hold on and are killed when a request asks for it; otherwise they are the real ones."""

import dataclasses
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from jobs import echo
from jobs.jwt_verify import endpoint as jwt_verify
from jobs.pii_redact import endpoint as pii_redact
from jobs.rss import endpoint as rss
from jobs.webhook_sig_verify import endpoint as webhook_sig_verify
from shared.endpoint import Endpoint
from tests.time_limits import patience
from workers import main
from workers.queue.broker import StreamBroker

FOLDER = "FAILING_JOBS_FOLDER"
"""Environment variable: where a job that holds on says so (`held-N`), and is let go (`released-N`)."""
LONGEST_S = patience(20.0)


def obedient(endpoint: Endpoint) -> Endpoint:
    """The same, with a handler that obeys `please-fail` and `please-hold-N` anywhere in a request."""
    return dataclasses.replace(endpoint, run=_obedient(endpoint.run))


def _obedient(run: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def obey(request: Any, context: Any) -> Any:
        text = msgspec.json.encode(request).decode()
        if "please-fail" in text:
            _quote(text)
        if hold := re.search("please-hold-([0-9]+)", text):
            _hold(hold[1])
        return run(request, context)

    return obey


def _quote(text: str) -> None:
    """As careless as code can be: every exception's text is the request."""
    try:
        raise KeyError(text)
    except KeyError as error:
        raise ValueError(text, text.encode()) from error


def _hold(number: str) -> None:
    folder = Path(os.environ[FOLDER])
    (folder / f"held-{number}").touch()
    give_up_at = time.monotonic() + LONGEST_S
    while not (folder / f"released-{number}").exists() and time.monotonic() < give_up_at:
        time.sleep(0.02)


def create_broker() -> StreamBroker:
    """As workers.main. pii-redact is as it is: it runs in a child, which knows only the real one."""
    names = (echo.ENDPOINT, jwt_verify.ENDPOINT, webhook_sig_verify.ENDPOINT, rss.ENDPOINT)
    return main.create_broker((*(obedient(endpoint) for endpoint in names), pii_redact.ENDPOINT))
