"""One call, from the price to the answer."""

from __future__ import annotations

import base64
import json
import time
from decimal import Decimal

import pytest

from coinslot.buyer import Buyer
from coinslot.errors import (
    InvalidCall,
)
from coinslot.payment import MAX_HEADER_CHARS
from coinslot.wallet import Wallet
from tests.client.conftest import KEY, TRANSACTION, Canned, Shop, packed
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
        *((name, None) for name in ("", "Echo", "../admin", "echo?x=1", "chain/chain/x", "v1/echo", "é", "a" * 65)),
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
