"""Attacks on the settlement: time, the chain, and a facilitator that lies (P15 to P20).

P16's front-runner is caught by our facilitator (tests/facilitator/test_evm_rail.py); what the API does about him with a
facilitator that knows no evidence is in test_limits.py.
"""

import base64
import json
import time
from typing import Any

import httpx
import pytest

from api.payment.transitions import RECORD_TTL_S
from jobs.catalogue import BY_NAME
from shared.x402.evm import LATEST_EXPIRY_S
from tests.api.paying import Payer, paid_with

PATH = "/v1/cdp/echo"

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]


SOLD = (BY_NAME["echo"],)
"""These tests buy echo."""


BEFORE = "invalid_exact_evm_payload_authorization_valid_before"
AFTER = "invalid_exact_evm_payload_authorization_valid_after"
UNREADABLE = ["-1", "1e10", "", " 2000000000", "1_900_000_000", str(2**256), "２０００００００００"]


def windows(now: int) -> dict[str, tuple[dict[str, str], str]]:
    """What is not valid now, and why."""
    return {
        "expired long ago": ({"validBefore": "1"}, BEFORE),
        "expired at once": ({"validBefore": "0"}, BEFORE),
        "expired a moment ago": ({"validBefore": str(now - 1)}, BEFORE),
        "too short to settle": ({"validBefore": str(now + 3)}, BEFORE),
        "valid too long": ({"validBefore": str(now + LATEST_EXPIRY_S + 120)}, BEFORE),
        "valid for ever": ({"validBefore": str(2**256 - 1)}, BEFORE),
        "valid beyond 64 bits": ({"validBefore": str(2**64 + now + 60)}, BEFORE),
        "not valid yet": ({"validAfter": str(now + 120)}, AFTER),
        "never valid": ({"validAfter": str(2**256 - 1)}, AFTER),
        "turned around": ({"validAfter": str(now + 200), "validBefore": str(now + 100)}, AFTER),
    }


async def test_p15_outside_its_window_nothing_is_settled(
    shop: httpx.AsyncClient, payer: Payer, exchanges: Any, ledger: Any
) -> None:
    """Payments that were, will be or would for ever be good: old ones to be replayed, eternal ones to outlive our memory."""
    for name, (fields, reason) in windows(int(time.time())).items():
        answer = await shop.post(PATH, json={}, headers=payer.headers(**fields))
        assert (answer.status_code, answer.json()["error"]) == (402, reason), name
    for text in UNREADABLE:
        for field in ("validBefore", "validAfter"):
            payment = payer.payment()
            payment["payload"]["authorization"][field] = text
            answer = await shop.post(PATH, json={}, headers=paid_with(payment))
            assert (answer.status_code, answer.json()["error"]) == (402, "invalid_payload"), text
    assert (exchanges.made, ledger.keys()) == ([], [])


async def test_p17_a_payer_who_empties_the_wallet_after_the_check_gets_nothing(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, exchanges: Any, runs: list[Any]
) -> None:
    """The payment is good when it is verified; before it is settled, the payer cancels it or moves the money away."""
    facilitator.accepts_wallet = True
    for reason in ("insufficient_funds", "invalid_exact_evm_transaction_simulation_failed"):
        payment = payer.payment()
        payment["payload"]["signature"] = "0x" + "ab" * 96
        facilitator.script, facilitator.reason = ["refuse"], reason
        headers = paid_with(payment)
        answers = [await shop.post(PATH, json={}, headers=headers) for _ in range(3)]
        assert {(answer.status_code, answer.json()["error"]) for answer in answers} == {(402, reason)}
    assert (len(facilitator.settles), facilitator.paid, runs) == (2, set(), [])
    assert "/verify" in {path for path, _ in exchanges.made}


