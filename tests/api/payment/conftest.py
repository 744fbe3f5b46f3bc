"""A facilitator that is a stranger: over real HTTP, and it answers whatever a test wants it to."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from compose.sandbox.redis_cluster import RedisCluster, redis_cluster
from shared.money import Price
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from shared.x402.wire import X402_VERSION, Offer, Payment
from tests.time_limits import patience


class Stranger:
    """Answers every path alike, unless `paths` has something else for it.

    Attributes:
        seen: method, path with its escapes, headers and body of each request.
        go_on: while it is cleared, requests are not answered.
    """

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.body = b""
        self.headers: dict[str, str] = {}
        self.paths: dict[str, tuple[int, bytes]] = {}
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.go_on = asyncio.Event()
        self.go_on.set()
        self._arrived = asyncio.Event()

    def says(self, content: Any, status: int = 200) -> None:
        """Answer so from now on."""
        self.body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.status = status

    def supports(self, *kinds: Any, status: int = 200) -> None:
        """Answer /supported so from now on."""
        self.paths["/supported"] = (status, json.dumps({"kinds": kinds, "extensions": [], "signers": {}}).encode())

    @property
    def asked(self) -> list[str]:
        """The paths of all requests."""
        return [path for _, path, _, _ in self.seen]

    async def saw(self, count: int) -> None:
        """Wait until there were so many requests."""
        async with asyncio.timeout(patience(5)):
            while len(self.seen) < count:
                self._arrived.clear()
                await self._arrived.wait()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request.method, request.raw_path, dict(request.headers), await request.read()))
        self._arrived.set()
        await self.go_on.wait()
        status, body = self.paths.get(request.path, (self.status, self.body))
        return web.Response(status=status, body=body, headers=self.headers)


Serving = Callable[..., Any]


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    """Serve a handler on a port of its own, with or without TLS; gives the address."""
    runners: list[web.AppRunner] = []

    async def serve(
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]], tls: ssl.SSLContext | None = None
    ) -> str:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        return f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"

    yield serve
    for runner in runners:
        await runner.cleanup()


@pytest.fixture
async def stranger(serving: Serving) -> Stranger:
    """One that is asked."""
    stranger = Stranger()
    stranger.url = await serving(stranger.answer)
    return stranger


@pytest.fixture
def offer() -> Offer:
    """A call for 0.001 on Base."""
    return evm.offers(EVM_USDC["eip155:8453"], Price.of("0.001"), "0x" + "11" * 20)[0]


@pytest.fixture
def payment(offer: Offer) -> Payment:
    """It is not looked at here, only sent."""
    return Payment(x402_version=X402_VERSION, accepted=offer, payload={"signature": "0x"})


@pytest.fixture
def started() -> Any:
    """A facilitator or a rail between its start and its stop."""

    @asynccontextmanager
    async def running(thing: Any) -> AsyncIterator[Any]:
        await thing.start()
        try:
            yield thing
        finally:
            await thing.stop()

    return running


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    with redis_cluster(tmp_path_factory.mktemp("ledgers"), 3, 0, options=("--appendfsync", "no")) as made:
        yield made


@pytest.fixture(params=["one", "three"])
def urls(request: pytest.FixtureRequest, redis_url: str) -> list[str]:
    """Of a plain server, and of two nodes of a cluster of three, which refuse a script with keys of two buckets."""
    three: RedisCluster | None = request.getfixturevalue("three") if request.param == "three" else None
    return [redis_url] if three is None else three.urls[1:]
