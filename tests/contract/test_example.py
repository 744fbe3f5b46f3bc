"""The examples of docs/adding-an-endpoint.md are sold and run as they stand there."""

import re
import sys
import types
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from api.discovery import bazaar
from api.discovery.catalogue import documents
from api.discovery.listing import Listing
from jobs.observation import Previous
from jobs.ports import Context
from shared.endpoint import Endpoint, InvalidField
from shared.outcome import Ok
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests.sites import PUBLIC, decoded
from workers.execute import execute, observe

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-an-endpoint.md"


def blocks() -> list[str]:
    """The page's Python, block by block."""
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def declared(monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> Endpoint:
    """The declaration in a block, executed as the module `name`."""
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)  # msgspec resolves annotations there
    exec(compile(source, str(PAGE), "exec"), module.__dict__)
    found: Endpoint = module.__dict__["ENDPOINT"]
    return found


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The endpoint in one file."""
    return declared(monkeypatch, "jobs.slug", blocks()[0])


@pytest.fixture
def remembering(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The endpoint that remembers."""
    return declared(monkeypatch, "jobs.text_changed", blocks()[2])


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


def test_the_excerpt_is_the_modules() -> None:
    """Each line of the endpoint with an engine stands in the module that the excerpt names."""
    first, *lines = blocks()[1].splitlines()
    module = (ROOT / first.removeprefix("# From ")).read_text().splitlines()
    assert lines
    assert set(lines) <= {*module, ""}


def test_the_one_that_remembers_compares_with_the_last_call(remembering: Endpoint) -> None:
    """The first call gives the example's response. The next one compares, and leaves a new observation."""
    body = msgspec.json.encode(remembering.example.request)
    first, observation = observe(remembering, body, Context(payer="0x0"))
    assert isinstance(first, Ok)
    assert msgspec.json.decode(first.body) == remembering.example.response
    assert observation is not None
    at = datetime(2026, 11, 22, tzinfo=UTC)
    for text, is_changed in (("Version 1", False), ("Version 2", True)):
        context = Context(payer="0x0", previous=Previous(observation, at))
        answer, left = observe(remembering, msgspec.json.encode({"label": "terms", "text": text}), context)
        assert isinstance(answer, Ok)
        expected = {"ok": True, "changed": is_changed, "previousAt": "2026-11-22T00:00:00+00:00"}
        assert msgspec.json.decode(answer.body) == expected
        assert (left != observation) is is_changed


def test_the_one_that_remembers_has_subjects_of_its_own(remembering: Endpoint) -> None:
    """Two labels are two subjects, and both name the endpoint."""
    assert remembering.subject is not None
    one, other = (
        remembering.subject(decoded(remembering.request, {"label": label, "text": ""}), PUBLIC) for label in "ab"
    )
    assert one != other
    assert one.startswith("text-changed ")
