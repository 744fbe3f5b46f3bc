"""One call, from the price to the answer or to an error that says whether it was charged."""

import base64
import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest

from coinslot import AsyncBuyer, PaymentFolder, RetryPolicy, Wallet
from coinslot.buyer import Buyer
from coinslot.errors import (
    CallFailed,
    Charged,
    InvalidCall,
    OutcomeUnknown,
    PaymentRejected,
    PriceTooHigh,
    RateLimited,
    UnknownCall,
    Unreachable,
    UnreadableAnswer,
)
from coinslot.payment import MAX_HEADER_CHARS
from coinslot.payment_folder import claim
from coinslot.progress import Progress, Quoted, Sending, Waiting
from tests.client.conftest import DROP, KEY, TRANSACTION, Canned, Shop, failed, packed
from tests.each import each


def test_a_paid_call_brings_the_answer_and_the_receipt(shop: Shop, buyer: Buyer) -> None:
    """The payment passes the shop's own verifier. What is asked for and what is paid for is the same request.

    It asks for no compression: a few hundred compressed bytes can be half a gigabyte, and no answer here is large.
    """
    body = b'{"message": "h\\u00e9llo",   "n": 1.10}\n'
    before = int(time.time())
    answer = buyer.call("echo", body)
    assert (answer.body, answer.raw) == ({"ok": True, "youSent": "hi"}, b'{"ok":true,"youSent":"hi"}')
    assert (answer.price.text(), answer.offer.amount, answer.request_id) == ("0.001", "1000", "req-1")
    assert (answer.receipt.success, answer.receipt.transaction) == (True, TRANSACTION)
    first, second = shop.seen
    assert first.body == second.body == body
    assert first.headers["content-type"] == second.headers["content-type"] == "application/json"
    assert first.headers["accept-encoding"] == second.headers["accept-encoding"] == "identity"
    assert (first.method, first.path) == (second.method, second.path) == ("POST", "/v1/cdp/echo")
    assert (first.payment, second.payment) == (None, shop.payments[0])
    (authorization,) = shop.authorizations
    assert authorization.value == 1000
    assert before + 60 <= authorization.valid_before <= int(time.time()) + 60
    assert authorization.window_refusal(int(time.time())) is None


def test_the_payment_echoes_the_challenge(shop: Shop, buyer: Buyer) -> None:
    """The accepted offer, the resource and the extensions; but not extensions that make the header too long for servers."""
    buyer.call("echo")
    sent, challenge = json.loads(base64.b64decode(shop.payments[0])), shop.challenge()
    assert (sent["x402Version"], sent["accepted"]) == (2, challenge["accepts"][0])
    assert (sent["resource"], sent["extensions"]) == (challenge["resource"], challenge["extensions"])
    shop.unpaid = [shop.demand({**challenge, "extensions": {"bazaar": {"info": "x" * 20_000}}})]
    buyer.call("echo")
    assert len(shop.payments[1]) < MAX_HEADER_CHARS
    assert "extensions" not in json.loads(base64.b64decode(shop.payments[1]))


def test_a_free_call_is_not_paid(shop: Shop, buyer: Buyer) -> None:
    """A 200 to the first request is the answer, without receipt or price. A call without a body claims no type for it."""
    shop.unpaid = [Canned(200, b'{"free":1}', {"payment-response": "bm90IG1pbmU="})]
    answer = buyer.call("echo")
    assert (answer.body, answer.price, answer.offer, answer.receipt) == ({"free": 1}, None, None, None)
    (seen,) = shop.seen
    assert (seen.payment, seen.body, seen.headers.get("content-type")) == (None, b"", None)


def test_a_receipt_may_be_missing_or_in_the_older_header(shop: Shop, buyer: Buyer) -> None:
    """Without it the price is what was signed."""
    shop.paid = [Canned(200, b"[1]"), Canned(200, b"{}", {"x-payment-response": packed(shop.receipt())})]
    answer = buyer.call("echo")
    assert (answer.body, answer.receipt, answer.price.text()) == ([1], None, "0.001")
    assert buyer.call("echo").receipt.success


