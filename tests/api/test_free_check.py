"""The free check of a body says what a paid call says."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from redis import Redis

from api.app import create_app
from api.pages import free_work
from jobs.catalogue import BY_NAME, CATALOGUE
from shared.endpoint import Endpoint
from shared.settings.service import Settings
from tests.api.paying import Payer, encoded

pytestmark = pytest.mark.anyio


def broken(endpoint: Endpoint) -> Iterator[bytes]:
    """Bodies with a slip in a name, a value of another type, no value, another top level, and what is no JSON."""
    good = endpoint.example.request
    name, value = next(iter(good.items()))
    others = {key: other for key, other in good.items() if key != name}
    yield json.dumps({**others, f"{name}_": value}).encode()
    yield json.dumps({**good, name: {"": [5]}}).encode()
    yield json.dumps({**good, name: None}).encode()
    yield json.dumps([good]).encode()
    yield json.dumps({**good, name: "\ud83d"}).encode()
    yield b'{"\xff": '


async def checked(shop: httpx.AsyncClient, endpoint: Endpoint, body: bytes) -> str:
    """What is said of a body, as Markdown."""
    headers = {"Accept": "text/markdown", "Content-Type": "application/x-www-form-urlencoded"}
    page = await shop.post(f"/bazaar/{endpoint.name}", content=urlencode({"body": body}), headers=headers)
    return page.text


def kept(redis: Any) -> set[bytes]:
    """The keys of the ledger, but for those of the status page, which the service writes by the clock."""
    return {key for key in redis.scan_iter() if b":status:" not in key}


async def test_a_refusal_is_that_of_a_paid_call(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, clean_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code, sentences and suggestions, for every call that is listed. Neither is charged, and a check leaves no key."""
    monkeypatch.setattr(free_work, "SHARE", 1.0)
    sold = [one for one in CATALOGUE if (await shop.get(f"/bazaar/{one.name}")).status_code == 200]
    refused = 0
    with Redis.from_url(clean_redis) as redis:
        for endpoint in sold:
            headers = {"Content-Type": "application/json"}
            headers["PAYMENT-SIGNATURE"] = encoded(payer.payment(price=endpoint.price.text()))
            for body in broken(endpoint):
                answer = await shop.post(endpoint.path, content=body, headers=headers)
                problem, keys = answer.json(), kept(redis)
                said = await checked(shop, endpoint, body)
                assert kept(redis) == keys
                if answer.status_code == 400:
                    refused += 1
                    assert "would be refused\n" in said
                    assert f"is answered 400 [{problem['code']}]" in said
                    assert problem["detail"] in said
                    for detail in problem["details"]:
                        assert all(f"`{one}`" in said for one in detail.get("suggestions", ()))
                else:  # null is a value here
                    assert (answer.status_code, problem["reason"]) == (503, "no_worker")
                    assert "would be taken\n" in said
    assert len(sold) >= 27
    assert refused >= 5 * len(sold)
    assert facilitator.settles == []


async def test_each_api_of_a_process_has_its_own_site(settings: Settings) -> None:
    """Its own host, its ports and its chains are those of its settings, whatever another one has."""
    node = "http://127.0.0.1:9"
    first = replace(settings, base_url="https://one.example.com", rpc_ethereum_urls=(), rpc_base_urls=(node,))
    second = replace(settings, egress_ports="8000", rpc_ethereum_urls=(node,), rpc_base_urls=(node,))
    bodies = {
        "rss": {"url": "https://one.example.com/"},
        "x402-discover": {"url": "http://a.example.com:8000/"},
        "chain/chain-id": {"chain": "ethereum"},
    }
    said = []
    for app in [create_app(first), create_app(second)]:
        transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://shop.test") as shop:
            texts = [await checked(shop, BY_NAME[name], json.dumps(body).encode()) for name, body in bodies.items()]
        said.append(["would be refused" in text for text in texts])
    assert said == [[True] * 3, [False] * 3]
