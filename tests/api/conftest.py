"""The API on a real Redis with a real worker, in front of a facilitator that does what a test tells it to."""

import asyncio
import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dramatiq
import httpx
import pytest
from aiohttp import web
from litestar import Litestar
from litestar.routes import ASGIRoute

from api import redis_client
from api.app import create_app
from api.pipeline import PaidCall
from compose.sandbox.upstream_server import Upstreams, start_upstreams
from jobs.catalogue import CATALOGUE, installed
from shared.endpoint import Endpoint
from shared.pools import Pool
from shared.queue.streams import GROUP, stream_key, unavailable_key
from shared.servers import redis_connection
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from shared.x402 import evm_channel_ids
from tests.api.paying import PAY_TO, Payer
from tests.time_limits import patience
from tests.workers.warm_pool import await_ready
from workers.children import ChildPool
from workers.main import CHILDREN, create_broker

NOWHERE = "http://127.0.0.1:9"


def nonce_of(payload: dict[str, Any]) -> str:
    """What a payment is known by here: its nonce, or on other networks the hash of what was signed. Of a deposit the nonce that
    its channel and its salt make."""
    if payload.get("type") == "deposit":
        salt = payload["deposit"]["authorization"]["erc3009Authorization"]["salt"]
        channel = bytes.fromhex(payload["voucher"]["channelId"][2:])
        return "0x" + evm_channel_ids.deposit_nonce(channel, bytes.fromhex(salt[2:])).hex()
    if "authorization" in payload:
        nonce: str = payload["authorization"]["nonce"].lower()
        return nonce
    return "0x" + hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()


