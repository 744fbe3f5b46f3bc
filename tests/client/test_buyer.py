"""One call, from the price to the answer."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from coinslot.async_exchange import AsyncExchange
from coinslot.blocking_exchange import BlockingExchange
from coinslot.buyer import Buyer
from coinslot.errors import (
    InvalidCall,
)
from coinslot.exchange import Reply, pool_options
from coinslot.payment import MAX_HEADER_CHARS
from coinslot.wallet import Wallet
from tests.each import each

if TYPE_CHECKING:
    from tests.client.conftest import Canned, Shop


KEY = bytes(31) + b"\x07"


def test_a_paid_call_brings_the_answer_and_the_receipt(shop: Shop, buyer: Buyer) -> None:
    """The payment passes the shop's own verifier, and the answer says what was paid to whom."""
    answer = buyer.call("echo", {"message": "hi"})
    assert answer.body == {"ok": True, "youSent": "hi"}
    assert answer.raw == b'{"ok":true,"youSent":"hi"}'
    assert (answer.price.text(), answer.offer.amount) == ("0.001", "1000")
    assert answer.receipt.success
    assert answer.receipt.transaction == "0x" + "ab" * 32
    assert answer.request_id == "req-1"
    assert [authorization.value for authorization in shop.authorizations] == [1000]


def test_both_requests_have_the_same_bytes(shop: Shop, buyer: Buyer) -> None:
    """What is asked for and what is paid for is the same request: method, path, type and body."""
    body = b'{"message": "h\\u00e9llo",   "n": 1.10}\n'
    buyer.call("echo", body)
    first, second = shop.seen
    assert first.body == second.body == body
    assert first.headers["content-type"] == second.headers["content-type"] == "application/json"
    assert (first.method, first.path) == (second.method, second.path) == ("POST", "/v1/cdp/echo")
    assert first.payment is None
    assert second.payment is not None


def test_no_body_stays_no_body(shop: Shop, buyer: Buyer) -> None:
    """A call without a body sends none, and claims no type for it."""
    buyer.call("chain/chain-id")
    assert [seen.body for seen in shop.seen] == [b"", b""]
    assert "content-type" not in shop.seen[1].headers


def test_the_payment_echoes_the_challenge(shop: Shop, buyer: Buyer) -> None:
    """The accepted offer, the resource and the extensions come back as they were sent."""
    buyer.call("echo")
    sent = json.loads(base64.b64decode(shop.payments[0]))
    challenge = shop.challenge()
    assert sent["x402Version"] == 2
    assert sent["accepted"] == challenge["accepts"][0]
    assert sent["resource"] == challenge["resource"]
    assert sent["extensions"] == challenge["extensions"]


def test_long_extensions_are_left_out(shop: Shop, buyer: Buyer) -> None:
    """A header that servers would refuse for its size loses what is optional in it."""
    challenge = {**shop.challenge(), "extensions": {"bazaar": {"info": "x" * 20_000}}}
    shop.unpaid = [shop.demand(challenge)]
    buyer.call("echo")
    assert len(shop.payments[0]) < MAX_HEADER_CHARS
    assert "extensions" not in json.loads(base64.b64decode(shop.payments[0]))


def test_the_authorization_lasts_as_long_as_the_offer_says(shop: Shop, buyer: Buyer) -> None:
    """A signed payment is good for maxTimeoutSeconds and not a second more."""
    before = int(time.time())
    buyer.call("echo")
    [authorization] = shop.authorizations
    assert before + 60 <= authorization.valid_before <= int(time.time()) + 60
    assert authorization.window_refusal(int(time.time())) is None


def test_every_call_signs_anew(shop: Shop, buyer: Buyer) -> None:
    """Two calls are two payments with two nonces."""
    buyer.call("echo")
    buyer.call("echo")
    assert len({authorization.nonce for authorization in shop.authorizations}) == 2


def test_a_free_call_is_not_paid(shop: Shop, buyer: Buyer, canned: type[Canned]) -> None:
    """A 200 to the first request is the answer, without receipt or price."""
    shop.unpaid = [canned(200, b'{"free":1}', {"payment-response": "bm90IG1pbmU="})]
    answer = buyer.call("echo")
    assert (answer.body, answer.price, answer.offer, answer.receipt) == ({"free": 1}, None, None, None)
    assert shop.payments == []


def test_an_answer_without_a_receipt_is_still_an_answer(shop: Shop, buyer: Buyer, canned: type[Canned]) -> None:
    """The price is what was signed; that no receipt came is visible."""
    shop.paid = [canned(200, b"[1]")]
    answer = buyer.call("echo")
    assert (answer.body, answer.receipt, answer.price.text()) == ([1], None, "0.001")


