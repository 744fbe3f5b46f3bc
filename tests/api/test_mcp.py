"""The MCP server at /mcp: its messages, and that a tool is bought as the same call over HTTP is."""

import base64
import dataclasses
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import dramatiq
import httpx
import msgspec
import pytest
from litestar import Litestar
from x402.extensions.bazaar import validate_and_extract

from api.app import RELOAD
from api.mcp import results
from jobs.catalogue import BY_NAME
from shared.settings.service import Settings
from tests.api.paying import Payer, encoded

pytestmark = pytest.mark.anyio

SOLD = [BY_NAME[name] for name in ("echo", "json-repair", "chain/chain-id", "chain/erc1155-balance")]
ECHO = "/v1/cdp/echo"
NEWEST = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
}

Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """With a price list, in which nothing differs yet."""
    (tmp_path / "prices.toml").touch()
    return dataclasses.replace(settings, prices_file=str(tmp_path / "prices.toml"))


@pytest.fixture
def ask(shop: httpx.AsyncClient) -> Ask:
    """Sends a request; its result."""

    async def ask(method: str, *, path: str = "/mcp", **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": "a", "method": method, "params": params}
        answer = await shop.post(path, json=message)
        found = answer.json()
        assert (answer.status_code, found["jsonrpc"], found["id"]) == (200, "2.0", "a"), found
        return found["result"]

    return ask


@pytest.fixture
def call(ask: Ask) -> Ask:
    """Calls a tool."""

    async def call(name: str, arguments: Any, payment: Any = None, **more: Any) -> Any:
        meta = {} if payment is None else {"_meta": {"x402/payment": payment}}
        return await ask("tools/call", name=name, arguments=arguments, **meta, **more)

    return call


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("written", [dict, encoded])
@pytest.mark.parametrize("name", ["echo", "call_tool"])
async def test_the_same_payment_by_either_transport_is_one_purchase(
    shop: httpx.AsyncClient, call: Ask, payer: Payer, facilitator: Any, name: str, written: Callable[[Any], Any]
) -> None:
    """The answer and its receipt are the same, whichever was first, and however the body and the payment are written."""

    async def by_tool(payment: Any) -> tuple[Any, Any]:
        arguments = {"message": "hi"}
        arguments = arguments if name == "echo" else {"name": "echo", "arguments": arguments}
        result = await call(name, arguments, written(payment))
        assert (result["isError"], json.loads(result["content"][0]["text"])) == (False, result["structuredContent"])
        return result["structuredContent"], result["_meta"]["x402/payment-response"]

    async def by_post(payment: Any) -> tuple[Any, Any]:
        answer = await shop.post(ECHO, content=b'{ "message" : "hi" }', headers={"PAYMENT-SIGNATURE": encoded(payment)})
        return answer.json(), json.loads(base64.b64decode(answer.headers["payment-response"]))

    for first, then in ((by_tool, by_post), (by_post, by_tool)):
        payment = payer.payment()
        bought = await first(payment)
        assert (bought[0]["youSent"], bought[1]["success"]) == ("hi", True)
        assert await then(payment) == bought
    assert len(facilitator.settles) == len(set(facilitator.settles)) == 2


async def test_the_challenge_is_that_of_the_call_and_describes_the_tool(
    shop: httpx.AsyncClient, call: Ask, payer: Payer
) -> None:
    """With the same offers, as structured content and as text, and an extension that the SDK's facilitator takes."""
    result = await call("echo", {})
    challenge = result["structuredContent"]
    over_http = (await shop.post(ECHO)).json()
    assert (result["isError"], json.loads(result["content"][0]["text"])) == (True, challenge)
    assert result["_meta"] == {"x402/error": challenge}
    assert {key: challenge[key] for key in ("x402Version", "error", "accepts")} == {
        key: over_http[key] for key in ("x402Version", "error", "accepts")
    }
    assert challenge["resource"] == {**over_http["resource"], "url": "http://shop.test/mcp"}
    found = validate_and_extract(challenge["extensions"]["bazaar"])
    assert (found.errors, found.info.input.tool_name) == ([], "echo")
    assert challenge["extensions"].keys() == over_http["extensions"].keys()
    unlisted = (await call("chain_erc1155-balance", {}))["structuredContent"]
    assert "bazaar" not in unlisted["extensions"]

    elsewhere = await call("echo", {}, payer.payment(resource="https://other.example/mcp"))
    assert elsewhere["structuredContent"]["error"] == "resource_mismatch"


@pytest.mark.usefixtures("worker")
async def test_a_refusal_has_the_cause_of_the_call_over_http(
    call: Ask, payer: Payer, facilitator: Any, shop: httpx.AsyncClient
) -> None:
    """Uncharged: a wrong body, a payment that cannot be read, and one that the facilitator refuses, with its receipt."""
    payment = payer.payment()
    for arguments in ({"message": 5}, [], {"mesage": "hi"}):
        result = await call("echo", arguments, payment)
        over_http = await shop.post(ECHO, json=arguments, headers={"PAYMENT-SIGNATURE": encoded(payment)})
        problem, same = result["structuredContent"], over_http.json()
        assert (result["isError"], problem["status"], problem["charged"]) == (True, 400, False)
        assert problem | {"requestId": ""} == same | {"requestId": ""}
    for garbage in ("x", "", "\u00e9\n", '"', encoded(payment) + "=", [payment], {"x402Version": 2}, 1):
        assert (await call("echo", {}, garbage))["structuredContent"]["code"] == "invalid_payment"
    assert facilitator.settles == []

    facilitator.script = ["refuse"]
    refused = await call("echo", {}, payer.payment(resource="http://shop.test/mcp"))
    assert refused["structuredContent"]["error"] == "insufficient_funds"
    assert refused["_meta"]["x402/payment-response"]["success"] is False


@pytest.mark.parametrize("body", [b"[" * 10_000 + b"]" * 10_000, b'{"a":[' + b"[]," * 200 + b"1e999]}"])
def test_an_answer_that_cannot_be_decoded_is_text(body: bytes) -> None:
    """It is handed over all the same."""
    result = results.content(msgspec.Raw(body))
    assert (result["content"], "structuredContent" in result) == ([{"type": "text", "text": body.decode()}], False)


@pytest.mark.usefixtures("worker")
async def test_what_clients_could_not_read_is_text(call: Ask, payer: Payer) -> None:
    """An answer of more levels than their parsers take has no structured content. Ignored fields are named."""
    deep = "[" * 150 + "]" * 150
    result = await call("json-repair", {"malformed": deep, "comment": 1}, payer.payment(price="0.005"))
    assert (result["isError"], "structuredContent" in result) == (False, False)
    assert json.loads(result["content"][0]["text"])["repaired"] == json.loads(deep)
    assert result["content"][1]["text"] == 'Warnings: unknown_field;name="comment"'


async def test_tools_are_found_in_few_words(shop: httpx.AsyncClient, ask: Ask, call: Ask) -> None:
    """Three tools lead to all others; a parameter lists these. The unlisted one is in no list, and is sold."""
    few, every = await ask("tools/list"), await ask("tools/list", path="/mcp?tools=all")
    assert [tool["name"] for tool in few["tools"]] == ["search_tools", "describe_tool", "call_tool"]
    assert len(json.dumps(few)) < 4_000
    assert [tool["name"] for tool in every["tools"]] == ["echo", "json-repair", "chain_chain-id"]
    assert "Costs 0.001 dollars" in every["tools"][0]["description"]
    assert all(tool["inputSchema"]["type"] == "object" for tool in (*few["tools"], *every["tools"]))

    found = (await call("search_tools", {"query": "Repair JSON", "limit": 1}))["structuredContent"]
    assert [tool["name"] for tool in found["tools"]] == ["json-repair"]
    assert (await call("search_tools", {"query": "zebra"}))["structuredContent"] == {"tools": [], "total": 0}
    assert (await call("search_tools", {}))["structuredContent"]["total"] == 3
    for name in ("chain/chain-id", "chain_chain-id"):
        described = (await call("describe_tool", {"name": name}))["structuredContent"]
        assert (described["name"], described["priceDollars"]) == ("chain_chain-id", "0.001")
        assert described["example"]["arguments"] == BY_NAME["chain/chain-id"].example.request
        assert (await call("call_tool", {"name": name}))["structuredContent"]["x402Version"] == 2
    for tool, arguments in (
        ("describe_tool", {"name": "nothing"}),
        ("describe_tool", {}),
        ("call_tool", {"name": "search_tools"}),
        ("call_tool", {"name": "echo", "payment": 1}),
        ("search_tools", {"limit": 1000}),
        ("search_tools", []),
    ):
        result = await call(tool, arguments)
        assert (result["isError"], "structuredContent" in result) == (True, False), arguments
    assert (await shop.post("/mcp?tools=echo", json={})).json()["field"] == "tools"


async def test_what_is_listed_follows_the_prices(
    app: Litestar, settings: Settings, ask: Ask, call: Ask, payer: Payer
) -> None:
    """A price changes, and a call is no longer sold: its tool is not listed, and there is nothing to pay."""
    Path(settings.prices_file).write_text(  # noqa: ASYNC240  # a line
        'echo = "0.25"\njson-repair = false'
    )
    await app.state[RELOAD]()
    every = (await ask("tools/list", path="/mcp?tools=all"))["tools"]
    assert [tool["name"] for tool in every] == ["echo", "chain_chain-id"]
    assert "Costs 0.25 dollars" in every[0]["description"]
    assert (await call("describe_tool", {"name": "echo"}))["structuredContent"]["priceDollars"] == "0.25"
    assert (await call("echo", {}))["structuredContent"]["accepts"][0]["amount"] == "250000"
    assert (await call("json-repair", {}))["structuredContent"]["charged"] is False


async def test_versions_are_negotiated(shop: httpx.AsyncClient, ask: Ask) -> None:
    """`initialize` agrees on a version that both know; `server/discover` names all. Neither begins a session."""
    for wanted, agreed in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")):
        about = await ask(
            "initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "a", "version": "1"}
        )
        assert (about["protocolVersion"], about["capabilities"]) == (agreed, {"tools": {}})
        assert "x402/payment" in about["instructions"]
    assert NEWEST in (await ask("server/discover"))["supportedVersions"]
    noted = await shop.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (noted.status_code, noted.content, "mcp-session-id" in noted.headers) == (202, b"", False)
    assert await ask("ping") == {"resultType": "complete"}


REFUSED: list[tuple[dict[str, str], Any, int, int]] = [
    ({}, b"{", 400, -32700),
    ({}, b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', 400, -32700),
    ({}, b"[" * 100_000, 400, -32600),
    ({}, [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], 400, -32600),
    ({}, {"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
    ({}, {"jsonrpc": "2.0", "id": None, "method": "ping"}, 400, -32600),
    ({}, {"jsonrpc": "2.0", "id": 1, "result": {}}, 400, -32600),
    ({}, {"jsonrpc": "2.0", "id": 1, "method": "resources/list"}, 200, -32601),
    ({}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}}, 200, -32602),
    ({}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nothing"}}, 200, -32602),
    ({}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}, 200, -32602),
    ({"mcp-protocol-version": "1999-01-01"}, {"jsonrpc": "2.0", "id": 1, "method": "ping"}, 400, -32022),
    ({"mcp-protocol-version": NEWEST}, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, 400, -32602),
    (
        {"mcp-protocol-version": NEWEST, "mcp-method": "tools/call"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}},
        400,
        -32020,
    ),
    (
        {"mcp-protocol-version": NEWEST, "mcp-method": "tools/call", "mcp-name": "search_tools"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "_meta": ENVELOPE}},
        400,
        -32020,
    ),
    (
        {"mcp-protocol-version": NEWEST, "mcp-method": "prompts/list"},
        {"jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": {"_meta": ENVELOPE}},
        404,
        -32601,
    ),
    ({"origin": "not an origin"}, {"jsonrpc": "2.0", "id": 1, "method": "ping"}, 403, -32600),
]


