"""Final noes and a fast ledger, as a buyer meets them on the sandbox."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis

from coinslot import sandbox_file
from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CallFailed
from coinslot.wallet import Wallet
from coinslot.wallet_source import sandbox_signer
from ops.payments import attention
from shared.ledger.keys import RERUN_MS
from shared.x402.networks import Rail


def buyer(service: Any, rail: Rail) -> Buyer:
    signer = sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), rail)
    return Buyer(service.base_url, Wallet((signer,)), max_price=None, retry_policy=RetryPolicy(budget_s=60))


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("whois", {"domain": "foo.nosuchtld"}, "no_whois_server"),
        ("youtube", {"url": "https://youtu.be/coinslot-05"}, "video_unavailable"),
        ("rss", {"url": "https://no-such-host.example.com/feed"}, "dns_failure"),
    ],
)
def test_a_final_no_is_answered_once_and_is_nothing_for_a_person(
    service: Any, name: str, body: dict[str, Any], reason: str
) -> None:
    """Charged and answered: not run again, and in no list of the operator's, now or in a day."""
    with buyer(service, Rail.BASE) as paying, pytest.raises(CallFailed) as failed:
        paying.call(name, body)
    problem = failed.value.problem
    assert problem is not None
    assert (problem["status"], problem["reason"], problem["charged"]) == (502, reason, True)
    assert (problem["retryable"], problem["retryWithSamePayment"], failed.value.repeatable) == (False, False, False)
    settings = dict(line.split("=", 1) for line in service.environment)
    with redis.Redis.from_url(settings["COINSLOT_LEDGER_URL"]) as ledger:
        told = attention(ledger, now_ms=int(time.time() * 1000) + RERUN_MS)
        assert name not in {payment["endpoint"] for payment in told}


def test_what_is_certain_beforehand_is_not_charged(service: Any) -> None:
    """A registry of which it is known that it has no WHOIS server."""
    with buyer(service, Rail.BASE) as paying, pytest.raises(CallFailed) as failed:
        paying.call("whois", {"domain": "example.vn"})
    assert (failed.value.status, failed.value.charged) == (400, False)


def test_stellar_is_paid_however_old_the_ledger_is_that_the_api_knows(service: Any) -> None:
    """The sandbox closes a ledger a second, and the API asks every ten seconds: one call in each second of that."""
    with buyer(service, Rail.STELLAR) as paying:
        end = time.monotonic() + 12
        while time.monotonic() < end:
            assert paying.call("echo", {"message": "a"}).body["youSent"] == "a"
