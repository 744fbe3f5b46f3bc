"""Calls that end without an answer: the kind of error, and whether it was charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from tests.client.conftest import Canned, Shop

KEY = bytes(31) + b"\x07"


@pytest.mark.parametrize(("with_receipt", "charged"), [(True, True), (False, "unknown")])
def test_an_answer_that_is_not_json_says_whether_it_was_paid(
    shop: Shop, buyer: Buyer, canned: type[Canned], pack: Callable[[Any], str], with_receipt: bool, charged: Charged
) -> None:
    """Only a receipt proves that a garbled 200 came from the shop and was charged."""
    headers = {"payment-response": pack(shop.receipt())} if with_receipt else {}
    shop.paid = [canned(200, b"<html>", headers)]
    with pytest.raises(UnreadableAnswer) as caught:
        buyer.call("echo")
    assert (caught.value.raw, caught.value.charged, len(shop.payments)) == (b"<html>", charged, 1)


def test_a_second_402_ends_the_call(shop: Shop, buyer: Buyer) -> None:
    """A refused payment is reported with the server's reason, and never followed by another one."""
    shop.paid = [lambda seen: shop.demand({**shop.challenge(), "error": "invalid_exact_evm_insufficient_balance"})]
    with pytest.raises(PaymentRejected) as caught:
        buyer.call("echo")
    assert caught.value.reason == "invalid_exact_evm_insufficient_balance"
    assert caught.value.charged is False
    assert (len(shop.seen), len(shop.payments)) == (2, 1)


def test_a_failed_settlement_names_its_reason(
    shop: Shop, buyer: Buyer, canned: type[Canned], pack: Callable[[Any], str]
) -> None:
    """The receipt of a 402 knows better than its challenge why the payment failed."""
    receipt = shop.receipt(success=False, transaction="", errorReason="nonce_used")
    shop.paid = [canned(402, b"{}", {"payment-response": pack(receipt)})]
    with pytest.raises(PaymentRejected) as caught:
        buyer.call("echo")
    assert (caught.value.reason, caught.value.charged) == ("nonce_used", False)


def test_a_402_with_a_broadcast_transaction_is_not_called_free(
    shop: Shop, buyer: Buyer, canned: type[Canned], pack: Callable[[Any], str]
) -> None:
    """settlement_pending means that money may still move."""
    receipt = shop.receipt(success=False, errorReason="settlement_pending")
    shop.paid = [canned(402, b"{}", {"payment-response": pack(receipt)})]
    with pytest.raises(PaymentRejected) as caught:
        buyer.call("echo")
    assert caught.value.charged == "unknown"


def test_a_400_is_reported_with_the_servers_words(shop: Shop, buyer: Buyer) -> None:
    """An invalid body is not charged, and not tried again."""
    shop.paid = [shop.problem(400, detail="message is too long", requestId="req-9")]
    with pytest.raises(CallFailed, match="message is too long") as caught:
        buyer.call("echo")
    assert (caught.value.charged, caught.value.status, len(shop.payments)) == (False, 400, 1)
    assert caught.value.problem["requestId"] == "req-9"


@pytest.mark.parametrize("when", ["unpaid", "paid"])
def test_a_429_is_reported_with_its_wait(shop: Shop, buyer: Buyer, when: str) -> None:
    """A limit is the caller's to wait for: nothing is repeated and nothing is spent."""
    setattr(shop, when, [shop.problem(429, retry_after=7)])
    with pytest.raises(RateLimited) as caught:
        buyer.call("echo")
    assert (caught.value.retry_after_s, caught.value.charged) == (7.0, False)
    assert len(shop.payments) == (1 if when == "paid" else 0)


def test_a_429_of_a_proxy_is_not_charged(shop: Shop, buyer: Buyer, canned: type[Canned]) -> None:
    """No proxy limits a request after letting it through."""
    shop.paid = [canned(429, b"slow down")]
    with pytest.raises(RateLimited) as caught:
        buyer.call("echo")
    assert caught.value.charged is False


@pytest.mark.parametrize("when", ["unpaid", "paid"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(shop: Shop, buyer: Buyer, canned: type[Canned], when: str, status: int) -> None:
    """A payment goes to the address that it was signed for, or nowhere."""
    setattr(shop, when, [canned(status, b"", {"location": shop.base_url + "/elsewhere"})])
    with pytest.raises(CallFailed, match="redirect") as caught:
        buyer.call("echo")
    assert caught.value.charged == (False if when == "unpaid" else "unknown")
    assert {seen.path for seen in shop.seen} == {"/v1/cdp/echo"}
    assert len(shop.payments) == (1 if when == "paid" else 0)


def test_an_unknown_call_is_told_apart(shop: Shop, buyer: Buyer) -> None:
    """404 before paying."""
    shop.unpaid = [shop.problem(404)]
    with pytest.raises(UnknownCall):
        buyer.call("ecko")


def test_an_unpaid_failure_is_never_charged(shop: Shop, buyer: Buyer) -> None:
    """What the server says about a charge means nothing while nothing was signed."""
    shop.unpaid = [shop.problem(500, charged=True, retryWithSamePayment=True)]
    with pytest.raises(CallFailed) as caught:
        buyer.call("echo")
    assert (caught.value.charged, caught.value.repeatable, len(shop.seen)) == (False, False, 1)


def test_a_broken_connection_before_paying_is_unreachable(shop: Shop, buyer: Buyer, drop: Canned) -> None:
    """Nothing is signed for a shop that does not answer."""
    shop.unpaid = [drop]
    with pytest.raises(Unreachable) as caught:
        buyer.call("echo")
    assert (caught.value.charged, caught.value.payment) == (False, None)


def test_a_closed_port_is_unreachable() -> None:
    """So it is when there is no shop at all."""
    with (
        Buyer("http://127.0.0.1:9", Wallet.evm(KEY), max_price=None, timeout_s=2) as buyer,
        pytest.raises(Unreachable, match="no connection"),
    ):
        buyer.call("echo")
