"""Everything that is sold, bought: the documented example over the real API, ledger, queue and children, and its refusals."""

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
    ("json-repair", {"malformed": "{}", "schema": {"type": "nonsense"}}, "invalid_schema", "schema"),
    ("llm-tool-validate", {"schema": {"$ref": "file:///etc/passwd"}, "data": 1}, "remote_ref_not_allowed", "schema"),
    ("faker", {"template": {"a": "person.frstName"}}, "invalid_body", "template.a"),
    ("jwt-verify", {"token": "a.b.c", "publicKey": "no PEM"}, "invalid_key", "publicKey"),
    ("webhook-sig-verify", {"provider": "slack", "payload": "", "signature": "x", "secret": "s"}, "invalid_body", "timestamp"),
    ("regex-test", {"pattern": "(", "input": "a"}, "regex_syntax", "pattern"),
    ("ssl-info", {"hostname": "www.example.com", "port": 6379}, "blocked_address", "port"),
    ("dns", {"domain": "db.internal"}, "invalid_domain", "domain"),
    ("render-pro", {"url": "http://127.0.0.1/"}, "blocked_address", "url"),
    ("web-diff", {"url": "file:///etc/passwd"}, "invalid_url", "url"),
    ("tx-explain", {"txHash": "0x12"}, "invalid_body", "txHash"),
    ("wallet-doctor", {"address": HOLDER.replace("F", "f", 1), "chain": "base"}, "invalid_address", "address"),
    ("approval-safety", APPROVAL | {"amount": "-1"}, "invalid_body", "amount"),
    ("approval-safety", APPROVAL | {"spender": "vitalik.eth"}, "invalid_address", "spender"),
    *(
        (endpoint.name, {**endpoint.example.request, field: [[]]}, "invalid_body", field)
        for endpoint in PAID_ON_BASE
        for field in list(endpoint.example.request)[:1]
    ),
]  # fmt: skip
"""One of each code, which tests/jobs has of all fields; and of each endpoint a field of another type."""


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
