"""Attacks and accidents behind the settlement: caches, lost jobs, lost answers (P26, P36)."""

import dataclasses
import json
from base64 import b64decode
from typing import Any

import httpx
import pytest

from jobs.catalogue import BY_NAME
from shared.endpoint import Pool
from shared.outcome import Failed, Ok
from shared.pools import POOLS
from shared.settings.service import Settings
from tests.api.paying import Payer, encoded, paid_with

PATH = "/v1/cdp/echo"

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]


async def test_p26_no_answer_may_be_cached_and_none_shows_the_payment(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache on the way gives a paid answer, a price or a payment to whoever asks next."""
    answers: list[tuple[str, httpx.Response]] = []

    async def send(payment: Any, *, path: str = PATH, method: str = "POST", **options: Any) -> None:
        header = payment if isinstance(payment, str) else encoded(payment)
        for more in ({}, {"Origin": "https://agent.example"}):
            headers = {"PAYMENT-SIGNATURE": header, **more, **options.get("headers", {})}
            rest = {name: value for name, value in options.items() if name != "headers"}
            answer = await shop.request(method, path, headers=headers, **rest)
            answers.append((header, answer))

    good = payer.payment()
    await send(good, json={"message": "a"})
    await send(good, json={"message": "b"})
    await send("e30=")
    await send("")
    await send(payer.payment(value="1"))
    await send(payer.payment(), content=b"{")
    await send(payer.payment(), content=b"a=b", headers={"Content-Type": "text/plain"})
    await send(payer.payment(), content=b" " * 100_000)
    await send(payer.payment(), method="GET")
    await send(payer.payment(), method="PUT")
    await send(payer.payment(), path="/v1/cdp/nothing")
    facilitator.script = ["refuse"]
    await send(payer.payment())
    facilitator.script, facilitator.evidence = ["error500", "error500"], "unknown"
    await send(payer.payment())
    with monkeypatch.context() as full:
        full.setitem(POOLS, Pool.MICRO, dataclasses.replace(POOLS[Pool.MICRO], room=0))
        await send(payer.payment())
    for failed in (
        Failed("upstream_failed", "No.", reason="captions_disabled"),
        Failed("internal_error", "No.", retryable=True),
        Failed("deadline_exceeded", "No.", retryable=True),
    ):
        with monkeypatch.context() as failing:
            failing.setattr("workers.actors.execute", lambda *_, failed=failed: failed)
            await send(payer.payment(), json={})
    statuses = {answer.status_code for _, answer in answers}
    assert statuses == {200, 400, 402, 404, 405, 413, 415, 500, 502, 503, 504}
    for header, answer in answers:
        assert "no-store" in answer.headers["cache-control"], answer.status_code
        said = [answer.text, *(f"{name}: {value}" for name, value in answer.headers.items())]
        said += [b64decode(value).decode() for name, value in answer.headers.items() if name.startswith("payment-")]
        if header not in ("", "e30="):
            signature = json.loads(b64decode(header))["payload"]["signature"]
            assert not [text for text in said if header in text or signature[2:] in text], answer.status_code


async def test_p36_a_job_that_is_lost_is_run_for_the_same_payment(
    settings: Settings,
    open_shop: Any,
    payer: Payer,
    facilitator: Any,
    ledger: Any,
    runs: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Paid, and the job never gets to a worker: 504 with the receipt; the same request, repeated, is answered and not
    charged."""
    payment = payer.payment()
    headers = paid_with(payment)
    hurried = dataclasses.replace(BY_NAME["echo"], deadline_s=1.0)
    monkeypatch.setattr("api.claims.LEASE_MARGIN_S", 0.3)
    async with open_shop(settings, (hurried,)) as shop:
        with monkeypatch.context() as lossy:
            lossy.setattr("api.dispatch.Dispatcher._send", lambda *_: None)
            late = await shop.post(PATH, json={"message": "a"}, headers=headers)
        assert (late.status_code, late.json()["charged"], late.json()["retryWithSamePayment"]) == (504, True, True)
        assert (len(facilitator.settles), runs, ledger.record(payment)["state"]) == (1, [], "SETTLED")
        answer = await shop.post(PATH, json={"message": "a"}, headers=headers)
    assert (answer.status_code, answer.json()["youSent"]) == (200, "a")
    assert answer.headers["payment-response"] == late.headers["payment-response"]
    assert (len(facilitator.settles), len(runs), ledger.record(payment)["attempts"]) == (1, 1, "1")


async def test_p36_an_answer_that_was_not_stored_is_made_again(
    settings: Settings, open_shop: Any, payer: Payer, facilitator: Any, runs: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is done and the ledger takes no answer: what could differ the next time is not given out, and the next time
    costs nothing."""
    numbers = iter(range(100))
    monkeypatch.setattr("workers.actors.execute", lambda *_: Ok(b'{"n":%d}' % next(numbers)))
    headers = payer.headers()
    hurried = dataclasses.replace(BY_NAME["echo"], deadline_s=1.0)
    monkeypatch.setattr("api.claims.LEASE_MARGIN_S", 0.3)
    async with open_shop(settings, (hurried,)) as shop:
        with monkeypatch.context() as broken:
            broken.setattr("workers.answers.AnswerStore._command", lambda *_: ("EVALSHA", "0" * 39, 0))
            lost = await shop.post(PATH, json={}, headers=headers)
        assert (lost.status_code, lost.json()["charged"], lost.json()["retryWithSamePayment"]) == (503, True, True)
        answers = {(await shop.post(PATH, json={}, headers=headers)).content for _ in range(3)}
    assert answers == {b'{"n":1}'}
    assert (len(facilitator.settles), len(runs)) == (1, 2)