@each(
    ("name", "body"),
    [
        *((name, None) for name in ("", "Echo", "../admin", "echo?x=1", "chain/chain/x", "cdp/echo", "é", "a" * 65)),
        ("echo", {"message": object()}),
    ],
)
def test_a_call_that_cannot_be_is_refused_here(shop: Shop, buyer: Buyer, name: str, body: object) -> None:
    """No request is made for a name that would change the path, or a body that cannot be written as JSON."""
    with pytest.raises(InvalidCall):
        buyer.call(name, body)
    assert shop.seen == []


@each(
    "url",
    [
        "",
        "127.0.0.1:4020",
        "ftp://x",
        "http://",
        "http://u:p@h",
        "http://h?x",
        "http://h#x",
        "http://h:x",
        "http://h /",
    ],
)
def test_a_base_address_of_another_form_is_refused(url: str) -> None:
    """And a password in it is not repeated."""
    with pytest.raises(InvalidCall) as caught:
        Buyer(url, Wallet.evm(KEY), max_price=Decimal(1))
    assert "u:p" not in str(caught.value)


def test_the_signed_payment_is_announced_before_it_is_sent(shop: Shop) -> None:
    """Neither its repr nor the wallet's gives a secret away. The server's address may have a path."""
    order: list[object] = []
    shop.paid = [lambda seen: order.append("sent") or shop.sell(seen)]
    wallet = Wallet.evm(KEY)
    with Buyer(shop.base_url + "/shop/", wallet, max_price=None, on_signed=order.append) as buyer:
        buyer.call("echo")
    payment, sent = order
    assert (payment.header, sent) == (shop.payments[0], "sent")
    assert KEY.hex() not in repr(wallet)
    assert payment.header not in repr(payment)
    assert {seen.path for seen in shop.seen} == {"/shop/v1/cdp/echo"}


def test_an_answer_that_is_not_json_says_whether_it_was_paid(shop: Shop, buyer: Buyer) -> None:
    """Only a receipt proves that a garbled 200 came from the shop and was charged."""
    shop.paid = [Canned(200, b"<html>", {"payment-response": packed(shop.receipt())}), Canned(200, b"<html>")]
    errors = [failed(buyer, UnreadableAnswer) for _ in range(2)]
    assert [(error.raw, error.charged) for error in errors] == [(b"<html>", True), (b"<html>", "unknown")]
    assert len(shop.payments) == 2


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
    error = failed(buyer, PaymentRejected)
    assert (error.reason, error.charged, len(shop.payments) - before) == (reason, charged, 1)


def test_a_400_is_reported_with_the_servers_words(shop: Shop, buyer: Buyer) -> None:
    """An invalid body is not charged, and not tried again."""
    shop.paid = [shop.problem(400, detail="message is too long", requestId="req-9")]
    error = failed(buyer, CallFailed)
    assert (error.detail, error.charged, error.status, len(shop.payments)) == ("message is too long", False, 400, 1)
    assert error.problem["requestId"] == "req-9"


@pytest.mark.parametrize("when", ["unpaid", "paid"])
def test_a_429_is_reported_with_its_wait(shop: Shop, buyer: Buyer, when: str) -> None:
    """Nothing is repeated and nothing is spent. No proxy limits a request after letting it through."""
    setattr(shop, when, [shop.problem(429, retry_after=7), Canned(429, b"slow down")])
    for wait in (7.0, None):
        error = failed(buyer, RateLimited)
        assert (error.retry_after_s, error.charged) == (wait, False)
    assert len(shop.payments) == (2 if when == "paid" else 0)


