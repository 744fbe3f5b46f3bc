"""`coinslot-ops listing` beside a real API: what indexers need of each call, and where it is listed."""

import base64
import dataclasses
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import redis
from aiohttp import web
from litestar import Litestar

from api.app import create_app
from jobs.catalogue import BY_NAME
from ops import listing, listing_state
from ops.listing import Examined, Unreachable, examine
from ops.listing_rules import Answer, lacks
from shared.ledger.listing import host_of, listing_key
from shared.settings.rails import XrplRailSettings
from shared.settings.service import Settings
from shared.x402.networks import Rail
from tests.cdp_bazaar import Validator
from tests.each import each

pytestmark = pytest.mark.anyio

BASE = "https://shop.test"
SOLD = (BY_NAME["echo"], BY_NAME["dns"], dataclasses.replace(BY_NAME["json-repair"], listed=False))
ECHO = f"{BASE}/v1/cdp/echo"


@asynccontextmanager
async def validating(app: Litestar) -> AsyncIterator[tuple[Validator, str, httpx.AsyncClient]]:
    """A running shop at BASE, the validator with its address, and a client that reaches both."""
    shop = httpx.ASGITransport(app)  # type: ignore[arg-type]
    async with app.lifespan(), httpx.AsyncClient(mounts={BASE: shop}, trust_env=False) as client:
        validator = Validator(lambda method, url: client.request(method, url))
        served = web.Application()
        served.router.add_post("/x402/validate", validator.validate)
        runner = web.AppRunner(served, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield validator, f"http://127.0.0.1:{runner.addresses[0][1]}/x402", client
        finally:
            await runner.cleanup()


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return dataclasses.replace(settings, base_url=BASE)


def listed_at(settings: Settings, url: str) -> Settings:
    return dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, listing_facilitator_url=url))


async def examined(client: httpx.AsyncClient, settings: Settings) -> dict[str, Examined]:
    with redis.Redis.from_url(settings.ledger_url) as ledger:
        return {one.endpoint: one for one in await examine(client, settings, ledger)}


async def test_what_the_shop_serves_lacks_nothing(settings: Settings, clean_redis: str) -> None:
    """Each listed call, by x402scan's rules and by Coinbase's; with what the ledger knows of its listing, and no other call."""
    async with validating(create_app(settings, SOLD)) as (validator, url, client):
        validator.index[ECHO] = {"active": True, "lastCrawledAt": "2026-11-01T12:00:00Z"}
        now_ms = int(time.time() * 1000)
        row = {"settled": now_ms, "transaction": "0x1", "until": now_ms + 1, "status": '{"status":"processing"}'}
        with redis.Redis.from_url(clean_redis) as ledger:
            ledger.hset(listing_key(host_of(url), ECHO), mapping=row)
        found = await examined(client, listed_at(settings, url))

    assert {name: one.lacks for name, one in found.items()} == {"echo": [], "dns": []}
    assert found["echo"].validator == "valid, listed; it recommends resource.icon_url"
    assert found["dns"].validator.startswith("valid, not listed yet")
    assert [asked["method"] for asked in validator.asked] == ["POST"] * 2
    (listed,) = found["echo"].listed
    assert (listed.transaction, listed.status, listed.until > listed.settled) == ("0x1", {"status": "processing"}, True)
    assert listing_state.sentence_of(listed).startswith(f"{host_of(url)}: listed until ")
    (unlisted,) = found["dns"].listed
    assert (unlisted.until, unlisted.settled) == ("", "")


async def test_a_call_that_is_sold_on_other_networks_only_lacks_nothing(settings: Settings, facilitator: Any) -> None:
    """Nobody can list it: a note says so. Where no call is on Base or Solana, the shop lacks these rails."""
    network = {"x402Version": 2, "scheme": "exact", "network": "xrpl:0", "extra": {"ledger": 100}}
    facilitator.says = json.dumps({"kinds": [*json.loads(facilitator.says)["kinds"], network]}).encode()
    xrpl = XrplRailSettings(pay_to="rKRuYKh7Y3nPoVzEKDRUpbq6aZyP8XWdCT", facilitator_url=facilitator.url)
    own = dataclasses.replace(settings, xrpl=xrpl)
    watch = dataclasses.replace(BY_NAME["json-repair"], rails=(Rail.XRPL_RLUSD,))
    async with validating(create_app(own, (BY_NAME["echo"], watch))) as (validator, url, client):
        found = await examined(client, listed_at(own, url))
        assert {name: (list(one.lacks), one.note) for name, one in found.items()} == {
            "echo": ([], ""),
            "json-repair": ([], listing.ELSEWHERE),
        }
        assert len(validator.asked) == 1
    async with validating(create_app(own, (watch,))) as (_, _, client):
        (lack,) = (await examined(client, own))["json-repair"].lacks
        assert "Base or Solana" in lack


async def test_what_the_validator_refuses_is_a_lack(settings: Settings) -> None:
    """With its reasons; an answer that is none is nobody's fault."""
    async with validating(create_app(settings, SOLD[:1])) as (_, url, client):
        assert await listing.validated(client, url, f"{BASE}/free") == (
            False,
            "invalid discovery configuration; returns_402: returns_402 was examined.; parse: parse was examined.; "
            "has_bazaar_extension: has_bazaar_extension was examined.",
        )
        assert await listing.validated(client, url + "/nowhere", ECHO) == (None, "no verdict: HTTP 404")
        assert (await listing.validated(client, "http://127.0.0.1:1", ECHO))[0] is None
        assert (await listing.validated(client, url, "http://shop.test/v1/cdp/echo"))[0] is None
        away = dataclasses.replace(settings, base_url="http://127.0.0.1:1")
        with pytest.raises(Unreachable, match="COINSLOT_BASE_URL"):
            await examined(client, away)