def test_the_older_receipt_header_is_read_too(
    shop: Shop, buyer: Buyer, canned: type[Canned], pack: Callable[[Any], str]
) -> None:
    """Endpoints of the older flavour send the receipt as X-PAYMENT-RESPONSE."""
    shop.paid = [canned(200, b"{}", {"x-payment-response": pack(shop.receipt())})]
    assert buyer.call("echo").receipt.success


@pytest.mark.parametrize("name", ["", "Echo", "../admin", "echo?x=1", "chain/chain/x", "v1/echo", "é", "a" * 65])
def test_a_name_that_cannot_be_is_refused_here(shop: Shop, buyer: Buyer, name: str) -> None:
    """No request is made for a name that would change the path."""
    with pytest.raises(InvalidCall):
        buyer.call(name)
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


def test_a_body_that_is_not_json_is_refused_here(shop: Shop, buyer: Buyer) -> None:
    """Nothing is sent when the body cannot be written down."""
    with pytest.raises(InvalidCall):
        buyer.call("echo", {"message": object()})
    assert shop.seen == []


def test_max_price_is_inclusive(shop: Shop) -> None:
    """A call that costs exactly what was allowed is bought."""
    with Buyer(shop.base_url, Wallet.evm(KEY), max_price=Decimal("0.0010")) as buyer:
        assert buyer.call("echo").price.text() == "0.001"


def test_a_shop_below_a_path(shop: Shop) -> None:
    """The base address may have a path of its own, which is part of every call's address."""
    with Buyer(shop.base_url + "/shop/", Wallet.evm(KEY), max_price=None) as buyer:
        buyer.call("echo")
    assert {seen.path for seen in shop.seen} == {"/shop/v1/cdp/echo"}


def test_the_signed_payment_is_announced_before_it_is_sent(shop: Shop) -> None:
    """Whoever must not lose a payment hears of it first."""
    order = []
    shop.paid = [lambda seen: order.append("sent") or shop.sell(seen)]
    with Buyer(
        shop.base_url, Wallet.evm(KEY), max_price=None, on_signed=lambda payment: order.append(payment.header)
    ) as buyer:
        buyer.call("echo")
    assert order == [shop.payments[0], "sent"]


def test_no_repr_shows_the_key_or_the_payment(shop: Shop, buyer: Buyer) -> None:
    """Neither a log line nor a traceback with locals gives them away."""
    wallet = Wallet.evm(KEY)
    seen = []
    with Buyer(shop.base_url, wallet, max_price=None, on_signed=seen.append) as own:
        own.call("echo")
    assert KEY.hex() not in repr(wallet)
    assert seen[0].header not in repr(seen[0])


def test_no_compression_is_asked_for(shop: Shop, buyer: Buyer) -> None:
    """A few hundred compressed bytes can be half a gigabyte, and no answer here is large."""
    buyer.call("echo")
    assert {seen.headers["accept-encoding"] for seen in shop.seen} == {"identity"}


def test_a_shop_on_this_host_is_not_reached_through_a_proxy(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy for the internet has no way to a sandbox here."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Buyer(shop.base_url, Wallet.evm(KEY), max_price=None) as buyer:
        buyer.call("echo")
    assert len(shop.payments) == 1


@each("kind", [BlockingExchange, AsyncExchange])
def test_the_environments_proxy_is_used_for_other_hosts(
    shop: Shop, canned: type[Canned], monkeypatch: pytest.MonkeyPatch, kind: type[BlockingExchange | AsyncExchange]
) -> None:
    """With its user and password; and not for the hosts that NO_PROXY names."""
    for name in ("ALL_PROXY", "all_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", shop.base_url.replace("//", "//me:p%40ss@"))
    monkeypatch.setenv("no_proxy", "inside.example")
    shop.documents["http://shop.example/bazaar.json"] = canned(200, b"{}")

    async def get(host: str) -> Reply:
        exchange = kind(f"http://{host}", timeout_s=2)
        try:
            return await exchange.send("GET", f"http://{host}/bazaar.json")
        finally:
            await exchange.aclose() if isinstance(exchange, AsyncExchange) else exchange.close()

    assert anyio.run(get, "shop.example").body == b"{}"
    (seen,) = shop.seen
    assert base64.b64decode(seen.headers["proxy-authorization"].removeprefix("Basic ")) == b"me:p@ss"
    assert seen.headers["host"] == "shop.example"
    assert pool_options("http://a.inside.example")["proxy"] is None
    shop.seen.clear()
