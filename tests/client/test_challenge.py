"""What is refused before anything is signed. Every refusal leaves the shop with one request and no payment."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from coinslot.buyer import Buyer
from coinslot.errors import ChallengeRefused, CoinslotError, NoPayableOffer, PriceTooHigh, Unreachable
from coinslot.wallet import Wallet

if TYPE_CHECKING:
    from tests.client.conftest import Canned, Shop


Refuses = Callable[[type[CoinslotError]], CoinslotError]
"""Makes a call that must be refused with that kind of error."""


@pytest.fixture
def refused(shop: Shop, buyer: Buyer) -> Refuses:
    """Calls, and returns the refusal after making sure that nothing was paid."""

    def call(kind: type[CoinslotError]) -> CoinslotError:
        with pytest.raises(kind) as caught:
            buyer.call("echo")
        assert shop.payments == []
        assert len(shop.seen) == 1
        assert caught.value.charged is False
        assert caught.value.payment is None
        return caught.value

    return call


def test_header_and_body_must_agree(shop: Shop, refused: Refuses, pack: Callable[[Any], str]) -> None:
    """A challenge with two voices is not to be trusted with either."""
    other = shop.challenge(amount="999")
    shop.unpaid = [shop.demand(shop.challenge(), header=pack(other))]
    assert "different things" in str(refused(ChallengeRefused))


def test_a_true_that_equals_one_is_a_difference(shop: Shop, refused: Refuses, pack: Callable[[Any], str]) -> None:
    """Python calls 1, 1.0 and true equal; JSON does not."""
    document = shop.challenge()
    one, true = ({**document, "extensions": {"x": value}} for value in (1, True))
    shop.unpaid = [shop.demand(one, header=pack(true))]
    refused(ChallengeRefused)


@pytest.mark.parametrize("body", [b"", b"{}"])
def test_the_header_alone_is_enough(shop: Shop, buyer: Buyer, body: bytes) -> None:
    """Servers of the official SDK send an empty object as the body."""
    shop.unpaid = [shop.demand(shop.challenge(), body=body)]
    assert buyer.call("echo").receipt.success


def test_the_body_alone_is_enough(shop: Shop, buyer: Buyer, canned: type[Canned]) -> None:
    """So is a body without the header."""
    shop.unpaid = [canned(402, json.dumps(shop.challenge()).encode())]
    assert buyer.call("echo").receipt.success


def test_member_order_does_not_matter(shop: Shop, buyer: Buyer, pack: Callable[[Any], str]) -> None:
    """Header and body may be written by two encoders."""
    document = shop.challenge()
    shop.unpaid = [shop.demand(document, header=pack(dict(reversed(document.items()))))]
    assert buyer.call("echo").receipt.success


@pytest.mark.parametrize(
    "header",
    [
        "",
        "%%%",
        "bm90IGpzb24=",
        base64.b64encode(b"[]").decode(),
        base64.b64encode(b"{}").decode(),
        base64.b64encode(b"\xff\xfe").decode(),
        base64.b64encode(b"[" * 5000).decode(),
        base64.b64encode(b'{"x402Version": 2}').decode(),
        base64.b64encode(b" " * 70_000 + b"{}").decode(),
    ],
)
def test_a_header_of_garbage_is_refused(shop: Shop, refused: Refuses, header: str) -> None:
    """Not base64, not JSON, not an object, too deep, too long, or without what a challenge must have."""
    shop.unpaid = [shop.demand(shop.challenge(), header=header, body=b"")]
    refused(ChallengeRefused)


@pytest.mark.parametrize("body", [b"", b"{}", b"<html>pay!</html>", b"null", b"x" * 100_000, b'{"a":' * 3000])
def test_a_body_of_garbage_is_refused(refused: Refuses, shop: Shop, canned: type[Canned], body: bytes) -> None:
    """The same for a challenge that comes in the body alone."""
    shop.unpaid = [canned(402, body)]
    refused(ChallengeRefused)


def test_a_garbage_body_beside_a_good_header_is_refused(shop: Shop, refused: Refuses) -> None:
    """Something between us and the shop is at work."""
    shop.unpaid = [shop.demand(shop.challenge(), body=b"<html>")]
    refused(ChallengeRefused)


def test_a_header_of_100_kilobytes_ends_the_call(shop: Shop, buyer: Buyer, pack: Callable[[Any], str]) -> None:
    """Whoever sends it gets neither memory nor money."""
    shop.unpaid = [shop.demand(shop.challenge(), header=pack({"x": "y" * 100_000}))]
    with pytest.raises((ChallengeRefused, Unreachable)):
        buyer.call("echo")
    assert shop.payments == []


def test_a_compressed_challenge_is_refused(shop: Shop, refused: Refuses, canned: type[Canned]) -> None:
    """Compression was not asked for, and unpacking it could fill the memory."""
    shop.unpaid = [canned(402, b"\x1f\x8b" + bytes(50), {"content-encoding": "gzip"})]
    refused(ChallengeRefused)


@pytest.mark.parametrize("version", [1, 3, "2", True, None])
def test_another_protocol_version_is_refused(shop: Shop, refused: Refuses, version: object) -> None:
    """Only x402 version 2 is spoken here."""
    shop.unpaid = [shop.demand({**shop.challenge(), "x402Version": version})]
    refused(ChallengeRefused)


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example/v1/cdp/echo",
        "https://{host}/v1/cdp/echo",
        "http://{host}/v1/cdp/web-diff",
        "http://{host}/v1/cdp/echo/",
        "http://{host}/v1/cdp/echo?free=1",
        "http://{host}/v1/cdp/echo?",
        "http://{host}/V1/cdp/echo",
        "http://user@{host}/v1/cdp/echo",
        "http://{host}@evil.example/v1/cdp/echo",
        "/v1/cdp/echo",
        "http://[",
        "",
    ],
)
def test_a_challenge_for_another_resource_is_refused(shop: Shop, refused: Refuses, url: str) -> None:
    """Or one could be made to pay for somebody else's call."""
    host = shop.base_url.removeprefix("http://")
    shop.unpaid = [shop.demand({**shop.challenge(), "resource": {"url": url.format(host=host)}})]
    refused(ChallengeRefused)


