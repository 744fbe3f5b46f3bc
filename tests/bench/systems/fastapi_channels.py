"""FastAPI with the official SDK's middleware, its scheme `batch-settlement` and its channel manager."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from x402 import x402ResourceServer
from x402.http import FacilitatorConfig, HTTPFacilitatorClient
from x402.http.middleware.fastapi import PaymentMiddlewareASGI
from x402.mechanisms.evm.batch_settlement.authorizer_signer import LocalAuthorizerSigner
from x402.mechanisms.evm.batch_settlement.server import BatchSettlementEvmScheme, BatchSettlementEvmSchemeServerConfig
from x402.mechanisms.evm.batch_settlement.server.channel_manager_common import AutoSettlementConfig

from tests.bench.roles import PATH, become_uvicorn, play
from tests.bench.systems.fastapi_echo import Echo, new_app, said
from tests.bench.systems.fastapi_x402 import NETWORK


def create_app() -> FastAPI:
    """A shop of one endpoint, at our price."""
    pay_to = os.environ["BENCH_PAY_TO"]
    facilitator = HTTPFacilitatorClient(FacilitatorConfig(url=os.environ["BENCH_FACILITATOR_URL"]))
    signer = LocalAuthorizerSigner(os.environ["BENCH_AUTHORIZER_KEY"])
    scheme = BatchSettlementEvmScheme(pay_to, BatchSettlementEvmSchemeServerConfig(receiver_authorizer_signer=signer))
    server = x402ResourceServer(facilitator)
    server.register(NETWORK, scheme)
    manager = scheme.create_channel_manager(facilitator, NETWORK)

    @asynccontextmanager
    async def claiming(_: FastAPI) -> AsyncIterator[None]:
        # Its claims and a deposit at the same time take the same nonce, and then the deposit is never answered.
        manager.start(AutoSettlementConfig(claim_interval_secs=3600, settle_interval_secs=3600))
        yield
        await manager.stop()

    app = new_app(claiming)
    offer = {"scheme": "batch-settlement", "payTo": pay_to, "price": "$0.001", "network": NETWORK}
    app.add_middleware(PaymentMiddlewareASGI, routes={f"POST {PATH}": {"accepts": offer}}, server=server)

    @app.post(PATH)
    async def echo(request: Echo) -> dict[str, object]:
        return said(request.message)

    return app


if __name__ == "__main__":
    play({"api": lambda: become_uvicorn("tests.bench.systems.fastapi_channels:create_app", "--factory")})
