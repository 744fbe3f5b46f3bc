"""The ledger's connections break while calls are paid, as they do when a firewall, a proxy or a failover cuts them."""

import asyncio
import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import redis

from api.dispatch import Dispatcher
from compose.sandbox.redis_server import start_redis
from jobs.catalogue import BY_NAME
from shared.ledger.keys import in_every_bucket
from shared.outcome import NOT_STORED
from shared.settings.service import Settings
from tests.api.paying import Payer, paid_with

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]
SOLD = (BY_NAME["echo"],)
PATH = "/v1/cdp/echo"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redis.Redis]:
    """A ledger that is not the queue, too."""
    server = start_redis("queue", tmp_path_factory.mktemp("ledger"))
    with redis.Redis.from_url(server.url) as client:
        yield client
    server.stop()


@pytest.fixture
def settings(settings: Settings, ledger: redis.Redis) -> Settings:
    port = ledger.connection_pool.connection_kwargs["port"]
    return dataclasses.replace(settings, ledger_url=f"redis://127.0.0.1:{port}/0", rate_limits="off")


async def test_a_break_of_all_connections_costs_no_call(
    shop: httpx.AsyncClient, payer: Payer, ledger: redis.Redis
) -> None:
    """Given calls that are paid at the same time, when the ledger closes the connections of all its clients at any moment of
    them, then each call is answered."""
    moment = random.Random(34)
    for _ in range(12):
        headers = [payer.headers() for _ in range(8)]
        calls = [asyncio.create_task(shop.post(PATH, json={}, headers=header)) for header in headers]
        await asyncio.wait(calls, timeout=moment.uniform(0, 0.06))
        await asyncio.to_thread(ledger.client_kill_filter, _type="normal", skipme=True)
        answers = [(answer.status_code, answer.text) for answer in await asyncio.gather(*calls)]
        assert {status for status, _ in answers} == {200}, answers


async def test_a_payment_whose_answer_was_not_stored_need_not_wait(
    shop: httpx.AsyncClient,
    payer: Payer,
    ledger: redis.Redis,
    paid_calls: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a worker that could not store its answer, then nobody holds the payment's lease, and the same call is answered."""
    answers = paid_calls[PATH]._services.answers

    async def not_stored(dispatcher: Dispatcher, endpoint: Any, arguments: Any, _: object) -> Any:
        return answers.seal(NOT_STORED, endpoint, arguments.payment_id, arguments.secret)

    payment = payer.payment()
    headers = paid_with(payment)
    with monkeypatch.context() as failing:
        failing.setattr(Dispatcher, "run", not_stored)
        failed = await shop.post(PATH, json={}, headers=headers)
    assert (failed.status_code, failed.json()["reason"], failed.json()["charged"]) == (503, "answer_not_stored", True)
    (record,) = ledger.keys(in_every_bucket(f"payment:*{payment['payload']['authorization']['nonce'].lower()}"))
    assert ledger.hget(record, "lease") == b"0"
    assert (await shop.post(PATH, json={}, headers=headers)).status_code == 200
