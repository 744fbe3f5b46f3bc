"""Payments that go to the facilitator that lists them, on the real API, ledger, queue and worker; both facilitators are
doubles on one chain."""

import asyncio
import base64
import dataclasses
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import dramatiq
import httpx
import jsonschema
import pytest
import redis
from litestar.routes import ASGIRoute

from api.app import create_app
from api.payment import listing
from api.payment.answers import bazaar_status
from api.payment.ledger import Ledger
from api.payment.listing_ledger import HOLD_MS, LISTED_MS, REJECTED_MS
from api.payment.rails import configured_rails
from api.payment.reconcile import Reconciler
from api.redis_client import Redis
from jobs.catalogue import BY_NAME
from shared.endpoint import Endpoint
from shared.ledger.keys import record_key
from shared.ledger.listing import host_of, listing_key
from shared.sealing.sealing import Sealer
from shared.settings.secret_files import read_key
from shared.settings.service import InvalidSetting, Settings
from tests.api.conftest import opened
from tests.api.paying import Payer, paid_with
from tests.each import each

PATH = "/v1/cdp/echo"
UNLISTED = dataclasses.replace(BY_NAME["json-repair"], listed=False)
SOLD = (BY_NAME["echo"], UNLISTED)

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(settings: Settings, lister: Any) -> Settings:
    """With a listing facilitator."""
    return dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, listing_facilitator_url=lister.url))


@pytest.fixture
def row(clean_redis: str, lister: Any) -> Callable[..., dict[str, str]]:
    """What the ledger has of a call's listing."""

    def read(host: str = "") -> dict[str, str]:
        with redis.Redis.from_url(clean_redis, decode_responses=True) as client:
            found: Any = client.hgetall(listing_key(host or host_of(lister.url), "http://shop.test" + PATH))
            return dict(found)

    return read


def pause_ms(row: dict[str, str]) -> int:
    return int(row["until"]) - int(time.time() * 1000)


async def test_one_payment_of_a_call_goes_to_the_facilitator_that_lists_it(
    settings: Settings,
    worker: dramatiq.Worker,
    facilitator: Any,
    lister: Any,
    row: Any,
) -> None:
    """Given two API processes, when many payers buy at once, then one payment goes there, with the shop's own description, and
    none of a call that is not listed; later nothing goes there for 25 days."""
    async with opened(create_app(settings, SOLD)) as one, opened(create_app(settings, SOLD)) as other:

        async def buy(shop: httpx.AsyncClient, endpoint: Endpoint = SOLD[0]) -> httpx.Response:
            forged = {
                "resource": {"url": "http://shop.test" + endpoint.path},
                "extensions": {"bazaar": {"info": "forged"}},
            }
            payment = {**Payer().payment(price=endpoint.price.text()), **forged}
            headers = paid_with(payment)
            return await shop.post(endpoint.path, headers=headers, json=endpoint.example.request)

        hidden = await buy(one, UNLISTED)
        answers = await asyncio.gather(*(buy(shop) for _ in range(12) for shop in (one, other)))
        assert {answer.status_code for answer in (hidden, *answers)} == {200}
        assert (await buy(one)).status_code == 200
        challenge = (await one.post(PATH)).json()

    assert (len(lister.settles), len(facilitator.settles)) == (1, 25)
    assert len(facilitator.paid) == 26
    (call,) = lister.calls
    payment = call["paymentPayload"]
    assert payment["resource"] == challenge["resource"]
    assert payment["extensions"] == {"bazaar": challenge["extensions"]["bazaar"]}
    jsonschema.validate(payment["extensions"]["bazaar"]["info"], payment["extensions"]["bazaar"]["schema"])
    noted = row()
    assert noted["transaction"] == "0x" + lister.settles[0][2:]
    assert noted["status"] == '{"status":"processing"}'
    assert LISTED_MS - 60_000 < pause_ms(noted) <= LISTED_MS
    assert "trouble" not in noted


@asynccontextmanager
async def shop_of(settings: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, Any]]:
    """One API process, and its rail."""
    app = create_app(settings, SOLD)
    (call, *_) = [route.route_handler.fn for route in app.routes if isinstance(route, ASGIRoute) and route.path == PATH]
    async with opened(app) as shop:
        yield shop, call._gate._priced[0][1]


def away(lister: Any, rail: Any) -> None:
    rail.listing.facilitator.url = "http://127.0.0.1:1"


def of_another_network(lister: Any, rail: Any) -> None:
    lister.says = b'{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:1"}]}'


def refusing(lister: Any, rail: Any) -> None:
    lister.accepts_wallet = False