def test_a_host_name_may_be_written_in_capitals(shop: Shop) -> None:
    """Host names have no case; paths have."""
    url = shop.base_url.replace("127.0.0.1", "localhost")
    shop.unpaid = [
        shop.demand({**shop.challenge(), "resource": {"url": url.replace("localhost", "LocalHost") + "/v1/cdp/echo"}})
    ]
    with Buyer(url, Wallet.evm(bytes(31) + b"\x01"), max_price=None) as buyer:
        assert buyer.call("echo").receipt.success


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"network": "eip155:84532"}, "pays on eip155:8453"),
        ({"network": "base"}, "pays on eip155:8453"),
        ({"network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"}, "pays on eip155:8453"),
        ({"scheme": "upto"}, "scheme"),
        ({"asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}, "not the USDC contract"),
        ({"asset": "USDC"}, "not the USDC contract"),
        ({"extra": {"name": "USDC", "version": "2"}}, "signing domain"),
        ({"extra": {"name": "USD Coin", "version": "1"}}, "signing domain"),
        ({"extra": {}}, "signing domain"),
        ({"extra": {"name": "USD Coin", "version": "2", "assetTransferMethod": "permit2"}}, "not eip3009"),
        ({"extra": {"name": "USD Coin", "version": "2", "paymentFlow": "escrow"}}, "payment flow"),
        ({"amount": "0"}, "atomic units"),
        ({"amount": "-1"}, "atomic units"),
        ({"amount": "1e3"}, "atomic units"),
        ({"amount": "0.001"}, "atomic units"),
        ({"amount": " 1000"}, "atomic units"),
        ({"amount": "01000"}, "atomic units"),
        ({"amount": "1_000"}, "atomic units"),
        ({"amount": "\u0661\u0660\u0660\u0660"}, "atomic units"),
        ({"amount": "9" * 40}, "atomic units"),
        ({"payTo": "0x00"}, "payTo"),
        ({"payTo": "0x" + "0" * 40}, "payTo"),
        ({"payTo": "shop.eth"}, "payTo"),
        ({"maxTimeoutSeconds": 0}, "maxTimeoutSeconds"),
        ({"maxTimeoutSeconds": -5}, "maxTimeoutSeconds"),
        ({"maxTimeoutSeconds": 601}, "maxTimeoutSeconds"),
    ],
)
def test_an_offer_that_is_not_exactly_known_is_not_paid(
    shop: Shop, refused: Refuses, change: dict[str, Any], why: str
) -> None:
    """Another token, domain, unit, recipient or lifetime than the known ones: no signature."""
    shop.unpaid = [shop.demand(shop.challenge(**change))]
    assert why in str(refused(NoPayableOffer))


