"""The tools of `coinslot mcp` over a scripted shop, with the protocol's own client in the same process."""

import asyncio
import dataclasses
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.lowlevel.server import Server

from coinslot import gone_clients, mcp_command, openapi_tools
from coinslot.evm_signer import EvmSigner
from coinslot.mcp_command import Owner
from coinslot.payment_folder import PaymentFolder, claim
from coinslot.spending_caps import Caps
from tests.client.conftest import Canned, Seen, Shop, configured, listed

pytestmark = pytest.mark.anyio
CAPS = Caps(Decimal("0.01"), Decimal("0.003"), Decimal(1), {})
FREE = ["catalogue", "quote", "spend_status"]


@pytest.fixture
def anyio_backend() -> str:
    """The server runs on it."""
    return "asyncio"


def document(**schemas: Any) -> dict[str, Any]:
    """An OpenAPI document of calls with these request schemas, and components that refer to themselves and outside."""
    return {
        "paths": {
            f"/v1/cdp/{name}": {
                "post": {
                    "summary": "Says it back.",
                    "x-payment-info": {"price": {"amount": "0.001000"}},
                    "requestBody": {"content": {"application/json": {"schema": schema}}},
                    "responses": {"200": {"content": {"application/json": {"schema": {"type": "object"}}}}},
                }
            }
            for name, schema in schemas.items()
        },
        "components": {
            "schemas": {
                "Tree": {
                    "type": "object",
                    "properties": {"children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}},
                },
                "Outside": {"type": "object", "properties": {"a": {"$ref": "https://elsewhere.example/schema"}}},
            }
        },
    }


Serve = Callable[..., AbstractAsyncContextManager[Client]]


MakeServer = Callable[[Caps | None], AbstractAsyncContextManager[Server[Any]]]


@pytest.fixture
def serve(shop: Shop, server: MakeServer) -> Serve:
    """Serves the tools of the shop, which sells echo."""
    content = document(echo={"type": "object", "properties": {"message": {"type": "string"}}})
    shop.documents["/openapi.json"] = Canned(200, json.dumps(content).encode())

    @asynccontextmanager
    async def serving(caps: Caps | None = CAPS) -> AsyncIterator[Client]:
        async with server(caps) as tools, Client(tools) as client:
            yield client

    return serving


@pytest.fixture
def server(shop: Shop, tmp_path: Path) -> MakeServer:
    """Makes the server."""

    @asynccontextmanager
    async def serving(caps: Caps | None) -> AsyncIterator[Server[Any]]:
        missing = ("No cap is set.",)
        owner = Owner(shop.base_url, caps, configured(shop.base_url, tmp_path), missing, None, missing)
        async with mcp_command.serving(owner, timeout_s=5) as tools:
            yield tools.server("1")

    return serving


def left(status: Any) -> str:
    """What is left of the day's cap."""
    return str(status.structured_content["today"]["left"])


async def test_without_caps_only_the_free_tools_are_served(serve: Serve, shop: Shop) -> None:
    """And spend_status says what is missing."""
    async with serve(None) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == FREE
        status = (await client.call_tool("spend_status")).structured_content
        missing = {"ready": False, "missing": ["No cap is set."]}
        assert status == {**missing, "pageDelta": missing}
        assert (await client.call_tool("echo", {"message": "hi"})).is_error
    assert shop.payments == []


async def test_an_answer_that_was_handed_over_is_no_open_payment(serve: Serve, tmp_path: Path) -> None:
    """Its file is there for some seconds, and an agent that reads of an open payment tries to fetch the answer again."""
    async with serve() as client:
        await client.call_tool("echo", {"message": "hi"})
        assert len(PaymentFolder(tmp_path).files()) == 1
        assert (await client.call_tool("spend_status")).structured_content["openPayments"] == 0


async def test_refused_and_unknown_payments_count_and_unknown_ones_are_kept(
    serve: Serve, shop: Shop, tmp_path: Path
) -> None:
    """The shop may settle what it has refused. The payment of a failure after which nobody knows is kept, too."""
    shop.paid = [
        shop.demand({**shop.challenge(), "error": "insufficient_funds"}),
        shop.problem(500, charged="unknown"),
    ]
    async with serve() as client:
        refused = await client.call_tool("echo", {"message": "hi"})
        assert "Nothing was charged" in refused.content[0].text
        # Some clients hold structured content against the output schema although it is a failure.
        assert refused.structured_content is None
        assert refused.meta["coinslot/error"]["charged"] is False
        assert left(await client.call_tool("spend_status")) == "0.002"
        unknown = await client.call_tool("echo", {"message": "hi"})
        assert f"coinslot resume {tmp_path}" in unknown.content[0].text
        assert left(await client.call_tool("spend_status")) == "0.001"
    assert len(list(PaymentFolder(tmp_path).files())) == 1


async def test_a_cap_of_a_call_that_is_not_sold_is_reported(
    serve: Serve, shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cap with a misspelt name limits nothing, and its owner relies on it."""
    caps = dataclasses.replace(CAPS, per_endpoint={"echo": Decimal("0.002"), "ecko": Decimal("0.001")})
    async with serve(caps) as client:
        await client.list_tools()
        endpoints = (await client.call_tool("spend_status")).structured_content["endpoints"]
    assert endpoints["echo"] == {"capToday": "0.002", "leftToday": "0.002"}
    assert "sells no call of this name" in endpoints["ecko"]["missing"]
    assert (
        capsys.readouterr().err
        == "coinslot mcp: the cap of ecko limits nothing: the server sells no call of this name\n"
    )


async def test_a_changed_recipient_is_not_paid(serve: Serve, shop: Shop, tmp_path: Path) -> None:
    """Nothing is reserved or signed, and the message says what changed."""
    async with serve() as client:
        assert not (await client.call_tool("echo", {"message": "hi"})).is_error
        shop.unpaid = [
            lambda seen: shop.demand(shop.challenge(seen.path, payTo="0x000000000000000000000000000000000000dEaD"))
        ]
        drifted = await client.call_tool("echo", {"message": "hi"})
        assert "the recipient is '0x000000000000000000000000000000000000dEaD', and was" in drifted.content[0].text
        assert left(await client.call_tool("spend_status")) == "0.002"
    assert (len(shop.payments), (tmp_path / "reservations.jsonl").read_text().count("reserved")) == (1, 1)


async def test_a_call_that_is_cancelled_before_it_is_sent_is_given_back(
    serve: Serve, shop: Shop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It left no payment that could ever be charged, so nothing else would give it back."""
    scope, sign = anyio.CancelScope(), EvmSigner.sign

    def signed(*arguments: Any, **options: Any) -> dict[str, Any]:
        anyio.from_thread.run_sync(scope.cancel)
        return sign(*arguments, **options)

    monkeypatch.setattr(EvmSigner, "sign", signed)
    async with serve() as client:
        with scope:
            await client.call_tool("echo", {"message": "hi"})
        assert left(await client.call_tool("spend_status")) == "0.003"
    assert (shop.payments, PaymentFolder(tmp_path).files()) == ([], [])


async def test_a_cancelled_call_keeps_its_payment(serve: Serve, shop: Shop, tmp_path: Path) -> None:
    """It continues to count, and `coinslot resume` can fetch the answer."""
    shop.paid = [shop.problem(503, charged="unknown", retryWithSamePayment=True, retry_after=9)]
    scope = anyio.CancelScope()

    async def interrupt(_: float, __: float | None, message: str | None) -> None:
        if message and message.endswith("the same payment is sent again in 9 s"):
            scope.cancel()

    async with serve() as client:
        with scope:
            await client.call_tool("echo", {"message": "hi"}, progress_callback=interrupt)
        assert scope.cancelled_caught
        assert left(await client.call_tool("spend_status")) == "0.002"
    assert len(PaymentFolder(tmp_path).files()) == 1


@pytest.mark.parametrize("body", [b'{"a":' + 150 * b"[" + 150 * b"]" + b"}", b'{"other":1}', b'["other"]'])
async def test_an_answer_of_another_form_arrives_as_text(serve: Serve, shop: Shop, body: bytes) -> None:
    """A client that cannot take it as structured content drops the whole result, which is paid."""
    content = document(echo={"type": "object"})
    answers = content["paths"]["/v1/cdp/echo"]["post"]["responses"]["200"]["content"]["application/json"]
    answers["schema"]["properties"] = {"a": {}}
    answers["schema"]["required"] = ["a"]
    shop.documents["/openapi.json"] = dataclasses.replace(
        shop.documents["/openapi.json"], body=json.dumps(content).encode()
    )
    shop.paid = [lambda seen: shop.sell(seen, body)]
    async with serve() as client:
        await client.list_tools()
        answer = await client.call_tool("echo", {})
    assert (answer.is_error, answer.structured_content) == (True, None)
    assert [part.text for part in answer.content][1:] == [body.decode()]
    assert answer.meta["x402/payment-response"]["success"] is True


@pytest.mark.usefixtures("serve")
async def test_an_answer_whose_http_client_has_gone_is_kept(server: MakeServer, shop: Shop, tmp_path: Path) -> None:
    """In the protocol's versions with sessions a closed connection does not cancel the call, and nobody gets its answer."""
    loop, close, closed = asyncio.get_running_loop(), anyio.Event(), threading.Event()

    def sell(seen: Seen) -> Canned:
        loop.call_soon_threadsafe(close.set)
        assert closed.wait(10)
        return shop.sell(seen)

    shop.paid = [sell]
    headers = {
        "host": "127.0.0.1:1",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }

    async def post(app: Any, method: str, **params: Any) -> None:
        number = {} if method.startswith("notifications/") else {"id": 1}
        body = [json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **number}).encode()]

        async def receive() -> dict[str, Any]:
            if body:
                return {"type": "http.request", "body": body.pop(), "more_body": False}
            await close.wait()
            closed.set()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers.update(
                    (name.decode(), value.decode()) for name, value in message["headers"] if name[:4] == b"mcp-"
                )

        scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "http_version": "1.1"}
        await app({**scope, "headers": [(a.encode(), b.encode()) for a, b in headers.items()]}, receive, send)

    async with server(CAPS) as tools:
        app = tools.streamable_http_app(host="127.0.0.1")
        async with app.router.lifespan_context(app):
            watched = gone_clients.watched(app)
            host = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}
            await post(watched, "initialize", **host)
            await post(watched, "notifications/initialized")
            await post(watched, "tools/call", name="echo", arguments={})
            with anyio.fail_after(10):
                while not (tmp_path / "spent.jsonl").exists():  # noqa: ASYNC110  # the server's task writes it
                    await anyio.sleep(0.01)
    (path,) = PaymentFolder(tmp_path).files()
    claim(path).release()


