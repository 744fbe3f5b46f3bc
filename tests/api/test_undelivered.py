"""Callers that hang up before they have the answer: when their next payment for the same request is one for another call."""

import asyncio
import base64
import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from litestar import Litestar

from api.undelivered import HUNG_UP
from jobs.catalogue import BY_NAME
from tests.api.paying import Payer, paid_with
from tests.time_limits import patience

pytestmark = pytest.mark.anyio
SOLD = (BY_NAME["echo"],)
PATH = "/v1/cdp/echo"


class AtLast(asyncio.Future[None]):
    """A connection that is closed when nobody has waited for it any longer: what was to be called back was not called yet."""

    def done(self) -> bool:
        if not super().done():
            self.set_result(None)
        return True


def at_once() -> asyncio.Future[None]:
    """A connection that is closed when the call begins."""
    gone = asyncio.get_running_loop().create_future()
    gone.set_result(None)
    return gone


def never() -> asyncio.Future[None]:
    """A connection that stays."""
    return asyncio.get_running_loop().create_future()


class Connection:
    """How the caller's connections end, as the server tells the application."""

    def __init__(self, app: Litestar) -> None:
        self._app = app
        self.ends: Callable[[], asyncio.Future[None]] = never

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app({**scope, "extensions": {HUNG_UP: self.ends}}, receive, send)


@pytest.fixture
def connection(app: Litestar) -> Connection:
    return Connection(app)


@pytest.fixture
async def shop(app: Litestar, connection: Connection) -> Any:
    """A client of the running API."""
    async with (
        app.lifespan(),
        httpx.AsyncClient(transport=httpx.ASGITransport(connection), base_url="http://shop.test", timeout=30) as client,
    ):
        yield client


async def buy(shop: httpx.AsyncClient, payer: Payer, payment: Any = None) -> httpx.Response:
    return await shop.post(PATH, json={"message": "hi"}, headers=paid_with(payment or payer.payment()))


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("ends", [at_once, AtLast])
async def test_whenever_the_connection_is_closed_the_next_payment_gets_the_answer(
    shop: httpx.AsyncClient, connection: Connection, payer: Payer, facilitator: Any, ends: Any
) -> None:
    """At the latest when the answer is about to be written."""
    connection.ends = ends
    await buy(shop, payer)
    connection.ends = never
    assert (await buy(shop, payer)).status_code == 200
    assert len(facilitator.settles) == 1
    assert (await buy(shop, payer)).status_code == 200
    assert len(facilitator.settles) == 2


@pytest.mark.usefixtures("worker")
async def test_a_call_to_come_again_is_no_answer(
    shop: httpx.AsyncClient, connection: Connection, payer: Payer, facilitator: Any
) -> None:
    """While nobody knows whether the first payment was settled, no other one is, however often a new one comes."""
    facilitator.script, facilitator.evidence = ["reset+paid"], "unknown"
    connection.ends, first = at_once, payer.payment()
    assert (await buy(shop, payer, first)).status_code == 503
    connection.ends = never
    for _ in range(3):
        answer = await buy(shop, payer)
        assert (answer.status_code, answer.json()["charged"], answer.json()["code"]) == (503, False, "in_progress")
    assert len(facilitator.settles) == 1
    facilitator.evidence = None
    assert (await buy(shop, payer, first)).status_code == 200
    assert len(facilitator.paid) == 1


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("name", ["", "a_name_of_the_call"])
async def test_a_later_payment_has_the_call_run_that_the_first_one_paid_for(
    shop: httpx.AsyncClient, connection: Connection, payer: Payer, facilitator: Any, name: str
) -> None:
    """Clients that sign anew each time cannot repeat the first payment. As soon as it is known to be settled, none has to."""
    named = {"extensions": {"payment-identifier": {"info": {"required": False, "id": name}}}} if name else {}
    facilitator.script, facilitator.evidence = ["reset+paid"], "unknown"
    connection.ends = never if name else at_once
    assert (await buy(shop, payer, payer.payment() | named)).status_code == 503
    connection.ends, facilitator.evidence = never, None
    give_up_at = time.monotonic() + patience(20)
    while (answer := await buy(shop, payer, payer.payment() | named)).status_code == 503:
        assert time.monotonic() < give_up_at
        await asyncio.sleep(0.1)
    assert answer.json()["youSent"] == "hi"
    receipt = json.loads(base64.b64decode(answer.headers["payment-response"]))
    assert receipt["transaction"] == "0x" + facilitator.settles[0][2:]
    assert len(facilitator.settles) == 1


@pytest.mark.usefixtures("worker")
async def test_the_answer_of_one_payment_does_not_deliver_that_of_another(
    shop: httpx.AsyncClient, connection: Connection, payer: Payer, facilitator: Any
) -> None:
    """The first call is fetched once more after the second one's caller hung up."""
    first = payer.payment()
    await buy(shop, payer, first)
    connection.ends = at_once
    await buy(shop, payer)
    connection.ends = never
    assert (await buy(shop, payer, first)).status_code == 200
    assert (await buy(shop, payer)).status_code == 200
    assert len(facilitator.settles) == 2
