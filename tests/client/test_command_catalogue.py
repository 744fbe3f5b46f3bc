"""`coinslot catalogue`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.client.conftest import Canned, Command, Shop


@pytest.fixture
def stocked(shop: Shop, canned: type[Canned]) -> Shop:
    """A shop with three items, one of which is not a call of ours."""
    usdc = shop.challenge()["accepts"][0]
    other = {**usdc, "network": "xrpl:0", "asset": "RLUSD", "amount": "0.001"}
    items = [
        {
            "resource": f"{shop.base_url}/v1/cdp/echo",
            "accepts": [other, usdc],
            "description": "Says\nit back.",
            "type": "http",
        },
        {"resource": f"{shop.base_url}/v1/cdp/chain/chain-id", "accepts": [other]},
        {"resource": "https://other.example/thing", "accepts": [usdc]},
    ]
    shop.documents["/bazaar.json"] = canned(200, json.dumps({"x402Version": 2, "items": items}).encode())
    return shop


def test_the_table(command: Command, stocked: Shop) -> None:
    """Name, price and summary, one line each."""
    run = command("catalogue", "--url", stocked.base_url)
    assert run.code == 0
    assert run.out.splitlines() == [
        "NAME             USDC  SUMMARY",
        "echo            0.001  Says it back.",
        "chain/chain-id      -  ",
    ]


def test_the_catalogue_as_json(command: Command, stocked: Shop) -> None:
    """Prices are text; a call without an offer in USDC has none."""
    run = command("catalogue", "--url", stocked.base_url, "--json")
    assert run.json == {
        "ok": True,
        "items": [
            {
                "name": "echo",
                "price": "0.001",
                "asset": "USDC",
                "summary": "Says\nit back.",
                "url": f"{stocked.base_url}/v1/cdp/echo",
            },
            {
                "name": "chain/chain-id",
                "price": None,
                "asset": None,
                "summary": "",
                "url": f"{stocked.base_url}/v1/cdp/chain/chain-id",
            },
        ],
    }


def test_the_sandbox_is_the_default_shop(command: Command, stocked: Shop, sandbox: Path) -> None:
    """No address needs to be given beside a running sandbox."""
    assert "echo" in command("catalogue").out


@pytest.mark.parametrize("body", [b"", b"[]", b'{"items": 1}', b"<html>"])
def test_a_document_of_another_form(command: Command, shop: Shop, canned: type[Canned], body: bytes) -> None:
    """Exit 5, by the document's address."""
    shop.documents["/bazaar.json"] = canned(200, body)
    run = command("catalogue", "--url", shop.base_url)
    assert run.code == 5
    assert "/bazaar.json is not a catalogue" in run.err


def test_no_catalogue_and_no_shop(command: Command, shop: Shop) -> None:
    """404 is exit 5, no connection exit 6, no address exit 2."""
    assert command("catalogue", "--url", shop.base_url).code == 5
    assert command("catalogue", "--url", "http://127.0.0.1:9", "--json").json["error"] == "unreachable"
    assert command("catalogue").code == 2
