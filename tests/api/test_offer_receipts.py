"""The receipt that an answered call brings, and no other, where the shop signs receipts."""

import base64
import dataclasses
import json
import secrets
from pathlib import Path
from typing import Any

import httpx
import pytest

from jobs.catalogue import BY_NAME
from shared.settings.service import Settings
from tests.api.paying import Payer, paid_with
from tests.api.payment.test_offer_receipt import verified

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]

SOLD = [BY_NAME[name] for name in ("echo", "chain/chain-id")]
ECHO, CHAIN_ID = (endpoint.path for endpoint in SOLD)


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """With a key for receipts."""
    (tmp_path / "receipt.key").write_text(secrets.token_hex(32))
    return dataclasses.replace(settings, receipt_key_file=str(tmp_path / "receipt.key"))


def settled(answer: httpx.Response) -> Any:
    """What PAYMENT-RESPONSE says."""
    return json.loads(base64.b64decode(answer.headers["payment-response"]))


async def test_an_answered_call_has_a_receipt(shop: httpx.AsyncClient, payer: Payer) -> None:
    """Over HTTP and as a tool, and when it is fetched again; the key is in the DID document."""
    payment = payer.payment()
    document = await shop.get("/.well-known/did.json")
    assert document.headers["content-type"].startswith("application/did+json")
    bought = await shop.post(ECHO, json={"message": "hi"}, headers=paid_with(payment))
    again = await shop.post(ECHO, json={"message": "hi"}, headers=paid_with(payment))
    params = {"name": "echo", "arguments": {"message": "hi"}, "_meta": {"x402/payment": payment}}
    tool = await shop.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    for settlement in (settled(bought), settled(again), tool.json()["result"]["_meta"]["x402/payment-response"]):
        signed = settlement.pop("extensions")["offer-receipt"]["info"]["receipt"]
        receipt = verified(signed["signature"], document.content)
        assert receipt.pop("issuedAt") > 1_700_000_000
        assert receipt == {
            "version": 1,
            "network": "eip155:8453",
            "resourceUrl": "http://shop.test" + ECHO,
            "payer": payer.address,
            "transaction": settlement["transaction"],
        }
    assert bought.content == again.content


async def test_what_is_not_answered_has_none(shop: httpx.AsyncClient, payer: Payer, facilitator: Any) -> None:
    """Neither a payment that is refused nor a call that is charged and fails."""
    facilitator.script = ["refuse"]
    refused = await shop.post(ECHO, json={"message": "hi"}, headers=payer.headers())
    failed = await shop.post(CHAIN_ID, json={"chain": "base"}, headers=payer.headers())
    assert (refused.status_code, failed.status_code, failed.json()["charged"]) == (402, 502, True)
    assert settled(refused)["success"] is False
    assert settled(failed)["success"] is True
    assert not {"extensions"} & (settled(refused).keys() | settled(failed).keys())