async def test_unknown_arguments_and_tools_are_refused(serve: Serve, shop: Shop) -> None:
    """Before anything is sent to the shop."""
    async with serve() as client:
        before = len(shop.seen)
        for name, arguments in (
            ("echo", {"max_price": "1"}),
            ("echo", {"message": 1}),
            ("spend_status", {"perDay": 9}),
        ):
            assert (await client.call_tool(name, arguments)).is_error
        assert (await client.call_tool("raise_cap", {})).is_error
        assert [seen.path for seen in shop.seen[before:]] in ([], ["/openapi.json"])


async def test_schemas_are_complete_and_lead_nowhere() -> None:
    """Components are copied; a reference out of the document leaves its call out."""
    calls = document(
        echo={"$ref": "#/components/schemas/Tree"},
        faker={"$ref": "#/components/schemas/Outside"},
        dns={"type": "array"},
        whois={"type": "object", "$id": "https://elsewhere.example/"},
    )
    calls["paths"]["/other"] = {"post": {}}
    (tool,) = openapi_tools.tools_of(calls)
    assert (tool.name, tool.price and tool.price.text()) == ("echo", "0.001")
    assert tool.input_schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert tool.refusal({"children": [{"children": []}]}) == ""
    assert "children/0" in tool.refusal({"children": [1]})
    assert "max_price" in tool.refusal({"max_price": 1})