@dataclass
class FacilitatorDouble:
    """Holds the truth: which payments moved money. `script` says how the next settle calls go; then all go well.

    Modes: ok, refuse, pending, error500, garbage, html, empty_transaction, other_network, other_payer, redirect, huge,
    hang, reset; with ``+paid`` the money moves all the same.
    """

    url: str = ""
    script: list[str] = field(default_factory=list)
    settles: list[str] = field(default_factory=list)
    paid: set[str] = field(default_factory=set)
    deposits: dict[str, str] = field(default_factory=dict)
    """By nonce: how much was deposited."""
    evidence: str | None = None
    reason: str = "insufficient_funds"
    delay_s: float = 0.0
    clock_s: int = 0
    accepts_wallet: bool = False
    says: bytes = b'{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:8453"}]}'
    says_status: int = 200
    questions: int = 0
    calls: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the settle calls."""
    headers: dict[str, str] = field(default_factory=dict)
    """Of each answer to a settle call that goes well."""

    async def settle(self, request: web.Request) -> web.StreamResponse:
        call = await request.json()
        self.calls.append(call)
        nonce = nonce_of(call["paymentPayload"]["payload"])
        offer = call["paymentRequirements"]
        mode, _, paid = (self.script.pop(0) if self.script else "ok").partition("+")
        self.settles.append(nonce)
        await asyncio.sleep(self.delay_s)
        if mode == "ok" or paid:
            self.paid.add(nonce)
            if deposit := call["paymentPayload"]["payload"].get("deposit"):
                self.deposits[nonce] = deposit["amount"]
        good = {"success": True, "transaction": "0x" + nonce[2:], "network": offer["network"]}
        refused = {**good, "success": False, "transaction": "", "errorReason": self.reason}
        match mode:
            case "ok":
                return web.json_response(good, headers=self.headers)
            case "refuse":
                return web.json_response(refused)
            case "refuse400":
                return web.json_response(refused, status=400)
            case "pending":
                return web.json_response({**good, "success": False, "errorReason": "settlement_pending"}, status=500)
            case "refuse500":
                return web.json_response({**refused, "errorReason": "internal_error"}, status=500)
            case "refuse_with_transaction":
                return web.json_response({**good, "success": False, "errorReason": "transaction_failed"})
            case "other_amount":
                return web.json_response({**good, "amount": "1"})
            case "error500":
                return web.Response(status=500)
            case "garbage":
                return web.Response(body=b"\xff{")
            case "html":
                return web.Response(text="<html>", content_type="text/html", status=502)
            case "empty_transaction":
                return web.json_response({**good, "transaction": ""})
            case "other_network":
                return web.json_response({**good, "network": "eip155:1"})
            case "other_payer":
                return web.json_response({**good, "payer": "0x" + "99" * 20})
            case "redirect":
                return web.Response(status=302, headers={"Location": self.url + "/canary"})
            case "huge":
                return web.Response(body=b" " * 100_000 + json.dumps(good).encode())
            case "hang":
                await asyncio.sleep(30)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def look_up(self, request: web.Request) -> web.Response:
        if self.evidence == "none" or not request.match_info["id"].startswith("eip155:"):
            return web.Response(status=404)
        network, chain, _, payer, nonce = request.match_info["id"].split(":")
        status = self.evidence or ("settled" if nonce in self.paid else "unused")
        found = {
            "status": status,
            "network": f"{network}:{chain}",
            "payer": payer,
            "asOf": int(time.time()) + self.clock_s,
        }
        if status == "settled":
            deposit = self.deposits.get(nonce)
            pay_to, amount = (evm_channel_ids.COLLECTOR, deposit) if deposit else (PAY_TO, "1000")
            found |= {"transaction": "0x" + nonce[2:], "payTo": pay_to, "amount": amount}
        return web.json_response(found, status=503 if status == "unknown" else 200)

    async def verify(self, request: web.Request) -> web.Response:
        reason = None if self.accepts_wallet else "invalid_exact_evm_payload_signature"
        return web.json_response({"isValid": self.accepts_wallet, "invalidReason": reason})

    async def supported(self, request: web.Request) -> web.Response:
        self.questions += 1
        return web.Response(body=self.says, status=self.says_status, content_type="application/json")

    async def canary(self, request: web.Request) -> web.Response:
        raise AssertionError("a redirect was followed")


@pytest.fixture(autouse=True, scope="session")
def patient() -> Iterator[None]:
    """A job whose reply cannot be read is sent again, and so runs twice. These tests count, so a busy machine gets more time to
    connect to Redis."""
    with pytest.MonkeyPatch.context() as longer:
        for module in (redis_client, redis_connection):
            longer.setattr(module, "CONNECT_TIMEOUT_S", patience(module.CONNECT_TIMEOUT_S))
        yield


@contextmanager
def serving_double() -> Iterator[FacilitatorDouble]:
    """The double, over real HTTP, in a thread of its own."""
    double = FacilitatorDouble()
    loop = asyncio.new_event_loop()
    started = threading.Event()

    async def serve() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/settle", double.settle)
        app.router.add_post("/verify", double.verify)
        app.router.add_get("/settlements/{id}", double.look_up)
        app.router.add_get("/supported", double.supported)
        app.router.add_get("/canary", double.canary)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        double.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    def run() -> None:
        runner = loop.run_until_complete(serve())
        loop.call_soon(started.set)  # not before: to stop what does not run yet would be in vain
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(patience(5))
    yield double
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


@pytest.fixture
def facilitator() -> Iterator[FacilitatorDouble]:
    """The facilitator of all payments."""
    with serving_double() as double:
        yield double


@pytest.fixture
def lister(facilitator: FacilitatorDouble) -> Iterator[FacilitatorDouble]:
    """Another one, on the same chain, that lists what it settles and finds every payment valid."""
    with serving_double() as double:
        double.paid, double.accepts_wallet = facilitator.paid, True
        said = b'{"bazaar":{"status":"processing"}}'
        double.headers = {"EXTENSION-RESPONSES": base64.b64encode(said).decode()}
        yield double


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A key of the installation."""
    key = tmp_path / "key"
    key.write_text(secrets.token_hex(32))
    return key


@pytest.fixture
def settings(clean_redis: str, facilitator: FacilitatorDouble, key_file: Path) -> Settings:
    """One Redis for both roles, and the double as facilitator."""
    return Settings(
        base_url="http://shop.test",
        extra_hosts="also.shop.test",
        ledger_url=clean_redis,
        queue_url=clean_redis,
        key_file=key_file,
        evm=EvmRailSettings(pay_to=PAY_TO, facilitator_url=facilitator.url),
        settle_timeout_s=1.0,
        rpc_ethereum_urls=(NOWHERE,),
        rpc_base_urls=(NOWHERE,),
    )