@pytest.fixture(scope="module")
def taken() -> dict[str, Any]:
    """A challenge that has all that it takes, and its operation."""
    resource = {"url": ECHO, "description": "Says it back.", "serviceName": "Shop", "tags": ["utility"]}
    offer = {"scheme": "exact", "network": "eip155:8453", "amount": "1000", "asset": "0x1", "payTo": "0x2"}
    described = {"info": {"input": {"type": "http", "method": "POST", "body": {}}}}
    schema = {"content": {"application/json": {"schema": {"type": "object"}}}}
    challenge = {"x402Version": 2, "resource": resource, "accepts": [{**offer, "maxTimeoutSeconds": 60}]}
    operation = {
        "x-payment-info": {"price": {"mode": "fixed"}, "protocols": [{"x402": offer}]},
        "requestBody": schema,
        "responses": {"200": schema, "402": {}},
    }
    return {"challenge": {**challenge, "extensions": {"bazaar": described}}, "operation": operation}


def changed(content: Any, path: str, value: Any) -> Any:
    """A copy with another value at a path; None: without it."""
    copy = json.loads(json.dumps(content))
    *parents, last = path.split(".")
    inside = copy
    for name in parents:
        inside = inside[int(name) if name.isdigit() else name]
    if value is None:
        del inside[last]
    else:
        inside[last] = value
    return copy


def answer(challenge: Any) -> Answer:
    return Answer(402, base64.b64encode(json.dumps(challenge).encode()).decode(), challenge)


@each(
    ("path", "value", "words"),
    [
        ("challenge.x402Version", 1, "version 2"),
        ("challenge.resource.url", "http://shop.test/v1/cdp/echo", "COINSLOT_BASE_URL"),
        ("challenge.resource.description", "x" * 501, "500 characters"),
        ("challenge.resource.serviceName", "Späti", "ASCII"),
        ("challenge.resource.tags", list("abcdef"), "tags"),
        ("challenge.accepts.0.network", "stellar:pubnet", "Base or Solana"),
        ("challenge.accepts.0.maxTimeoutSeconds", None, "lacks one of"),
        ("challenge.extensions", {}, "extension `bazaar`"),
        ("operation.x-payment-info.price", None, "x-payment-info"),
        ("operation.x-payment-info.protocols.0.x402.amount", "999", "another price"),
        ("operation.responses.402", None, "no response 402"),
        ("operation.requestBody", None, "schema of the body"),
        ("operation.responses.200", None, "schema of the answer"),
    ],
)
def test_each_rule_finds_what_breaks_it(path: str, value: Any, words: str, taken: dict[str, Any]) -> None:
    """And nothing else."""
    assert list(lacks(ECHO, answer(taken["challenge"]), answer(taken["challenge"]), taken["operation"])) == []
    made = changed(taken, path, value)
    (sentence,) = lacks(ECHO, answer(made["challenge"]), None, made["operation"])
    assert words in sentence


def test_what_is_no_challenge_is_found(taken: dict[str, Any]) -> None:
    good = answer(taken["challenge"])

    def found(url: str = ECHO, empty: Answer = good, example: Answer | None = good) -> list[str]:
        return list(lacks(url, empty, example, taken["operation"]))

    assert found(empty=Answer(400, "", None)) == ["a POST without a body is answered 400, not 402"]
    assert found(empty=Answer(0, "", None)) == ["a POST without a body is answered not at all, not 402"]
    assert found(empty=good._replace(header="?")) == ["PAYMENT-REQUIRED is not base64 of a JSON object"]
    assert found(empty=good._replace(body={})) == ["the body is another challenge than PAYMENT-REQUIRED"]
    assert found(example=Answer(422, "", None)) == ["its own example without a payment is answered 422, not 402"]
    assert found("http://shop.test/v1/cdp/echo")[0] == "its address is not https"


async def test_the_doctor_says_what_the_catalogue_did_not_take(
    settings: Settings, clean_redis: str, lister: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = listed_at(settings, lister.url)
    assert list(listing_state.findings(settings)) == []
    items = [
        {"resource": url, "type": kind, "accepts": [{"network": network}]}
        for url, kind, network in (
            (ECHO, "http", "eip155:8453"),
            ("other", "http", "xrpl:0"),
            ("tools", "mcp", "eip155:8453"),
        )
    ]
    monkeypatch.setattr(listing_state, "get_json", lambda url: (200, {"items": items}))
    find: Callable[[], list[Any]] = lambda: list(listing_state.findings(own))  # noqa: E731
    host = host_of(lister.url)
    assert find() == [
        (
            "warn",
            f"0 of 1 calls were settled at {host} within 30 days, the others are not listed: see coinslot-ops listing",
        )
    ]
    with redis.Redis.from_url(clean_redis) as ledger:
        row = {"settled": int(time.time() * 1000), "status": '{"status":"success"}'}
        ledger.hset(listing_key(host, ECHO), mapping=row)
        assert find() == [("ok", f"each call was settled at {host} within 30 days")]
        said = {"status": "rejected", "rejectedReason": "info failed schema validation"}
        ledger.hset(listing_key(host, ECHO), "status", json.dumps(said))
    assert find()[1] == ("warn", f"{host} did not take {ECHO} into its catalogue: info failed schema validation")
    lister.says = b'{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:1"}]}'
    assert find()[0] == ("fail", f"{host} does not settle on eip155:8453")
