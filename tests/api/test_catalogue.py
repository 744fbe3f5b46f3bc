"""Everything that is sold, bought: the documented example over the real API, ledger, queue and children, and its refusals."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import dramatiq
import httpx
import msgspec
import pytest
import redis

from compose.sandbox.child import ROOT
from compose.sandbox.evm import start_chains
from jobs.catalogue import BY_NAME, CATALOGUE
from shared.endpoint import Endpoint
from shared.pools import Pool
from shared.settings.service import Settings
from shared.x402.networks import Rail
from tests.api.paying import Payer
from tests.each import each
from tests.replayed import assert_documented

pytestmark = pytest.mark.anyio

HOLDER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
APPROVAL = {"chain": "base", "token": HOLDER, "spender": HOLDER, "amount": "1"}
PAID_ON_BASE = [endpoint for endpoint in CATALOGUE if Rail.BASE in endpoint.rails and endpoint.pool is not Pool.RENDER]
"""test_wallet_watch.py has the other rail's, tests/e2e/test_pages.py those that need a browser."""

REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("echo", {"message": 5}, "invalid_body", "message"),
    ("echo", {"message": "x" * 501}, "invalid_body", "message"),
    ("json-repair", {"malformed": ""}, "invalid_body", "malformed"),
    ("json-repair", {"malformed": "{}", "schema": {"type": "nonsense"}}, "invalid_schema", "schema"),
    ("json-repair", {"malformed": "{}", "schema": {"$ref": "http://[::1]/s"}}, "remote_ref_not_allowed", "schema"),
    ("faker", {"template": {"a": "person.frstName"}}, "invalid_body", "template.a"),
    ("llm-tool-validate", {"schema": {"type": 5}, "data": 1}, "invalid_schema", "schema"),
    ("llm-tool-validate", {"schema": {"$ref": "file:///etc/passwd"}, "data": 1}, "remote_ref_not_allowed", "schema"),
    ("jwt-verify", {"token": "a.b.c"}, "invalid_body", "publicKey"),
    ("jwt-verify", {"token": "a.b.c", "publicKey": "no PEM"}, "invalid_key", "publicKey"),
    ("jwt-verify", {"token": "a.b.c", "sharedSecret": "%", "secretEncoding": "hex"}, "invalid_key", "sharedSecret"),
    (
        "webhook-sig-verify",
        {"provider": "nobody", "payload": "", "signature": "x", "secret": "s"},
        "invalid_body",
        "provider",
    ),
    (
        "webhook-sig-verify",
        {"provider": "slack", "payload": "", "signature": "x", "secret": "s"},
        "invalid_body",
        "timestamp",
    ),
    ("regex-test", {"pattern": "(", "input": "a"}, "regex_syntax", "pattern"),
    ("regex-test", {"pattern": "a", "flags": "gg", "input": "a"}, "invalid_body", "flags"),
    ("ssl-info", {}, "invalid_body", "hostname"),
    ("ssl-info", {"hostname": "93.184.215.14"}, "blocked_address", "hostname"),
    ("ssl-info", {"host": "localhost"}, "blocked_address", "host"),
    ("ssl-info", {"hostname": "a b.example.com"}, "invalid_domain", "hostname"),
    ("ssl-info", {"hostname": "www.example.com", "port": 6379}, "blocked_address", "port"),
    ("pii-redact", {"text": "a", "patterns": []}, "invalid_body", "patterns"),
    ("pii-redact", {"text": ""}, "invalid_body", "text"),
    ("youtube", {"url": "coinslot-01"}, "invalid_url", "url"),
    ("youtube", {"url": "http://127.0.0.1/watch?v=coinslot-01"}, "invalid_url", "url"),
    ("youtube", {"url": "https://youtu.be/coinslot-01", "lang": "english"}, "invalid_body", "lang"),
    ("dns", {"domain": "0x7f.1"}, "invalid_domain", "domain"),
    ("dns", {"domain": "db.internal"}, "invalid_domain", "domain"),
    ("dns", {"domain": "example.com", "recordType": "PTR"}, "invalid_body", "recordType"),
    ("render-pro", {}, "invalid_body", "url"),
    ("render-pro", {"url": "site.example.com"}, "invalid_url", "url"),
    ("render-pro", {"url": "http://127.0.0.1/"}, "blocked_address", "url"),
    ("render-pro", {"url": "https://example.com/", "extract": "all"}, "invalid_body", "extract"),
    ("render-pro", {"url": "https://example.com/", "focus": "x" * 501}, "invalid_body", "focus"),
    ("render-pro", {"url": "https://example.com/", "sinceCursor": "x"}, "invalid_body", "sinceCursor"),
    ("web-diff", {"url": "file:///etc/passwd"}, "invalid_url", "url"),
    ("web-diff", {"url": "https://example.com/", "previousMarkdown": 5}, "invalid_body", "previousMarkdown"),
    ("x402-discover", {"url": "shop.example.com"}, "invalid_url", "url"),
    ("x402-discover", {"url": "http://127.0.0.1/"}, "blocked_address", "url"),
    ("x402-discover", {"url": "https://shop.example.com/", "limit": 501}, "invalid_body", "limit"),
    ("prompt-injection-scan", {"text": "x" * 100_001}, "invalid_body", "text"),
    ("whois", {"domain": "a b.com"}, "invalid_domain", "domain"),
    ("whois", {"domain": "127.0.0.1"}, "blocked_address", "domain"),
    ("rss", {"url": "feeds.example.com/news.rss"}, "invalid_url", "url"),
    ("rss", {"url": "http://127.0.0.1/news.rss"}, "blocked_address", "url"),
    ("rss", {"url": "https://feeds.example.com/", "limit": 101}, "invalid_body", "limit"),
    ("tx-explain", {"txHash": "0x12"}, "invalid_body", "txHash"),
    ("wallet-doctor", {"chain": "base"}, "invalid_body", "address"),
    ("wallet-doctor", {"address": HOLDER.replace("F", "f", 1), "chain": "base"}, "invalid_address", "address"),
    ("approval-safety", APPROVAL | {"amount": "-1"}, "invalid_body", "amount"),
    ("approval-safety", APPROVAL | {"spender": "vitalik.eth"}, "invalid_address", "spender"),
    ("chain/chain-id", {"chain": "solana"}, "invalid_body", "chain"),
    ("chain/erc20-balance", {"chain": "base", "token": HOLDER}, "invalid_body", "address"),
    (
        "chain/allowance",
        {"chain": "base", "token": "0x", "owner": HOLDER, "spender": HOLDER},
        "invalid_address",
        "token",
    ),
    ("chain/nft-owner", {"chain": "base", "token": HOLDER, "tokenId": str(2**256)}, "invalid_body", "tokenId"),
    (
        "chain/erc1155-balance",
        {"chain": "base", "token": HOLDER, "address": HOLDER, "tokenId": "a"},
        "invalid_body",
        "tokenId",
    ),
    ("chain/estimate-gas", {"chain": "base", "to": HOLDER, "data": "0x0"}, "invalid_body", "data"),
    ("chain/call", {"chain": "base", "to": HOLDER, "value": "1.5"}, "invalid_body", "value"),
    ("chain/storage", {"chain": "base", "address": HOLDER, "slot": "0x"}, "invalid_body", "slot"),
]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings of local chains with their scenes: those that scripts/run starts."""
    chains = start_chains(tmp_path_factory.mktemp("chains"), node_folders=[ROOT / "var" / "node"])
    base, ethereum = chains
    yield {"RPC_BASE_URLS": base.rpc_url, "RPC_ETHEREUM_URLS": ethereum.rpc_url}
    for chain in chains:
        chain.stop()


@pytest.fixture
def settings(settings: Settings, nodes: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    """With nodes, also for the worker."""
    for name, value in nodes.items():
        monkeypatch.setenv(f"COINSLOT_{name}", value)
    urls = {name.lower(): (value,) for name, value in nodes.items()}
    return dataclasses.replace(settings, **urls)  # type: ignore[arg-type]


@each("endpoint", PAID_ON_BASE)
async def test_the_documented_example_is_what_a_paid_call_gives(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, endpoint: Endpoint
) -> None:
    """README's table, OpenAPI's examples and bazaar's show calls that were made."""
    answer = await shop.post(
        endpoint.path, json=endpoint.example.request, headers=payer.headers(price=str(endpoint.price.value))
    )
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["payment-response"]
    assert_documented(answer.json(), endpoint.example.response)


