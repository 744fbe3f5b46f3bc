"""Payments of wallets that are not deployed yet (ERC-6492), at the API."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from eth_abi import encode

from shared.settings.service import Settings
from shared.x402.erc6492 import SUFFIX
from tests.api.paying import Payer, paid_with

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]
FACTORY, ANOTHER = "0x" + "Fa" * 20, "0x" + "ab" * 20


@pytest.fixture(params=[(), (FACTORY,)], ids=["none is listed", "one is listed"])
def factories(request: pytest.FixtureRequest) -> Sequence[str]:
    listed: Sequence[str] = request.param
    return listed


@pytest.fixture
def settings(settings: Settings, factories: Sequence[str]) -> Settings:
    return dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, wallet_factories=tuple(factories)))


async def test_only_a_listed_factory_gets_as_far_as_the_facilitator(
    shop: httpx.AsyncClient, facilitator: Any, payer: Payer, factories: Sequence[str]
) -> None:
    """Which checks and settles the payment as it was sent."""
    facilitator.accepts_wallet = True

    async def pay(factory: str) -> httpx.Response:
        payment = payer.payment()
        signature = encode(["address", "bytes", "bytes"], [factory.lower(), b"deploy", b"of the wallet"]) + SUFFIX
        payment["payload"]["signature"] = "0x" + signature.hex()
        return await shop.post("/v1/cdp/echo", json={}, headers=paid_with(payment))

    answers = [await pay(FACTORY), await pay(ANOTHER)]
    if factories:
        assert [answer.status_code for answer in answers] == [200, 402]
        assert answers[1].json()["error"] == "eip6492_factory_not_allowed"
    else:
        reasons = {answer.json()["error"] for answer in answers}
        assert reasons == {"invalid_exact_evm_payload_undeployed_smart_wallet"}
    assert len(facilitator.settles) == len(factories)
