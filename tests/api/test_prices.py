"""Prices and what is sold, changed while the API runs: what it shows, and what becomes of payments at former prices."""

import dataclasses
import json
import os
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
import redis
from litestar import Litestar

from api.app import RELOAD, create_app
from api.payment.price_lists import HONOURED_MS
from jobs import price_list
from jobs.catalogue import BY_NAME
from shared.ledger.keys import PRICE_LISTS, SELLERS
from shared.settings.service import InvalidSetting, Settings
from tests.api.conftest import opened
from tests.api.paying import Payer, encoded

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]

SOLD = [BY_NAME[name] for name in ("echo", "json-repair", "chain/call")]
ECHO = "/v1/cdp/echo"
SOON = 3_000_000_000

Pay = Callable[..., Awaitable[httpx.Response]]
Sell = Callable[[str], Awaitable[None]]


@pytest.fixture
def prices_file(tmp_path: Path) -> Path:
    """The price list, in which nothing differs yet."""
    path = tmp_path / "prices.toml"
    path.write_text("")
    return path


@pytest.fixture
def settings(settings: Settings, prices_file: Path) -> Settings:
    return dataclasses.replace(settings, prices_file=str(prices_file), rate_limits="off")


@pytest.fixture
def sell(app: Litestar, prices_file: Path) -> Sell:
    """Writes a price list, and has the API read it as on SIGHUP."""

    async def sell(text: str) -> None:
        prices_file.write_text(text)  # noqa: ASYNC240  # a line
        os.utime(prices_file, (SOON, SOON))
        await app.state[RELOAD]()

    return sell


@pytest.fixture
def pay(shop: httpx.AsyncClient) -> Pay:
    """Sends a payment for echo."""

    async def pay(payment: Any, *, name: str = "PAYMENT-SIGNATURE", to: httpx.AsyncClient = shop) -> httpx.Response:
        return await to.post(ECHO, json={"message": "hi"}, headers={name: encoded(payment)})

    return pay


def time_passes(settings: Settings) -> None:
    """The prices that no process has noted since are no longer honoured."""
    with redis.Redis.from_url(settings.ledger_url) as client:
        for prices in cast(list[bytes], client.zrange(PRICE_LISTS, 0, -1)):
            client.zincrby(PRICE_LISTS, -HONOURED_MS - 1, prices)


async def amounts(shop: httpx.AsyncClient) -> set[str]:
    return {offer["amount"] for offer in (await shop.post(ECHO)).json()["accepts"]}


async def test_everything_that_is_shown_follows(shop: httpx.AsyncClient, sell: Sell) -> None:
    """Challenge, documents and pages, with the date of the price list; a call that is not sold is nowhere, and comes back."""
    listings = ("/bazaar.json", "/discovery/resources", "/openapi.json", "/.well-known/x402")
    pages = ("/llms.txt", "/bazaar", "/bazaar/echo", "/", "/sitemap.xml", "/.well-known/api-catalog")
    accept = {"accept": "text/markdown"}
    before = {path: (await shop.get(path, headers=accept)).text for path in (*listings, *pages)}

    await sell('echo = "0.25"\njson-repair = false\n"chain/*" = 0.5')
    after = {path: (await shop.get(path, headers=accept)).text for path in (*listings, *pages)}

    assert await amounts(shop) == {"250000"}
    for path in listings:
        assert ('"amount":"1000"' in before[path], '"amount":"250000"' in after[path]) == (True, True), path
        assert '"amount":"1000"' not in after[path]
    for path in ("/llms.txt", "/bazaar", "/bazaar/echo"):
        assert "0.001" in before[path]
        assert "0.25" in after[path]
        assert "0.001" not in after[path]
    assert [path for path, text in before.items() if "json-repair" in text] == [
        one for one in before if one != "/bazaar/echo"
    ]
    assert [path for path, text in after.items() if "json-repair" in text] == []
    dates = [json.loads(after[path])["items"][0]["lastUpdated"] for path in ("/bazaar.json", "/discovery/resources")]
    assert [*dates, json.loads(after["/.well-known/x402"])["lastUpdated"]] == [SOON] * 3
    assert f"<lastmod>{datetime.fromtimestamp(SOON, UTC):%Y-%m-%d}</lastmod>" in after["/sitemap.xml"]
    assert (await shop.get("/bazaar/json-repair")).status_code == 404
    assert (await shop.post("/bazaar/json-repair", data={"body": "{}"})).status_code == 404
    assert "workers:fast" not in (await shop.get("/readyz")).json()["checks"]

    await sell("")
    assert {path: (await shop.get(path, headers=accept)).text for path in pages[:4]} == {
        one: before[one] for one in pages[:4]
    }


