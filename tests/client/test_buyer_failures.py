"""Calls that end without an answer: the kind of error, and whether it was charged."""

from __future__ import annotations

from typing import Any

import pytest

from coinslot.buyer import Buyer
from coinslot.errors import (
    CallFailed,
    Charged,
    PaymentRejected,
    RateLimited,
    UnknownCall,
    Unreachable,
    UnreadableAnswer,
)
from coinslot.wallet import Wallet
from tests.client.conftest import DROP, KEY, Canned, Shop, packed
from tests.each import each


@pytest.mark.parametrize(("with_receipt", "charged"), [(True, True), (False, "unknown")])
def test_an_answer_that_is_not_json_says_whether_it_was_paid(
    shop: Shop, buyer: Buyer, with_receipt: bool, charged: Charged
) -> None:
    """Only a receipt proves that a garbled 200 came from the shop and was charged."""
    headers = {"payment-response": packed(shop.receipt())} if with_receipt else {}
    shop.paid = [Canned(200, b"<html>", headers)]
    with pytest.raises(UnreadableAnswer) as caught:
        buyer.call("echo")
    assert (caught.value.raw, caught.value.charged, len(shop.payments)) == (b"<html>", charged, 1)


@each(
    ("receipt", "reason", "charged"),
    [
        (None, "invalid_exact_evm_insufficient_balance", False),
        ({"success": False, "transaction": "", "errorReason": "nonce_used"}, "nonce_used", False),
        ({"success": False, "errorReason": "settlement_pending"}, "settlement_pending", "unknown"),
    ],
    ids=["no receipt", "not settled", "broadcast"],
)
def test_a_second_402_ends_the_call(
    shop: Shop, buyer: Buyer, receipt: dict[str, Any] | None, reason: str, charged: Charged
) -> None:
    """It is never followed by another payment. A receipt gives the reason, and a transaction may move money later."""
    document = {**shop.challenge(), "error": "invalid_exact_evm_insufficient_balance"}
    shop.paid = [shop.demand(document)]
    if receipt:
        shop.paid = [Canned(402, b"{}", {"payment-response": packed(shop.receipt(**receipt))})]
    before = len(shop.payments)
    with pytest.raises(PaymentRejected) as caught:
        buyer.call("echo")
    assert (caught.value.reason, caught.value.charged, len(shop.payments) - before) == (reason, charged, 1)


def test_a_400_is_reported_with_the_servers_words(shop: Shop, buyer: Buyer) -> None:
    """An invalid body is not charged, and not tried again."""
    shop.paid = [shop.problem(400, detail="message is too long", requestId="req-9")]
    with pytest.raises(CallFailed, match="message is too long") as caught:
        buyer.call("echo")
    assert (caught.value.charged, caught.value.status, len(shop.payments)) == (False, 400, 1)
    assert caught.value.problem["requestId"] == "req-9"


@pytest.mark.parametrize("when", ["unpaid", "paid"])
def test_a_429_is_reported_with_its_wait(shop: Shop, buyer: Buyer, when: str) -> None:
    """Nothing is repeated and nothing is spent. No proxy limits a request after letting it through."""
    setattr(shop, when, [shop.problem(429, retry_after=7), Canned(429, b"slow down")])
    for wait in (7.0, None):
        with pytest.raises(RateLimited) as caught:
            buyer.call("echo")
        assert (caught.value.retry_after_s, caught.value.charged) == (wait, False)
    assert len(shop.payments) == (2 if when == "paid" else 0)


@pytest.mark.parametrize("when", ["unpaid", "paid"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(shop: Shop, buyer: Buyer, when: str, status: int) -> None:
    """A payment goes to the address that it was signed for, or nowhere."""
    setattr(shop, when, [Canned(status, b"", {"location": shop.base_url + "/elsewhere"})])
    with pytest.raises(CallFailed, match="redirect") as caught:
        buyer.call("echo")
    assert caught.value.charged == (False if when == "unpaid" else "unknown")
    assert {seen.path for seen in shop.seen} == {"/v1/cdp/echo"}
    assert len(shop.payments) == (1 if when == "paid" else 0)


def test_an_unpaid_failure_is_never_charged(shop: Shop, buyer: Buyer) -> None:
    """What the server says about a charge means nothing while nothing was signed."""
    shop.unpaid = [shop.problem(500, charged=True, retryWithSamePayment=True), shop.problem(404)]
    with pytest.raises(CallFailed) as caught:
        buyer.call("echo")
    assert (caught.value.charged, caught.value.repeatable, len(shop.seen)) == (False, False, 1)
    with pytest.raises(UnknownCall):
        buyer.call("ecko")


def test_a_shop_that_cannot_be_reached(shop: Shop, buyer: Buyer) -> None:
    """Nothing is signed for a connection that breaks before paying, or for none."""
    shop.unpaid = [DROP]
    with pytest.raises(Unreachable) as caught:
        buyer.call("echo")
    assert (caught.value.charged, caught.value.payment) == (False, None)
    with (
        Buyer("http://127.0.0.1:9", Wallet.evm(KEY), max_price=None, timeout_s=2) as nowhere,
        pytest.raises(Unreachable, match="no connection"),
    ):
        nowhere.call("echo")