@pytest.mark.parametrize("later", ["0.002", ""])
async def test_a_list_that_changes_after_it_was_shown_does_not_raise_the_price(
    serve: Serve, shop: Shop, later: str
) -> None:
    """A model has decided by the price in the tool's description. A list that was taken down raises it no more than another."""
    async with serve() as client:
        await client.list_tools()
        shop.documents = {"/openapi.json": listed(later)} if later else {}
        shop.unpaid = [lambda seen: shop.demand(shop.challenge(seen.path, price="0.002"))]
        answer = await client.call_tool("echo", {})
        assert (answer.is_error, shop.payments) == (True, [])
        assert "asks for 0.002 dollars for echo, and listed it at 0.001" in answer.content[0].text


async def test_a_quote_warns_of_a_price_above_the_list(serve: Serve, shop: Shop) -> None:
    """And the call is not paid."""
    async with serve() as client:
        said = (await client.call_tool("quote", {"endpoint": "echo"})).structured_content
        assert (said["allowed"], "warning" in said) == (True, False)
        shop.unpaid = [lambda seen: shop.demand(shop.challenge(seen.path, price="0.002"))]
        said = (await client.call_tool("quote", {"endpoint": "echo"})).structured_content
        assert (said["price"], said["allowed"]) == ("0.002", False)
        assert "0.001" in said["warning"]
        assert (await client.call_tool("echo", {})).is_error
    assert shop.payments == []