def failing(lister: Any, rail: Any) -> None:
    lister.says_status = 503


def busy(lister: Any, rail: Any) -> None:
    rail.listing.facilitator._settles = asyncio.Semaphore(0)


@pytest.mark.parametrize("trouble", [away, of_another_network, refusing, failing, busy])
async def test_what_it_would_not_settle_goes_the_usual_way(
    trouble: Callable[[Any, Any], None],
    settings: Settings,
    worker: dramatiq.Worker,
    facilitator: Any,
    lister: Any,
    payer: Payer,
    row: Any,
    clean_redis: str,
) -> None:
    """The caller sees nothing of it, the ledger says why, and nothing more goes there for an hour."""
    async with shop_of(settings) as (shop, rail):
        trouble(lister, rail)
        host = host_of(rail.listing.facilitator.url)
        answers = [await shop.post(PATH, headers=payer.headers()) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert (len(lister.settles), len(facilitator.settles)) == (0, 2)
    with redis.Redis.from_url(clean_redis) as client:
        assert {client.hget(key, "facilitator") or b"" for key in client.scan_iter("coinslot:*:payment:*")} == {b""}
    noted = row(host)
    assert noted["trouble"]
    assert HOLD_MS - 60_000 < pause_ms(noted) <= HOLD_MS


async def test_a_payment_that_nobody_would_settle_takes_nobody_elses_turn(
    settings: Settings, worker: dramatiq.Worker, facilitator: Any, lister: Any, payer: Payer, row: Any
) -> None:
    """Given a wallet without money, which pays nothing for its try, then the next payment of the call goes there."""
    async with shop_of(settings) as (shop, _):
        lister.accepts_wallet, facilitator.script = False, ["refuse"]
        assert (await shop.post(PATH, headers=Payer().headers())).status_code == 402
        assert row()["trouble"]
        lister.accepts_wallet = True
        assert (await shop.post(PATH, headers=payer.headers())).status_code == 200
    assert (len(lister.settles), len(facilitator.settles)) == (1, 1)
    assert "trouble" not in row()


async def test_a_slow_one_is_not_waited_for(
    settings: Settings,
    worker: dramatiq.Worker,
    facilitator: Any,
    lister: Any,
    payer: Payer,
    monkeypatch: pytest.MonkeyPatch,
    row: Any,
) -> None:
    """The usual one gets the payment."""
    monkeypatch.setattr(listing, "PREPARE_S", 0.0)
    async with shop_of(settings) as (shop, _):
        answer = await shop.post(PATH, headers=payer.headers())
    assert (answer.status_code, len(lister.settles), len(facilitator.settles)) == (200, 0, 1)
    assert row()["trouble"] == "no answer within 0 s"


@pytest.mark.parametrize(
    ("script", "statuses", "settles"),
    [
        (["refuse"], [402, 402], 1),
        (["error500+paid"], [200, 200], 1),
        (["reset", "ok"], [503, 200], 2),
        (["error500", "refuse", "ok"], [503, 503, 200], 3),
    ],
)
async def test_a_payment_that_was_sent_there_stays_there(
    script: list[str],
    statuses: list[int],
    settles: int,
    settings: Settings,
    worker: dramatiq.Worker,
    facilitator: Any,
    lister: Any,
    payer: Payer,
    clean_redis: str,
) -> None:
    """Only a refusal of its first attempt is one; the rail's own facilitator says what the chain shows, and settles nothing."""
    lister.script = script
    async with shop_of(settings) as (shop, _):
        payment = payer.payment()
        headers = paid_with(payment)
        answers = [await shop.post(PATH, headers=headers) for _ in statuses]
    assert [answer.status_code for answer in answers] == statuses
    assert (len(lister.settles), facilitator.settles) == (settles, [])
    assert len(facilitator.paid) == (statuses[-1] == 200)
    offer, nonce = payment["accepted"], payment["payload"]["authorization"]["nonce"]
    record = record_key(f"{offer['network']}:{offer['asset'].lower()}:{payer.address}:{nonce}")
    with redis.Redis.from_url(clean_redis) as client:
        assert client.hget(record, "facilitator") == b"listing"


async def test_a_payment_that_was_routed_and_not_sent_stays_there(
    settings: Settings,
    worker: dramatiq.Worker,
    facilitator: Any,
    lister: Any,
    payer: Payer,
    monkeypatch: pytest.MonkeyPatch,
    clean_redis: str,
) -> None:
    """Given a driver that died between the two, when its lease is over, then the next copy of the call sends it there."""
    headers = payer.headers()
    async with shop_of(settings) as (shop, rail):
        with monkeypatch.context() as dying:
            dying.setattr(rail.listing.facilitator, "settle", None)
            assert (await shop.post(PATH, headers=headers)).status_code == 500
        with redis.Redis.from_url(clean_redis) as client:
            (record,) = client.scan_iter("coinslot:*:payment:*")
            assert client.hmget(record, "state", "facilitator", "attempts") == [b"SETTLING", b"listing", b"1"]
            client.hset(record, "lease", 0)
        assert (await shop.post(PATH, headers=headers)).status_code == 200
    assert (len(lister.settles), facilitator.settles) == (1, [])


async def test_a_caller_who_left_is_settled_where_the_payment_was_sent(
    settings: Settings, worker: dramatiq.Worker, facilitator: Any, lister: Any, payer: Payer
) -> None:
    """Given no facilitator with evidence, when nobody asks again, then the reconciler repeats the settle call there."""
    facilitator.evidence, lister.script = "none", ["reset", "ok"]
    async with shop_of(settings) as (shop, _):
        answer = await shop.post(PATH, headers=payer.headers())
        assert answer.status_code == 503
    rails = configured_rails(settings)
    client = Redis(settings.ledger_url)
    try:
        await rails[0].start()
        ledger, sealer = Ledger(client), Sealer(read_key(settings.key_file), "payments")
        reconciler = Reconciler(ledger, rails, sealer, probe_s=1.0)
        give_up_at = time.monotonic() + 10
        while len(lister.settles) < 2 and time.monotonic() < give_up_at:
            await reconciler.run_once()
            await asyncio.sleep(0.05)
    finally:
        await rails[0].stop()
        client.close()
    assert (len(lister.settles), facilitator.settles) == (2, [])


async def test_a_catalogue_that_rejects_gets_the_next_one_a_day_later(
    settings: Settings, worker: dramatiq.Worker, lister: Any, payer: Payer, row: Any
) -> None:
    """With its reason, as far as it can be printed."""
    said = json.dumps({"bazaar": {"status": "rejected", "rejectedReason": "info\x00 is wrong\n"}})
    lister.headers = {"EXTENSION-RESPONSES": base64.b64encode(said.encode()).decode()}
    async with shop_of(settings) as (shop, _):
        answer = await shop.post(PATH, headers=payer.headers())
    assert answer.status_code == 200
    assert json.loads(row()["status"]) == {"status": "rejected", "rejectedReason": "info is wrong"}
    assert REJECTED_MS - 60_000 < pause_ms(row()) <= REJECTED_MS


async def test_what_the_usual_facilitator_lists_is_kept_too(
    settings: Settings,
    worker: dramatiq.Worker,
    facilitator: Any,
    lister: Any,
    payer: Payer,
    row: Any,
) -> None:
    """One that says so in /supported gets the shop's own description with every payment."""
    usual = dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, listing_facilitator_url=""))
    kinds = json.loads(facilitator.says)
    facilitator.says = json.dumps({**kinds, "extensions": ["bazaar"]}).encode()
    facilitator.headers = lister.headers
    async with shop_of(usual) as (shop, rail):
        assert await rail.health.is_ready()
        answer = await shop.post(PATH, headers=payer.headers())
    assert answer.status_code == 200
    assert facilitator.calls[0]["paymentPayload"]["resource"]["url"] == "http://shop.test" + PATH
    assert "bazaar" in facilitator.calls[0]["paymentPayload"]["extensions"]
    noted = row(host_of(facilitator.url))
    assert (noted["status"], "until" in noted) == ('{"status":"processing"}', False)
    assert noted["transaction"] == json.loads(base64.b64decode(answer.headers["PAYMENT-RESPONSE"]))["transaction"]


@each(
    "said",
    [
        "",
        "e30=",
        "=",
        "AAAA",
        '{"bazaar":[]}',
        '{"bazaar":{"status":"<b>"}}',
        '{"other":{"status":"success"}}',
        "[" * 9000,
    ],
)
def test_what_says_nothing_of_the_catalogue_is_nothing(said: str) -> None:
    assert bazaar_status(said) is bazaar_status(base64.b64encode(said.encode()).decode()) is None


def test_the_usual_facilitator_is_no_listing_facilitator(settings: Settings, facilitator: Any) -> None:
    own = dataclasses.replace(settings.evm, listing_facilitator_url=facilitator.url + "/")
    with pytest.raises(InvalidSetting, match="already: leave it out"):
        configured_rails(dataclasses.replace(settings, evm=own))
