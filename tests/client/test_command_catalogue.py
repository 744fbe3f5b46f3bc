"""`coinslot catalogue`."""

import json

import msgspec
import pytest

from shared.money import Price
from shared.x402 import xrpl
from shared.x402.networks import XRPL_RLUSD
from tests.client.conftest import Canned, Command, Shop


@pytest.fixture
def stocked(shop: Shop) -> Shop:
    """A shop with four items, one of which is not a call of ours."""
    usdc = shop.challenge()["accepts"][0]
    token = XRPL_RLUSD["xrpl:0"]
    rlusd = msgspec.to_builtins(xrpl.offers(token, Price.of("0.001"), "rPayee")[0])
    forged = {**rlusd, "extra": {"issuer": "rOther"}}
    items = [
        {
            "resource": f"{shop.base_url}/v1/cdp/echo",
            "accepts": [forged, {**rlusd, "amount": "0.0020"}, usdc],
            "description": "Says\nit back.",
            "type": "http",
        },
        {"resource": f"{shop.base_url}/v1/cdp/xrpl-wallet-watch", "accepts": [rlusd]},
        {"resource": f"{shop.base_url}/v1/cdp/chain/chain-id", "accepts": [forged, {**rlusd, "amount": "nan"}]},
        {"resource": "https://other.example/thing", "accepts": [usdc]},
    ]
    shop.documents["/bazaar.json"] = Canned(200, json.dumps({"x402Version": 2, "items": items}).encode())
    return shop


@pytest.mark.usefixtures("stocked", "sandbox")
def test_the_table(command: Command) -> None:
    """Name, prices and summary, one line each, of the sandbox by default. A currency of another issuer is another one."""
    run = command("catalogue")
    assert run.code == 0
    assert run.out.splitlines() == [
        "NAME                USDC  RLUSD  SUMMARY",
        "echo               0.001  0.002  Says it back.",
        "xrpl-wallet-watch      -  0.001  ",
        "chain/chain-id         -      -  ",
    ]


def test_the_catalogue_as_json(command: Command, stocked: Shop) -> None:
    """Prices are text; a call without an offer in an asset has no price in it."""
    run = command("catalogue", "--url", stocked.base_url, "--json")
    items = run.json["items"]
    assert items[0] == {
        "name": "echo",
        "price": "0.001",
        "asset": "USDC",
        "prices": {"USDC": "0.001", "RLUSD": "0.002"},
        "summary": "Says\nit back.",
        "url": f"{stocked.base_url}/v1/cdp/echo",
    }
    assert [(item["price"], item["asset"], item["prices"]) for item in items[1:]] == [
        ("0.001", "RLUSD", {"RLUSD": "0.001"}),
        (None, None, {}),
    ]


def test_no_catalogue_and_no_shop(command: Command, shop: Shop) -> None:
    """404 and a document of another form are exit 5, no connection exit 6, no address exit 2."""
    assert command("catalogue", "--url", shop.base_url).code == 5
    for body in (b"", b"[]", b'{"items": 1}', b"<html>"):
        shop.documents["/bazaar.json"] = Canned(200, body)
        run = command("catalogue", "--url", shop.base_url)
        assert (run.code, "/bazaar.json is not a catalogue" in run.err) == (5, True)
    assert command("catalogue", "--url", "http://127.0.0.1:9", "--json").json["error"] == "unreachable"
    assert command("catalogue").code == 2
