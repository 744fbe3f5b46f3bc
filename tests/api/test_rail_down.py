"""A facilitator that fails, over the real API, ledger, queue and worker: what is refused, what is not, and the way back."""

import dataclasses
import json
from typing import Any

import httpx
import pytest
import redis

from api.app import create_app
from api.payment import health
from api.payment.circuit import Circuit
from shared.ledger.keys import in_every_bucket
from shared.settings.service import InvalidSetting, Settings
from tests.api.conftest import until
from tests.api.paying import Payer

PATH = "/v1/cdp/echo"

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]


def circuit_of(paid_calls: Any) -> Circuit:
    circuit: Circuit = paid_calls[PATH]._gate._priced[0][1].facilitator.circuit
    return circuit


async def test_a_rail_whose_facilitator_fails_takes_nothing_new_until_it_answers_again(
    shop: httpx.AsyncClient, paid_calls: Any, payer: Payer, facilitator: Any, clean_redis: str
) -> None:
    """Given an answered payment and one that nobody knows the fate of, when settling has failed five times in a row, then a new
    payment is refused uncharged and unclaimed, the answered one is answered, and the price is told as ever; once the
    facilitator answers again, all are served."""
    circuit = circuit_of(paid_calls)
    circuit._first_s = 0.3
    answered, unknown, new = (payer.headers() for _ in range(3))
    full = (await shop.post(PATH)).content
    first = await shop.post(PATH, headers=answered)
    facilitator.script, facilitator.evidence = ["error500"] * 5, "unknown"
    facilitator.says_status = 503
    for number in range(5):
        headers = unknown if number == 4 else payer.headers()
        assert (await shop.post(PATH, headers=headers)).json()["code"] == "settlement_unknown"
    assert circuit.is_open
    settles = len(facilitator.settles)

    refused = await shop.post(PATH, headers=new)
    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["charged"]) == (503, "unavailable", False)
    assert (problem["retryWithSamePayment"], int(refused.headers["retry-after"]) >= 1) == (True, True)
    with redis.Redis.from_url(clean_redis) as ledger:
        assert len(ledger.keys(in_every_bucket("payment:*"))) == 6
    again = await shop.post(PATH, headers=answered)
    assert (again.status_code, again.content) == (200, first.content)
    assert (await shop.post(PATH, headers=unknown)).json()["charged"] == "unknown"
    unpaid = await shop.post(PATH)
    assert (unpaid.status_code, unpaid.content) == (402, full)
    assert (await shop.get("/readyz")).json()["checks"]["facilitator:base"] is False

    questions = facilitator.questions
    await until(lambda: facilitator.questions > questions)
    assert (circuit.is_open, len(facilitator.settles)) == (True, settles)
    facilitator.says_status, facilitator.evidence = 200, None
    await until(lambda: not circuit.is_open)
    for headers in (new, unknown):
        served = await shop.post(PATH, headers=headers)
        assert served.status_code == 200, served.text
    assert (await shop.get("/readyz")).json()["checks"]["facilitator:base"] is True


async def test_refused_payments_take_no_rail_down(
    shop: httpx.AsyncClient, paid_calls: Any, payer: Payer, facilitator: Any
) -> None:
    """Anybody can sign payments that they have no money for."""
    facilitator.script = ["refuse", "refuse400"] * 6
    for _ in range(12):
        answer = await shop.post(PATH, headers=payer.headers())
        assert (answer.status_code, answer.json()["error"]) == (402, "insufficient_funds")
    assert not circuit_of(paid_calls).is_open
    answer = await shop.post(PATH, headers=payer.headers())
    assert answer.status_code == 200