@each(("name", "body", "code", "field"), REFUSED, ids=[f"{row[0]}-{row[3]}-{row[2]}" for row in REFUSED])
async def test_a_wrong_body_is_refused_before_it_is_charged(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    facilitator: Any,
    payer: Payer,
    name: str,
    body: dict[str, Any],
    code: str,
    field: str,
) -> None:
    """400 with the documented code and the field, and nothing settled."""
    endpoint = BY_NAME[name]
    answer = await shop.post(endpoint.path, json=body, headers=payer.headers(price=str(endpoint.price.value)))
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["charged"]) == (400, code, False), problem
    assert problem["field"] == field, problem
    assert facilitator.settles == []


async def test_a_secret_is_nowhere_but_in_the_sealed_message(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, clean_redis: str, caplog: Any
) -> None:
    """What a caller sends to be verified is in no answer, no log and nothing that Redis keeps."""
    secret = "canary-5f0d1a77"
    signature = hmac.new(secret.encode(), b"{}", hashlib.sha256).hexdigest()
    calls = {
        "webhook-sig-verify": {
            "provider": "github",
            "payload": "{}",
            "signature": f"sha256={signature}",
            "secret": secret,
        },
        "jwt-verify": {"token": "a.b.c", "sharedSecret": secret},
    }
    for name, body in calls.items():
        endpoint = BY_NAME[name]
        answer = await shop.post(endpoint.path, json=body, headers=payer.headers(price=str(endpoint.price.value)))
        assert answer.status_code == 200
        assert secret not in answer.text
    with redis.Redis.from_url(clean_redis) as client:
        kept: Any = client.keys("*")
        assert not any(secret.encode() in bytes(client.dump(key) or b"") for key in kept)
    assert secret not in caplog.text


def test_what_children_answer_when_they_are_killed() -> None:
    """Each endpoint that runs in a child has an answer for a request that was too much, in its own form."""
    for endpoint in CATALOGUE:
        if endpoint.exhausted is None:
            continue
        request = msgspec.json.decode(msgspec.json.encode(endpoint.example.request), type=endpoint.request)
        answer = msgspec.to_builtins(endpoint.exhausted(request))
        assert answer["ok"] is False, endpoint.name
        assert set(answer) == set(endpoint.example.response), endpoint.name