@pytest.mark.parametrize("change", [{"amount": 1000}, {"maxTimeoutSeconds": "60"}, {"payTo": None}, {"extra": []}])
def test_an_offer_of_other_types_is_refused(shop: Shop, refused: Refuses, change: dict[str, Any]) -> None:
    """A number is not digits, and digits are not a number."""
    shop.unpaid = [shop.demand(shop.challenge(**change))]
    refused(ChallengeRefused)


def test_no_offers_at_all(shop: Shop, refused: Refuses) -> None:
    """An empty list of offers cannot be paid."""
    shop.unpaid = [shop.demand({**shop.challenge(), "accepts": []})]
    refused(NoPayableOffer)


def test_more_offers_than_anybody_makes(shop: Shop, refused: Refuses) -> None:
    """A flood of offers is not searched."""
    shop.unpaid = [shop.demand({**shop.challenge(), "accepts": shop.challenge()["accepts"] * 65})]
    refused(ChallengeRefused)


def test_a_price_above_the_limit_is_not_paid(shop: Shop, refused: Refuses) -> None:
    """The offer is good, but costs more than was allowed."""
    shop.unpaid = [shop.demand(shop.challenge(price="0.010001"))]
    error = refused(PriceTooHigh)
    assert (error.price.text(), error.max_price) == ("0.010001", Decimal("0.01"))


def test_the_cheapest_known_offer_is_taken(shop: Shop, buyer: Buyer) -> None:
    """Unknown tokens and dearer offers beside it do not matter."""
    good = shop.challenge()["accepts"][0]
    offers = [{**good, "asset": "EURC", "amount": "1"}, {**good, "amount": "5000"}, good]
    shop.unpaid = [shop.demand({**shop.challenge(), "accepts": offers})]
    assert buyer.call("echo").offer.amount == "1000"


def test_an_address_may_be_in_any_case(shop: Shop, buyer: Buyer) -> None:
    """The checksum's capitals are no part of an address."""
    shop.unpaid = [shop.demand(shop.challenge(asset=shop.challenge()["accepts"][0]["asset"].lower()))]
    shop.paid = [lambda seen: shop.problem(400, detail="seen")]
    with pytest.raises(CoinslotError, match="seen"):
        buyer.call("echo")


def test_only_the_challenge_that_was_checked_is_paid(shop: Shop, buyer: Buyer) -> None:
    """A shop that changes payTo in its second 402 gets no second signature."""
    other = "0x" + "66" * 20
    shop.paid = [lambda seen: shop.demand(shop.challenge(payTo=other))]
    with pytest.raises(CoinslotError):
        buyer.call("echo")
    [payment] = shop.payments
    authorization = json.loads(base64.b64decode(payment))["payload"]["authorization"]
    assert authorization["to"] == shop.challenge()["accepts"][0]["payTo"]
    assert len(shop.seen) == 2
