"""The example of docs/adding-an-endpoint.md is sold and run as it stands there."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import msgspec
import pytest

from api.discovery import bazaar
from api.discovery.documents import documents
from api.discovery.listing import Listing
from jobs.ports import Context
from shared.endpoint import Endpoint, InvalidField
from shared.outcome import Ok
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from workers.execute import execute

PAGE = Path(__file__).parents[2] / "docs" / "adding-an-endpoint.md"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The declaration, executed from the page."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    module = types.ModuleType("jobs.slug")
    monkeypatch.setitem(sys.modules, "jobs.slug", module)  # msgspec resolves annotations there
    exec(compile(found.group(1), str(PAGE), "exec"), module.__dict__)
    declared: Endpoint = module.__dict__["ENDPOINT"]
    return declared


def test_it_answers_its_own_example(endpoint: Endpoint) -> None:
    """The handler gives the response that the declaration shows."""
    answer = execute(endpoint, msgspec.json.encode(endpoint.example.request), Context(payer="0x0"))
    assert isinstance(answer, Ok)
    assert msgspec.json.decode(answer.body) == endpoint.example.response


def test_its_validation_comes_before_payment(endpoint: Endpoint) -> None:
    """Decoding refuses what the page says is refused."""
    for body in (b"{}", b'{"text": ""}', b'{"text": 5}'):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(body, type=endpoint.request)
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode('{"text": "日本語!"}'.encode(), type=endpoint.request)
    assert isinstance(refused.value.__cause__, InvalidField)


def test_it_is_in_every_document(endpoint: Endpoint) -> None:
    """Nothing beside the declaration is needed to list it."""
    offers = evm.offers(EVM_USDC["eip155:8453"], endpoint.price, "0x" + "11" * 20)
    listing = Listing(endpoint, "https://shop.example" + endpoint.path, offers)
    for body in documents([listing], "https://shop.example", last_updated=0).values():
        assert b"/v1/cdp/slug" in body
    assert bazaar.extension(endpoint)["info"]["input"]["body"] == {"text": "Crème brûlée!"}