@pytest.fixture
def catalogue(request: pytest.FixtureRequest) -> Sequence[Endpoint]:
    """What is sold: a module's SOLD; everything where it has none. An API of echo alone is built in a third of the time."""
    sold: Sequence[Endpoint] = getattr(request.module, "SOLD", CATALOGUE)
    return sold


@pytest.fixture
def app(settings: Settings, catalogue: Sequence[Endpoint]) -> Litestar:
    """The whole API."""
    return create_app(settings, catalogue)


@pytest.fixture
def paid_calls(app: Litestar) -> dict[str, Any]:
    """The API's paid calls by path."""
    calls = {route.path: route.route_handler.fn for route in app.routes if isinstance(route, ASGIRoute)}
    return {path: call for path, call in calls.items() if isinstance(call, PaidCall)}


async def until(condition: Callable[[], bool]) -> None:
    """Return when the condition holds."""
    async with asyncio.timeout(patience(20)):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@asynccontextmanager
async def opened(app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """Run an API. Gives a client of it."""
    # Litestar's own test client answers one request at a time, which would hide every race.
    transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
    async with (
        app.lifespan(),
        httpx.AsyncClient(transport=transport, base_url="http://shop.test", timeout=30) as client,
    ):
        yield client


@pytest.fixture
async def shop(app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the running API."""
    async with opened(app) as client:
        yield client


@pytest.fixture(scope="session")
def upstreams(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstreams]:
    """What the endpoints may call, as in the sandbox."""
    running = start_upstreams(tmp_path_factory.mktemp("upstreams"))
    yield running
    running.child.stop()


class SharedChildren(ChildPool):
    """Children that outlive their worker: starting their fork server takes longer than most tests."""

    def start(self, size: int, pools: Collection[Pool] = ()) -> None:
        """They are started once, for the calls of all workers."""
        if not self._size:
            super().start(size)

    def close(self) -> None:
        """They stay, for the next worker."""

    def end(self) -> None:
        """After the last test."""
        super().close()


@pytest.fixture(scope="session")
def children() -> Iterator[SharedChildren]:
    """The child processes of all workers."""
    children = SharedChildren()
    children.start(CHILDREN)
    await_ready(children)
    yield children
    children.end()


@pytest.fixture
def worker(
    settings: Settings, upstreams: Upstreams, children: SharedChildren, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dramatiq.Worker]:
    """A stock Dramatiq worker of every pool that something is sold from, but for the one with a browser."""
    monkeypatch.setattr("workers.main.ChildPool", lambda: children)
    monkeypatch.setattr("workers.main.give_way", lambda _: None)  # all later tests of this process would be nice, too
    for name, value in upstreams.settings.items():
        monkeypatch.setenv(f"COINSLOT_{name}", value)
    monkeypatch.setenv("COINSLOT_LEDGER_URL", settings.ledger_url)
    monkeypatch.setenv("COINSLOT_QUEUE_URL", settings.queue_url)
    monkeypatch.setenv("COINSLOT_KEY_FILE", str(settings.key_file))
    broker = create_broker()
    queues = {str(endpoint.pool) for endpoint in installed()} - {Pool.RENDER.value}
    worker = dramatiq.Worker(broker, queues=queues, worker_threads=4, worker_timeout=100)
    worker.start()
    # A call is refused while nobody reads its queue.
    while not all(broker.client.exists(stream_key(queue)) for queue in queues):
        time.sleep(0.01)
    while not all(broker.client.xinfo_consumers(stream_key(queue), GROUP) for queue in queues):
        time.sleep(0.01)
    while broker.client.keys(unavailable_key("*", "*")):  # its ports start
        time.sleep(0.01)
    yield worker
    worker.stop()
    broker.close()


@pytest.fixture
def payer() -> Payer:
    """A payer of its own for every test."""
    return Payer()