async def test_a_wrong_list_changes_nothing(
    shop: httpx.AsyncClient, app: Litestar, sell: Sell, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """At run time the log has the sentence; at the start it is the reason of the end."""
    await sell('echo = "0.25"')
    documents = [(await shop.get(path)).content for path in ("/bazaar.json", "/openapi.json")]
    await sell('ecko = "0.5"')
    assert "'ecko' is no call: did you mean echo?" in caplog.text
    assert await amounts(shop) == {"250000"}
    assert [(await shop.get(path)).content for path in ("/bazaar.json", "/openapi.json")] == documents
    with pytest.raises(InvalidSetting, match="did you mean echo"):
        create_app(settings, SOLD)
    no_node = dataclasses.replace(settings, prices_file="", sell="chain/*", rpc_base_urls=(), rpc_ethereum_urls=())
    with pytest.raises(InvalidSetting, match="nothing is left to sell"):
        create_app(no_node, SOLD)


async def test_a_ledger_that_does_not_answer_keeps_the_prices(
    shop: httpx.AsyncClient, sell: Sell, clean_redis: str
) -> None:
    """The other processes could not know the new ones."""
    with redis.Redis.from_url(clean_redis) as client:
        client.delete(PRICE_LISTS)
        client.set(PRICE_LISTS, "of another type")
    await sell('echo = "0.25"')
    assert await amounts(shop) == {"1000"}


@pytest.mark.parametrize("price", ["0.0005", "0.25"])
async def test_a_payment_that_was_signed_before_is_taken_for_its_time(
    price: str, shop: httpx.AsyncClient, pay: Pay, payer: Payer, sell: Sell, settings: Settings, facilitator: Any
) -> None:
    """At a lower and at a higher price now; in the process that was reloaded, in one that starts later, and at the new price in
    one that was not reloaded. Then it buys nothing, uncharged. What it bought is fetched again."""
    signed = [payer.payment() for _ in range(4)]
    async with opened(create_app(settings, SOLD)) as behind:
        await sell(f'echo = "{price}"')
        bought = await pay(signed[0])
        assert (bought.status_code, (await pay(signed[1], to=behind)).status_code) == (200, 200)
        assert (await pay(payer.payment(price=price), to=behind)).status_code == 200
    async with opened(create_app(settings, SOLD)) as again:
        assert (await pay(signed[2], to=again)).status_code == 200
        assert (await pay(signed[2], to=shop)).status_code == 200

    time_passes(settings)
    late = await pay(signed[3])
    assert (late.status_code, late.json()["error"]) == (402, "no_matching_offer")
    assert {offer["amount"] for offer in late.json()["accepts"]} == await amounts(shop)
    fetched = await pay(signed[0])
    assert (fetched.status_code, fetched.content) == (200, bought.content)
    assert (await pay(payer.payment(price=price))).status_code == 200
    assert len(facilitator.paid) == 5
    assert signed[3]["payload"]["authorization"]["nonce"] not in facilitator.settles


async def test_a_price_that_nobody_asked_for_is_not_taken(pay: Pay, payer: Payer, sell: Sell, facilitator: Any) -> None:
    """Nor that of another call."""
    await sell('echo = "0.25"\njson-repair = "0.0001"')
    for price in ("0.0001", "0.000001", "0.3"):
        refused = await pay(payer.payment(price=price))
        assert (refused.status_code, refused.json()["error"]) == (402, "no_matching_offer")
    assert facilitator.settles == []


async def test_a_flat_payment_finds_its_price(pay: Pay, payer: Payer, sell: Sell, settings: Settings) -> None:
    """It does not say what it accepts, and its signature covers the amount."""
    signed = [payer.payment() for _ in range(2)]
    early, late = (
        {"x402Version": 1, "scheme": "exact", "network": "base", "payload": one["payload"]} for one in signed
    )
    await sell('echo = "0.25"')
    bought = await pay(early, name="X-PAYMENT")
    assert bought.status_code == 200
    time_passes(settings)
    assert (await pay(late, name="X-PAYMENT")).status_code == 402
    fetched = await pay(early, name="X-PAYMENT")
    assert (fetched.status_code, fetched.content) == (200, bought.content)


async def test_a_call_that_is_not_sold_any_more(
    shop: httpx.AsyncClient, pay: Pay, payer: Payer, sell: Sell, settings: Settings, facilitator: Any
) -> None:
    """404, uncharged. What was signed before is taken for its time, and what was bought is fetched again."""
    answered, unknown, signed, late = (payer.payment() for _ in range(4))
    bought = await pay(answered)
    facilitator.script, facilitator.evidence = ["error500"], "unknown"
    assert (await pay(unknown)).status_code == 503
    facilitator.evidence = None

    await sell("echo = false")
    for method in ("POST", "GET"):
        gone = await shop.request(method, ECHO)
        problem = gone.json()
        assert (gone.status_code, problem["code"], problem["reason"]) == (404, "not_found", "not_sold")
    assert (await pay(signed)).status_code == 200
    time_passes(settings)
    refused = await pay(late)
    assert (refused.status_code, refused.json()["charged"], refused.json()["reason"]) == (404, False, "not_sold")
    again = await pay(answered)
    assert (again.status_code, again.content) == (200, bought.content)
    assert (await pay(unknown)).status_code == 200

    await sell("")
    assert (await pay(late)).status_code == 200


async def test_the_ledger_names_each_process_and_what_it_sells_at(
    shop: httpx.AsyncClient, sell: Sell, settings: Settings
) -> None:
    """By the version of its list. The operator's commands read it."""
    await sell('echo = "0.25"')
    version = price_list.read(settings, SOLD).version
    with redis.Redis.from_url(settings.ledger_url) as client:
        newest = cast(list[bytes], client.zrange(SELLERS, -1, -1))[0].decode()
    assert newest == f"{socket.gethostname()}:{os.getpid()} {version}"