async def test_a_facilitator_for_another_network_is_paid_nothing(
    shop: httpx.AsyncClient, paid_calls: Any, payer: Payer, facilitator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so itself: the challenge is there, and a payment is refused before it is claimed."""
    rail = paid_calls[PATH]._gate._priced[0][1]
    monkeypatch.setattr(health, "FRESH_S", 0.0)
    facilitator.says = json.dumps({"kinds": [{"x402Version": 2, "scheme": "exact", "network": "eip155:1"}]}).encode()
    assert (await shop.get("/readyz")).json()["checks"]["facilitator:base"] is False
    assert not rail.is_up
    assert (await shop.post(PATH)).json()["accepts"][0]["network"] == "eip155:8453"
    answer = await shop.post(PATH, headers=payer.headers())
    assert (answer.status_code, answer.json()["charged"], facilitator.settles) == (503, False, [])


async def test_headers_that_cannot_be_read_stop_the_start(settings: Settings, tmp_path: Any) -> None:
    """With the setting's file named."""
    settings = Settings(
        key_file=settings.key_file,
        evm=dataclasses.replace(settings.evm, facilitator_headers_file=str(tmp_path / "none")),
    )
    with pytest.raises(InvalidSetting, match="none': there is no such file"):
        create_app(settings)


async def test_what_is_settled_is_run_while_its_rail_is_down(
    shop: httpx.AsyncClient, paid_calls: Any, payer: Payer, facilitator: Any, clean_redis: str
) -> None:
    """It was charged: that nothing new can be charged is no reason not to answer it."""
    paid = payer.headers()
    assert (await shop.post(PATH, headers=paid)).status_code == 200
    with redis.Redis.from_url(clean_redis) as ledger:  # as if its worker had died
        (record,) = ledger.keys(in_every_bucket("payment:*"))
        ledger.hset(record, mapping={"state": "SETTLED", "settled": 2**41, "lease": 0})
    circuit = circuit_of(paid_calls)
    circuit._first_s = 60
    while not circuit.is_open:
        circuit.failed(circuit.openings)
    answer = await shop.post(PATH, headers=paid)
    assert (answer.status_code, "payment-response" in answer.headers) == (200, True)
    assert len(facilitator.settles) == 1


async def test_a_price_that_is_not_worth_its_settlement_is_refused_until_it_is(
    shop: httpx.AsyncClient, paid_calls: Any, payer: Payer, facilitator: Any, clean_redis: str
) -> None:
    """Given a facilitator that says a settlement costs more than half the price, then a signed payment is refused uncharged and
    unclaimed, /readyz names the endpoint, and an answered payment is answered. When it costs less, the same payment pays."""
    first, new = payer.headers(), payer.headers()
    answered = await shop.post(PATH, headers=first)
    watched = paid_calls[PATH]._gate._priced[0][1].health

    async def costs(atomic: int) -> None:
        kind = {"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "extra": {"settlementCost": str(atomic)}}
        facilitator.says = json.dumps({"kinds": [kind]}).encode()
        await watched._ask()

    await costs(501)
    refused = await shop.post(PATH, headers=new)
    problem = refused.json()
    assert (refused.status_code, problem["reason"], problem["charged"]) == (503, "settlement_too_costly", False)
    assert (problem["retryWithSamePayment"], refused.headers["retry-after"]) == (True, "30")
    told = (await shop.get("/readyz")).json()["settlements"]
    assert told == {"base": {"cost": "0.000501", "leastPrice": "0.001002", "tooCheap": ["echo", "chain/chain-id"]}}
    assert (await shop.post(PATH, headers=first)).content == answered.content
    with redis.Redis.from_url(clean_redis) as ledger:
        assert len(ledger.keys(in_every_bucket("payment:*"))) == 1
    assert len(facilitator.settles) == 1

    await costs(400)
    assert (await shop.post(PATH, headers=new)).status_code == 200


async def test_a_facilitator_that_refuses_a_settlement_for_its_cost_is_asked_soon(
    shop: httpx.AsyncClient, paid_calls: Any, payer: Payer, facilitator: Any
) -> None:
    """What it said last is not the cost of now. Nothing was sent: the caller gets a 402, uncharged."""
    watched = paid_calls[PATH]._gate._priced[0][1].health
    await until(lambda: watched._asked_at > 0)
    facilitator.script, facilitator.reason = ["refuse"], "settlement_too_costly"
    refused = await shop.post(PATH, headers=payer.headers())
    assert (refused.status_code, refused.json()["error"]) == (402, "settlement_too_costly")
    assert watched._next_at <= watched._asked_at + health.COST_SOON_S