@each(("when", "charged"), [("unpaid", False), ("paid", "unknown")])
def test_redirects_are_not_followed(shop: Shop, buyer: Buyer, when: str, charged: Charged) -> None:
    """A payment goes to the address that it was signed for, or nowhere."""
    for status in (301, 302, 307, 308):
        setattr(shop, when, [Canned(status, b"", {"location": shop.base_url + "/elsewhere"})])
        shop.seen.clear()
        error = failed(buyer, CallFailed)
        assert ("redirect" in error.detail, error.charged) == (True, charged)
        assert {seen.path for seen in shop.seen} == {"/v1/cdp/echo"}
        assert len(shop.payments) == (1 if when == "paid" else 0)
    shop.unpaid = [lambda seen: shop.demand(shop.challenge())]


def test_an_unpaid_failure_is_never_charged(shop: Shop, buyer: Buyer) -> None:
    """What the server says about a charge means nothing while nothing was signed."""
    shop.unpaid = [shop.problem(500, charged=True, retryWithSamePayment=True), shop.problem(404)]
    error = failed(buyer, CallFailed)
    assert (error.charged, error.repeatable, len(shop.seen)) == (False, False, 1)
    with pytest.raises(UnknownCall):
        buyer.call("ecko")


def test_a_shop_that_cannot_be_reached(shop: Shop, buyer: Buyer) -> None:
    """Nothing is signed for a connection that breaks before paying, or for none."""
    shop.unpaid = [DROP]
    error = failed(buyer, Unreachable)
    assert (error.charged, error.payment) == (False, None)
    with (
        Buyer("http://127.0.0.1:9", Wallet.evm(KEY), max_price=None, timeout_s=2) as nowhere,
        pytest.raises(Unreachable, match="no connection"),
    ):
        nowhere.call("echo")


@pytest.mark.anyio
async def test_a_call_that_is_sent_again(shop: Shop, tmp_path: Path) -> None:
    """The same payment until there is an answer, and the caller sees each step."""
    shop.paid = [DROP, shop.sell]
    steps: list[Progress] = []
    async with AsyncBuyer(
        shop.base_url,
        Wallet.evm(KEY),
        max_price=Decimal("0.01"),
        retry_policy=RetryPolicy(first_pause_s=0.01),
        payments=PaymentFolder(tmp_path),
        on_progress=steps.append,
    ) as buyer:
        answer = await buyer.call("echo", {"message": "hi"})
    assert answer.body == {"ok": True, "youSent": "hi"}
    assert (len(shop.payments), len(set(shop.payments))) == (2, 1)
    assert [type(step) for step in steps] == [Quoted, Sending, Waiting]
    assert PaymentFolder(tmp_path).files() == []


@pytest.mark.anyio
async def test_calls_run_at_the_same_time(shop: Shop) -> None:
    """One buyer for many tasks: each its own payment."""
    async with (
        AsyncBuyer(shop.base_url, Wallet.evm(KEY), max_price=None, payments=None) as buyer,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(5):
            tasks.start_soon(buyer.call, "echo")
    assert len(set(shop.payments)) == 5


@pytest.mark.anyio
async def test_the_limit_and_the_saved_payment(shop: Shop, tmp_path: Path) -> None:
    """What Buyer refuses is refused, and what it keeps is kept."""
    async with AsyncBuyer(shop.base_url, Wallet.evm(KEY), max_price=Decimal("0.0009"), payments=None) as buyer:
        with pytest.raises(PriceTooHigh):
            await buyer.call("echo")
    shop.paid = [DROP, shop.sell]
    async with AsyncBuyer(
        shop.base_url,
        Wallet.evm(KEY),
        max_price=None,
        retry_policy=RetryPolicy(budget_s=0),
        payments=PaymentFolder(tmp_path),
    ) as buyer:
        with pytest.raises(OutcomeUnknown) as caught:
            await buyer.call("echo")
        assert (await buyer.resume(claim(caught.value.saved))).receipt.success
    assert PaymentFolder(tmp_path).files() == []
