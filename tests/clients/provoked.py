"""A part of the service where each thing fails for which a call has a status."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from compose.sandbox.redis_server import start_redis
from jobs.catalogue import BY_NAME
from tests.clients.generators import payments_of
from tests.clients.shop import Shop
from tests.e2e.failing_jobs import FOLDER
from tests.e2e.running import another_api, start_failing_worker
from tests.whole_service import Service


class Provoked(NamedTuple):
    """A call, and the status that it gets.

    Attributes:
        payment: its header; empty where it is not paid.
    """

    status: int
    path: str
    body: dict[str, Any]
    payment: str = ""


@contextlib.contextmanager
def failing(service: Service, folder: Path) -> Iterator[str]:
    """The origin of an API process of this service that limits rates, does not sell all calls, and has a queue of its own. The only
    worker there runs `echo` and obeys what the message asks for (tests/e2e/failing_jobs.py)."""
    own = dict(line.split("=", 1) for line in service.environment)
    queue = start_redis("queue", folder)
    own["COINSLOT_QUEUE_URL"] = queue.url
    worker = start_failing_worker("micro", folder / "worker.log", "--threads", "1", **own, **{FOLDER: str(folder)})
    try:
        with another_api(
            service,
            is_ready=_has_worker,
            COINSLOT_QUEUE_URL=queue.url,
            COINSLOT_RATE_LIMITS="micro=0.001/2",
            COINSLOT_SELL="echo,chain/chain-id",
        ) as origin:
            yield origin
    finally:
        worker.kill()
        worker.wait()
        queue.stop()


def _has_worker(told: Any) -> bool:
    checks = told["checks"]
    return bool(checks["ledger"] and checks["facilitator:base"] and checks["workers:micro"])


def calls(shop: Shop) -> list[Provoked]:
    """One call for each status that nothing in a request brings about, in this order, each paid if a paid call gets it."""
    echo, chain_id = BY_NAME["echo"].path, BY_NAME["chain/chain-id"]
    first, second, third = (payments_of(shop) for _ in range(3))
    return [
        Provoked(500, echo, {"message": "please-fail"}, first[echo]),
        Provoked(504, echo, {"message": "please-hold-1"}, second[echo]),  # for longer than its deadline
        Provoked(429, echo, {"message": "too often"}, third[echo]),
        Provoked(503, chain_id.path, chain_id.example.request, first[chain_id.path]),  # it has no worker
        Provoked(404, BY_NAME["faker"].path, {}),  # it is not sold
    ]
