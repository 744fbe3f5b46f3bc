"""What cannot be read is not sold: nobody pays for a call that cannot be answered."""

import dataclasses
from typing import Any

import dramatiq
import httpx
import pytest
from litestar import Litestar
from litestar.routes import ASGIRoute

from api.app import create_app
from jobs.catalogue import BY_NAME, CATALOGUE
from shared.settings.rails import XrplRailSettings
from shared.settings.service import Settings
from tests.api.paying import Payer
from tests.each import each

pytestmark = pytest.mark.anyio

XRPL = XrplRailSettings(pay_to="rpsqFvjMbCmMyT4Gfz7pfmzcExUDnjuktd")
NODE = ("http://127.0.0.1:9",)
READERS = {"ethereum", "base"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A node of Base alone."""
    return dataclasses.replace(settings, rpc_ethereum_urls=())


def sold(app: Litestar) -> set[str]:
    return {endpoint.name for endpoint in CATALOGUE if endpoint.path in {r.path for r in app.routes if _is_paid(r)}}


def _is_paid(route: Any) -> bool:
    return isinstance(route, ASGIRoute)


@each("name", [endpoint.name for endpoint in CATALOGUE if READERS.intersection(endpoint.reads)])
async def test_a_chain_without_a_node_is_refused_before_it_is_charged(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any, name: str
) -> None:
    """400 with the field and the chain that can be read."""
    endpoint = BY_NAME[name]
    paid = payer.headers(price=str(endpoint.price.value))
    answer = await shop.post(endpoint.path, json=endpoint.example.request | {"chain": "ethereum"}, headers=paid)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["charged"]) == (400, "invalid_body", False)
    assert (problem["field"], problem["details"][0]["suggestions"]) == ("chain", ["base"])
    assert facilitator.settles == []


def test_an_endpoint_without_any_node_is_not_sold(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    """It is in no document, and the operator is told."""
    everything = dataclasses.replace(settings, xrpl=dataclasses.replace(XRPL, read_urls=NODE))
    nothing = dataclasses.replace(settings, rpc_base_urls=(), xrpl=XRPL)
    readers = {endpoint.name for endpoint in CATALOGUE if endpoint.reads}
    assert len(readers) == 12
    assert sold(create_app(everything)) == set(BY_NAME)
    caplog.clear()
    assert sold(create_app(nothing)) == set(BY_NAME) - readers
    assert "xrpl-wallet-watch is not sold: the settings name no node of xrpl" in caplog.text
    assert "tx-explain is not sold: the settings name no node of ethereum or base" in caplog.text


def test_the_facilitators_node_of_the_xrp_ledger_is_read(settings: Settings) -> None:
    """Unless others are named."""
    one = dataclasses.replace(settings, xrpl=dataclasses.replace(XRPL, rpc_url=NODE[0], read_urls=()))
    assert "xrpl-wallet-watch" in sold(create_app(one))
