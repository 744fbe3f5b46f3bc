"""Attacks by number: many slow, many false, many in another's name (P22 to P24, as far as no limit per payer is needed).

There is no limit per address: whoever signs well-formed payments of empty wallets makes a settle call with each of them, at
most as many at once as the pool of the endpoint has slots. The limits per payer are in test_limits.py.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from jobs.catalogue import BY_NAME
from shared.endpoint import Pool
from shared.pools import POOLS
from tests.api.conftest import until
from tests.api.paying import Payer, paid_with

PATH, FAKER = "/v1/cdp/echo", "/v1/cdp/faker"

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]


SOLD = (BY_NAME["echo"], BY_NAME["faker"])
"""These tests buy calls of two pools."""


def forged(payment: Any, number: int) -> Any:
    """With a signature of the right form that is nobody's, or another's."""
    payment["payload"]["signature"] = "0x" + f"{number + 1:064x}" + f"{number + 7:064x}" + "1b"
    return payment


def ended(calls: Sequence[asyncio.Future[Any]]) -> int:
    """How many have been answered."""
    return sum(call.done() for call in calls)


async def test_p22_slow_settlements_take_no_more_than_the_seats(
    shop: httpx.AsyncClient, facilitator: Any, exchanges: Any, ledger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred payments whose settlement is slow, to use up what honest ones wait for: those beyond the slots are turned
    away uncharged and unclaimed, another pool is not disturbed, and afterwards the same payments are served."""
    monkeypatch.setitem(POOLS, Pool.MICRO, replace(POOLS[Pool.MICRO], room=5))
    exchanges.go_on = asyncio.Event()
    headers = [paid_with(Payer().payment()) for _ in range(100)]
    flood = [asyncio.ensure_future(shop.post(PATH, json={}, headers=one)) for one in headers]
    await until(lambda: ended(flood) == 95)
    turned_away = [call.result() for call in flood if call.done()]
    assert {(answer.status_code, answer.json()["charged"]) for answer in turned_away} == {(503, False)}
    neighbour = paid_with(Payer().payment(price="0.005"))
    other = asyncio.ensure_future(shop.post(FAKER, json={"template": {"a": "person.firstName"}}, headers=neighbour))
    await until(lambda: exchanges.at_once == 6)
    exchanges.go_on.set()
    assert (await other).status_code == 200
    answers = await asyncio.gather(*flood)
    assert [answer.status_code for answer in answers].count(200) == 5
    assert (len(facilitator.settles), exchanges.at_once, len(ledger.keys())) == (6, 6, 6)
    refused = [one for one, answer in zip(headers, answers, strict=True) if answer.status_code == 503]
    for one in refused[:10]:
        assert (await shop.post(PATH, json={}, headers=one)).status_code == 200
    assert len(facilitator.settles) == 16


async def test_p23_false_signatures_reach_no_facilitator(
    shop: httpx.AsyncClient, payer: Payer, exchanges: Any, ledger: Any, runs: list[Any]
) -> None:
    """Five hundred payments that look good and are signed by nobody, to make us ask the facilitator five hundred times."""
    headers = [paid_with(forged(payer.payment(), number)) for number in range(500)]
    answers = await asyncio.gather(*(shop.post(PATH, json={}, headers=one) for one in headers))
    assert {(answer.status_code, answer.json()["error"]) for answer in answers} == {
        (402, "invalid_exact_evm_payload_signature")
    }
    assert (exchanges.made, ledger.keys(), runs) == ([], [], [])
    assert (await shop.post(PATH, json={}, headers=payer.headers())).is_success


async def test_p23_wallet_signatures_are_verified_a_few_at_a_time(
    shop: httpx.AsyncClient,
    payer: Payer,
    facilitator: Any,
    exchanges: Any,
    ledger: Any,
    runs: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Signatures that only the chain can judge, two hundred at once: never more verifications than slots, nothing claimed."""
    monkeypatch.setitem(POOLS, Pool.MICRO, replace(POOLS[Pool.MICRO], room=8))
    exchanges.go_on = asyncio.Event()
    headers = []
    for number in range(200):
        payment = payer.payment()
        payment["payload"]["signature"] = "0x" + f"{number:04x}" * 48
        headers.append(paid_with(payment))
    calls = [asyncio.ensure_future(shop.post(PATH, json={}, headers=one)) for one in headers]
    await until(lambda: ended(calls) == 192)
    exchanges.go_on.set()
    statuses = [answer.status_code for answer in await asyncio.gather(*calls)]
    assert (statuses.count(402), statuses.count(503)) == (8, 192)
    assert (exchanges.at_once, {path for path, _ in exchanges.made}) == (8, {"/verify"})
    assert (facilitator.settles, ledger.keys(), runs) == ([], [], [])
    assert (await shop.post(PATH, json={}, headers=payer.headers())).is_success


async def test_p24_nobody_is_burdened_with_what_others_say_in_his_name(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: Any, effects_of: Any
) -> None:
    """A hundred unsigned payments name the victim as the payer, to use up his limits: nothing is written down about him, and
    his next call is served."""
    headers = [paid_with(forged(payer.payment(), number)) for number in range(100)]
    async with ledger.watched() as lines:
        answers = await asyncio.gather(*(shop.post(PATH, json={}, headers=one) for one in headers))
    assert {answer.status_code for answer in answers} == {402}
    assert [line for line in effects_of(lines) if "}:rate:" in line or payer.address in line.lower()] == []
    assert facilitator.settles == []
    assert (await shop.post(PATH, json={}, headers=payer.headers())).is_success
