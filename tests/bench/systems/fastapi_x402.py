"""FastAPI with the official SDK's middleware: verify at the facilitator, answer inline, settle at the facilitator."""

import os

from x402 import x402ResourceServer
from x402.http import FacilitatorConfig, HTTPFacilitatorClient
from x402.http.middleware.fastapi import PaymentMiddlewareASGI
from x402.mechanisms.evm.exact import ExactEvmServerScheme

from tests.bench.roles import PATH, become_uvicorn, play
from tests.bench.systems.fastapi_echo import Echo, new_app, said

NETWORK = "eip155:8453"


def create_app() -> object:
    """The shop of the SDK's own example, at our price."""
    app = new_app()
    server = x402ResourceServer(HTTPFacilitatorClient(FacilitatorConfig(url=os.environ["BENCH_FACILITATOR_URL"])))
    server.register(NETWORK, ExactEvmServerScheme())
    offer = {"scheme": "exact", "payTo": os.environ["BENCH_PAY_TO"], "price": "$0.001", "network": NETWORK}
    app.add_middleware(PaymentMiddlewareASGI, routes={f"POST {PATH}": {"accepts": offer}}, server=server)

    @app.post(PATH)
    async def echo(request: Echo) -> dict[str, object]:
        return said(request.message)

    return app


if __name__ == "__main__":
    play({"api": lambda: become_uvicorn("tests.bench.systems.fastapi_x402:create_app", "--factory")})
