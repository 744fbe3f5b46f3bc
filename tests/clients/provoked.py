"""A part of the service where each thing fails for which a call has a status."""

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
    """The origin of an API process of this service that limits rates, does not sell all calls, and has a queue of its own. The
    only worker there runs `jwt-verify` and obeys what a request asks for (tests/e2e/failing_jobs.py)."""
    own = dict(line.split("=", 1) for line in service.environment)
    queue = start_redis("queue", folder)
    own["COINSLOT_QUEUE_URL"] = queue.url
    worker = start_failing_worker("fast", folder / "worker.log", "--threads", "2", **own, **{FOLDER: str(folder)})
    try:
        with another_api(
            service,
            is_ready=_has_worker,
            COINSLOT_QUEUE_URL=queue.url,
            COINSLOT_RATE_LIMITS="fast=0.001/2",
            COINSLOT_SELL="jwt-verify,chain/chain-id",
        ) as origin:
            yield origin
    finally:
        worker.kill()
        worker.wait()
        queue.stop()


def _has_worker(told: Any) -> bool:
    checks = told["checks"]
    return bool(checks["ledger"] and checks["facilitator:base"] and checks["workers:fast"])


def calls(shop: Shop) -> list[Provoked]:
    """One call for each status that nothing in a request brings about, in this order, each paid if a paid call gets it."""
    jwt, chain_id, faker = (BY_NAME[name] for name in ("jwt-verify", "chain/chain-id", "faker"))
    payments = [payments_of(shop) for _ in range(3)]
    asked = [
        (500, "please-fail"),
        (504, "please-hold-1"),  # beyond its deadline
        (429, "too often"),
    ]
    return [
        *(
            Provoked(status, jwt.path, {**jwt.example.request, "requiredClaims": [claim]}, payment[jwt.path])
            for (status, claim), payment in zip(asked, payments, strict=True)
        ),
        Provoked(503, chain_id.path, chain_id.example.request, payments[0][chain_id.path]),  # it has no worker
        Provoked(404, faker.path, faker.example.request),  # it is not sold
    ]
