"""The official SDK's facilitator behind FastAPI, as its own example has it: each call on a thread of its own."""

import os
from typing import Any

from fastapi import FastAPI
from x402 import x402FacilitatorSync
from x402.mechanisms.evm import FacilitatorWeb3Signer
from x402.mechanisms.evm.batch_settlement.facilitator import BatchSettlementEvmFacilitator
from x402.mechanisms.evm.exact import register_exact_evm_facilitator
from x402.schemas import PaymentPayload, PaymentRequirements

from tests.bench.roles import become_uvicorn, play

NETWORK = "eip155:8453"


def create_app() -> FastAPI:
    """The standard API: /supported, /verify, /settle."""
    signer = FacilitatorWeb3Signer(private_key=os.environ["BENCH_SETTLER_KEY"], rpc_url=os.environ["BENCH_NODE_URL"])
    facilitator = register_exact_evm_facilitator(x402FacilitatorSync(), signer, NETWORK)
    facilitator.register([NETWORK], BatchSettlementEvmFacilitator(signer))
    app = FastAPI()

    def read(body: dict[str, Any]) -> tuple[PaymentPayload, PaymentRequirements]:
        payload = PaymentPayload.model_validate(body["paymentPayload"])
        return payload, PaymentRequirements.model_validate(body["paymentRequirements"])

    @app.get("/supported")
    def supported() -> Any:
        return facilitator.get_supported().model_dump(by_alias=True, exclude_none=True)

    @app.post("/verify")
    def verify(body: dict[str, Any]) -> Any:
        return facilitator.verify(*read(body)).model_dump(by_alias=True, exclude_none=True)

    @app.post("/settle")
    def settle(body: dict[str, Any]) -> Any:
        return facilitator.settle(*read(body)).model_dump(by_alias=True, exclude_none=True)

    return app


if __name__ == "__main__":
    play({"api": lambda: become_uvicorn("tests.bench.systems.sdk_facilitator:create_app", "--factory")})