async def test_what_is_no_request_is_refused(shop: httpx.AsyncClient) -> None:
    """With the error of JSON-RPC and the status that the version of the protocol has for it."""
    for headers, message, status, code in REFUSED:
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        answer = await shop.post("/mcp", content=content, headers={"content-type": "application/json", **headers})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), (headers, content[:80])


async def test_http_is_as_on_the_other_routes(shop: httpx.AsyncClient) -> None:
    """Pages of any origin may call, and read the answer; there is no stream and no session; bodies have a limit and a type."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = await shop.post("/mcp", json=ping, headers={"origin": "https://app.example", "x-request-id": "mine"})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    assert (answer.headers["x-request-id"], answer.headers["cache-control"]) == ("mine", "no-store, private")
    preflight = await shop.options("/mcp", headers={"origin": "https://app.example"})
    assert preflight.status_code == 204
    assert {"content-type", "mcp-protocol-version", "mcp-method", "mcp-name"} <= set(
        preflight.headers["access-control-allow-headers"].lower().split(", ")
    )
    for method in ("GET", "HEAD", "DELETE", "PUT"):
        refused = await shop.request(method, "/mcp")
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST, OPTIONS")
    json_type = {"content-type": "application/json"}
    too_large = (await shop.post("/mcp", content=b" " * 2_000_000, headers=json_type)).json()
    assert (too_large["code"], too_large["charged"]) == ("too_large", "unknown")
    assert (await shop.post("/mcp", content=b"{}", headers={"content-type": "text/plain"})).status_code == 415


@pytest.mark.usefixtures("worker")
async def test_a_request_without_a_handshake_is_answered(
    shop: httpx.AsyncClient, payer: Payer, worker: dramatiq.Worker
) -> None:
    """Of the newest version: its headers say what the message says."""
    params = {"name": "echo", "arguments": {}, "_meta": {**ENVELOPE, "x402/payment": payer.payment()}}
    headers = {"mcp-protocol-version": NEWEST, "mcp-method": "tools/call", "mcp-name": "echo"}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    answer = (await shop.post("/mcp", json=message, headers=headers)).json()
    assert (answer["id"], answer["result"]["resultType"], answer["result"]["isError"]) == (7, "complete", False)
