"""Limits per payer, and what is found out in the background (P16, P18, P22, P24, P38).

The ledger's keys for it: `coinslot:{bucket}:rate:{payer}:{endpoint}`, `coinslot:{bucket}:journal`. The setting: `rate_limits`.
"""

import asyncio
import dataclasses
import time
from typing import Any

import httpx
import pytest

from jobs.catalogue import BY_NAME
from shared.ledger.keys import PREFIXES, bucket_of_payer
from shared.money import Price
from shared.settings.service import Settings
from tests.api.paying import Payer, paid_with

PATH = "/v1/cdp/echo"

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]


SOLD = (BY_NAME["echo"],)
"""These tests buy echo."""


async def test_p16_somebody_elses_broadcast_is_found_out_in_the_background(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: Any, runs: list[Any]
) -> None:
    """A stranger broadcasts the authorization while our settlement is unknown: without any repeated call the ledger learns
    from the chain that it is paid, and the payer's next copy is served."""
    payment = payer.payment()
    headers = paid_with(payment)
    facilitator.script, facilitator.evidence = ["reset"], "unknown"
    assert (await shop.post(PATH, json={}, headers=headers)).status_code == 503
    facilitator.paid.add(payment["payload"]["authorization"]["nonce"])
    facilitator.evidence = None
    give_up_at = time.monotonic() + 10
    while ledger.record(payment)["state"] != "SETTLED":
        assert time.monotonic() < give_up_at, ledger.record(payment)
        await asyncio.sleep(0.1)
    assert ledger.journal(payment).count("SETTLED") == 1
    assert runs == []
    assert (await shop.post(PATH, json={}, headers=headers)).status_code == 200
    assert (len(facilitator.paid), len(runs)) == (1, 1)
    assert ledger.journal(payment).count("SETTLED") == 1


@pytest.mark.parametrize("reason", ["invalid_exact_evm_nonce_already_used", "duplicate_settlement"])
async def test_p16_a_used_nonce_is_looked_into_before_it_is_a_refusal(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, runs: list[Any], reason: str
) -> None:
    """A stranger broadcasts the authorization before our first settle call, which is refused for that: the payer has paid,
    so it is no 402, on which he would pay again."""
    payment = payer.payment()
    facilitator.paid.add(payment["payload"]["authorization"]["nonce"])
    facilitator.script, facilitator.reason = ["refuse"], reason
    answer = await shop.post(PATH, json={}, headers=paid_with(payment))
    assert answer.status_code == 200
    assert (len(facilitator.paid), len(runs)) == (1, 1)


async def test_p22_one_payer_cannot_take_what_others_wait_for(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: Any, runs: list[Any]
) -> None:
    """A hundred good payments of one payer at once, settled slowly: most are told to come later, uncharged, while another
    payer is served; and what was told to come later can come later."""
    facilitator.delay_s = 0.3
    headers = [payer.headers() for _ in range(100)]
    flood = asyncio.gather(*(shop.post(PATH, json={}, headers=one) for one in headers))
    await asyncio.sleep(0.1)
    honest = paid_with(Payer().payment())
    assert (await shop.post(PATH, json={}, headers=honest)).status_code == 200
    answers = await flood
    facilitator.delay_s = 0
    served = [answer for answer in answers if answer.status_code == 200]
    limited = [(one, answer) for one, answer in zip(headers, answers, strict=True) if answer.status_code == 429]
    assert (len(served) + len(limited), 0 < len(served) <= 40) == (100, True)
    assert len(facilitator.settles) == len(served) + 1 == len(ledger.keys()) == len(runs)
    for _, answer in limited:
        problem = answer.json()
        assert (problem["code"], problem["charged"], problem["retryWithSamePayment"]) == ("rate_limited", False, True)
        assert int(answer.headers["retry-after"]) >= 1
        assert "payment-response" not in answer.headers
    later, answer = limited[0]
    await asyncio.sleep(int(answer.headers["retry-after"]))
    assert (await shop.post(PATH, json={}, headers=later)).status_code == 200


async def test_p22_what_is_paid_is_collected_whatever_the_limit(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any
) -> None:
    """Limits are used to withhold what is paid: stored answers are given to a payer who is over his limit."""
    first = payer.headers()
    assert (await shop.post(PATH, json={}, headers=first)).status_code == 200
    calls = [shop.post(PATH, json={}, headers=payer.headers()) for _ in range(60)]
    assert 429 in {answer.status_code for answer in await asyncio.gather(*calls)}
    copies = await asyncio.gather(*(shop.post(PATH, json={}, headers=first) for _ in range(60)))
    assert {answer.status_code for answer in copies} == {200}


async def test_p22_limits_can_be_switched_off(settings: Settings, open_shop: Any, payer: Payer, ledger: Any) -> None:
    """An operator's own choice."""
    unlimited: Any = {"rate_limits": "off"}
    async with open_shop(dataclasses.replace(settings, **unlimited)) as shop:
        calls = [shop.post(PATH, json={}, headers=payer.headers()) for _ in range(60)]
        assert {answer.status_code for answer in await asyncio.gather(*calls)} == {200}
    assert ledger.keys("rate") == []


async def test_p24_only_a_payment_that_is_good_counts_against_its_payer(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: Any
) -> None:
    """Unsigned payments, expired ones and bad bodies in the victim's name do not use up his limit; one good call does."""
    unsigned = payer.payment()
    unsigned["payload"]["signature"] = "0x" + "11" * 65
    wallet = payer.payment()
    wallet["payload"]["signature"] = "0x" + "11" * 96
    good = payer.payment()
    for payment, body in ((unsigned, b"{}"), (wallet, b"{}"), (payer.payment(validBefore="1"), b"{}"), (good, b"{")):
        for _ in range(50):
            await shop.post(PATH, content=body, headers=paid_with(payment))
    assert (ledger.keys("rate"), facilitator.settles) == ([], [])
    assert (await shop.post(PATH, json={}, headers=paid_with(good))).status_code == 200
    prefix = PREFIXES[bucket_of_payer("eip155:8453", payer.address)]
    assert [key.lower() for key in ledger.keys("rate")] == [f"{prefix}rate:{payer.address}:echo"]


async def test_p38_an_old_price_is_no_way_to_pay_less(
    settings: Settings, open_shop: Any, payer: Payer, facilitator: Any, exchanges: Any, runs: list[Any]
) -> None:
    """While a settlement is unknown the payer signs its nonce once more over a smaller amount, and says that this was the
    price."""
    payment = payer.payment()
    nonce = payment["payload"]["authorization"]["nonce"]
    cheaper = payer.payment(price="0.000001", nonce=nonce)
    dearer = dataclasses.replace(BY_NAME["echo"], price=Price.of("0.002"))
    async with open_shop(settings) as before:
        facilitator.script, facilitator.evidence = ["error500"], "unknown"
        headers = paid_with(payment)
        assert (await before.post(PATH, json={}, headers=headers)).status_code == 503
    async with open_shop(settings, (dearer,)) as after:
        answer = await after.post(PATH, json={}, headers=paid_with(cheaper))
        assert answer.status_code == 402
    amounts = {call["paymentRequirements"]["amount"] for path, call in exchanges.made if path == "/settle"}
    assert (amounts, runs) == ({"1000"}, [])
