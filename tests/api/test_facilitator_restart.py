"""A facilitator that is started again: official clients meet refusals that cost nothing, and no challenge without its rail."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from aiohttp import web
from eth_account import Account
from litestar import Litestar
from x402 import x402Client
from x402.http.clients.httpx import x402AsyncTransport
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner

from compose.sandbox.child import claim_port
from jobs import echo
from shared.settings.rails import EthereumRailSettings
from shared.settings.service import Settings
from tests.api.conftest import PAY_TO, FacilitatorDouble
from tests.time_limits import patience

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]

SOLD = (echo.ENDPOINT,)
BASE, ETHEREUM = "eip155:8453", "eip155:1"


class Restarted(FacilitatorDouble):
    """The double on a port that refuses connections while it is stopped."""

    async def start(self) -> None:
        app = web.Application()
        app.router.add_post("/settle", self.settle)
        app.router.add_get("/supported", self.supported)
        self.runner = web.AppRunner(app)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", int(self.url.rpartition(":")[2])).start()

    async def stop(self) -> None:
        await self.runner.cleanup()


@pytest.fixture
async def facilitator() -> AsyncIterator[Restarted]:
    """It settles on two networks."""
    double = Restarted(url=f"http://127.0.0.1:{claim_port(0)}")
    kinds = [{"x402Version": 2, "scheme": "exact", "network": network} for network in (BASE, ETHEREUM)]
    double.says = json.dumps({"kinds": kinds}).encode()
    await double.start()
    yield double
    await double.stop()


@pytest.fixture
def settings(settings: Settings, facilitator: Restarted) -> Settings:
    """The shop sells on both."""
    return dataclasses.replace(settings, ethereum=EthereumRailSettings(pay_to=PAY_TO, facilitator_url=facilitator.url))


@pytest.fixture
async def buyer(app: Litestar, shop: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """The official client with a wallet for Base alone."""
    sdk = x402Client()
    register_exact_evm_client(sdk, EthAccountSigner(Account.create()), networks=BASE)
    transport = x402AsyncTransport(sdk, httpx.ASGITransport(app))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://shop.test", timeout=30) as client:
        yield client


async def test_an_official_client_meets_refusals_that_cost_nothing(
    shop: httpx.AsyncClient, buyer: httpx.AsyncClient, paid_calls: Any, facilitator: Restarted
) -> None:
    """Given a facilitator that refuses connections, when five calls and a trial have failed, then Base is still in each
    challenge, and every paid call is an uncharged 503 that says when to come again; when it is back, they are answered."""
    path = echo.ENDPOINT.path
    circuit = next(rail.facilitator.circuit for _, rail in paid_calls[path]._gate._priced if rail.token.network == BASE)
    circuit._first_s = 0.2
    assert (await buyer.post(path)).status_code == 200

    await facilitator.stop()
    async with asyncio.timeout(patience(10)):
        while circuit.openings < 2:
            for answer in await asyncio.gather(*(buyer.post(path) for _ in range(5))):
                assert (answer.status_code, answer.json()["charged"]) == (503, False)
                assert int(answer.headers["retry-after"]) >= 1
            offered = [offer["network"] for offer in (await shop.post(path)).json()["accepts"]]
            assert offered == [BASE, ETHEREUM]
    await facilitator.start()
    async with asyncio.timeout(patience(10)):
        while (answer := await buyer.post(path)).status_code == 503:
            assert answer.json()["charged"] is False
    assert answer.status_code == 200
    assert len(facilitator.paid) == 2