async def test_p18_what_was_used_cannot_be_used_again_when_its_record_is_gone(
    shop: httpx.AsyncClient,
    payer: Payer,
    facilitator: Any,
    ledger: Any,
    runs: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Payments are kept until our record of them has expired, and presented once more."""
    payments = [payer.payment() for _ in range(3)]
    facilitator.script, facilitator.evidence = ["ok", "refuse", "error500"], "unknown"
    statuses = [(await shop.post(PATH, json={}, headers=paid_with(payment))).status_code for payment in payments]
    assert statuses == [200, 402, 503]
    longest_s = LATEST_EXPIRY_S + 60
    assert all(ledger.lifetime_s(payment) > longest_s for payment in payments)
    settles = len(facilitator.settles)

    for payment in payments:
        ledger.forget(payment)
    real = time.time
    monkeypatch.setattr("api.pipeline.time.time", lambda: real() + RECORD_TTL_S)
    for payment in payments:
        answer = await shop.post(PATH, json={}, headers=paid_with(payment))
        assert (answer.status_code, answer.json()["error"]) == (402, BEFORE)
    assert (len(facilitator.settles), len(runs)) == (settles, 1)


REASONS = ["insufficient_funds", "invalid_exact_evm_transaction_simulation_failed", "network_mismatch"]
WORDS = ["<script>alert(1)</script>", "Not enough money", "a" * 101, "x\r\nSet-Cookie: a=b", "\u00e9", "UPPER"]


async def test_p19_success_false_is_a_refusal_whatever_the_status(
    shop: httpx.AsyncClient, facilitator: Any, runs: list[Any]
) -> None:
    """The facilitator says HTTP 200 and `success: false`: whoever looks at the status alone serves for nothing."""
    for mode in ("refuse", "refuse400"):
        for reason in REASONS:
            facilitator.script, facilitator.reason = [mode], reason
            answer = await shop.post(PATH, json={}, headers=paid_with(Payer().payment()))
            assert (answer.status_code, answer.json()["error"]) == (402, reason)
            receipt = json.loads(base64.b64decode(answer.headers["payment-response"]))
            assert (receipt["success"], receipt["errorReason"]) == (False, reason)
            assert receipt.get("transaction", "") == ""
    assert (facilitator.paid, runs) == (set(), [])


async def test_p19_words_that_are_none_of_the_specification_go_nowhere(
    shop: httpx.AsyncClient, facilitator: Any, runs: list[Any]
) -> None:
    """A facilitator's reason is markup, a header of its own or prose: it gets nowhere near our headers and bodies, nothing is
    served, and nothing is said to be refused that was not."""
    facilitator.evidence = "unknown"
    for reason in WORDS:
        facilitator.script, facilitator.reason = ["refuse"], reason
        answer = await shop.post(PATH, json={}, headers=paid_with(Payer().payment()))
        assert (answer.status_code, answer.json()["code"]) == (503, "settlement_unknown")
        said = [answer.text, *answer.headers.values()]
        said += [base64.b64decode(value).decode() for name, value in answer.headers.items() if "payment" in name]
        assert not [text for text in said if reason in text]
        assert "set-cookie" not in answer.headers
    assert (facilitator.paid, runs) == (set(), [])


UNDECIDED = [
    "pending",
    "error500",
    "garbage",
    "html",
    "empty_transaction",
    "other_network",
    "other_payer",
    "other_amount",
    "redirect",
    "huge",
    "reset",
    "hang",
    "refuse500",
    "refuse_with_transaction",
]


@pytest.mark.parametrize("broadcast", ["", "+paid"], ids=["before", "after"])
async def test_p20_nothing_is_served_and_nothing_refused_while_it_is_unknown(
    shop: httpx.AsyncClient, facilitator: Any, runs: list[Any], broadcast: str
) -> None:
    """The facilitator's answer is lost, broken or about something else, before or after the money moved: neither 402, on
    which clients pay again, nor an answer for what may not be paid. The same payment then ends well and is paid once."""
    for mode in UNDECIDED:
        payment = Payer().payment()
        nonce = payment["payload"]["authorization"]["nonce"]
        headers = paid_with(payment)
        facilitator.script, facilitator.evidence = [mode + broadcast], "unknown"
        before = len(runs), len(facilitator.paid)
        answer = await shop.post(PATH, json={"message": mode}, headers=headers)
        problem = answer.json()
        assert (answer.status_code, problem["code"], problem["charged"]) == (503, "settlement_unknown", "unknown"), mode
        assert (problem["retryWithSamePayment"], int(answer.headers["retry-after"]) > 0) == (True, True)
        assert "payment-response" not in answer.headers
        assert len(runs) == before[0]
        facilitator.evidence = None
        answer = await shop.post(PATH, json={"message": mode}, headers=headers)
        assert (answer.status_code, answer.json()["youSent"]) == (200, mode)
        assert (len(runs) - before[0], len(facilitator.paid) - before[1]) == (1, 1)
        assert nonce in facilitator.paid
