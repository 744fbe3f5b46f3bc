"""What is refused before anything is signed. Every refusal leaves the shop with one request and no payment."""

import base64
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from coinslot.buyer import Buyer
from coinslot.errors import ChallengeRefused, CoinslotError, NoPayableOffer, PriceTooHigh, Unreachable
from coinslot.wallet import Wallet
from tests.client.conftest import Canned, Shop, failed, packed
from tests.each import each

Refuses = Callable[[type[CoinslotError]], CoinslotError]
"""Makes a call that must be refused with that kind of error."""


@pytest.fixture
def refused(shop: Shop, buyer: Buyer) -> Refuses:
    """Calls, and returns the refusal after making sure that nothing was paid."""

    def call(kind: type[CoinslotError]) -> CoinslotError:
        shop.seen.clear()
        error = failed(buyer, kind)
        assert [seen.payment for seen in shop.seen] == [None]
        assert (error.charged, error.payment) == (False, None)
        return error

    return call


def test_header_and_body_must_agree(shop: Shop, refused: Refuses) -> None:
    """A challenge with two voices is not to be trusted with either. Python calls 1, 1.0 and true equal; JSON does not."""
    document = shop.challenge()
    one, true = ({**document, "extensions": {"x": value}} for value in (1, True))
    shop.unpaid = [
        shop.demand(document, header=packed(shop.challenge(amount="999"))),
        shop.demand(one, header=packed(true)),
        shop.demand(document, body=b"<html>"),
    ]
    assert "different things" in str(refused(ChallengeRefused))
    assert "different things" in str(refused(ChallengeRefused))
    refused(ChallengeRefused)


def test_one_form_is_enough_and_two_may_differ_in_form(shop: Shop, buyer: Buyer) -> None:
    """Servers of the official SDK send an empty object as the body; header and body may be written by two encoders."""
    document = shop.challenge()
    shop.unpaid = [
        shop.demand(document, body=b""),
        shop.demand(document, body=b"{}"),
        Canned(402, json.dumps(document).encode()),
        shop.demand(document, header=packed(dict(reversed(document.items())))),
    ]
    assert all(buyer.call("echo").receipt.success for _ in range(4))


@each(
    "header",
    [
        *("", "%%%", "bm90IGpzb24="),
        *(
            base64.b64encode(content).decode()
            for content in (b"[]", b"{}", b"\xff\xfe", b"[" * 5000, b'{"x402Version": 2}', b" " * 70_000 + b"{}")
        ),
    ],
)
def test_a_header_of_garbage_is_refused(shop: Shop, refused: Refuses, header: str) -> None:
    """Not base64, not JSON, not an object, too deep, too long, or without what a challenge must have."""
    shop.unpaid = [shop.demand(shop.challenge(), header=header, body=b"")]
    refused(ChallengeRefused)


@each("body", [b"", b"{}", b"<html>pay!</html>", b"null", b"x" * 100_000, b'{"a":' * 3000, b"\x1f\x8b" + bytes(50)])
def test_a_body_of_garbage_is_refused(refused: Refuses, shop: Shop, body: bytes) -> None:
    """The same for a challenge in the body. Compression was not asked for, and unpacking could fill the memory."""
    shop.unpaid = [Canned(402, body, {"content-encoding": "gzip"} if body[:1] == b"\x1f" else {})]
    refused(ChallengeRefused)


@each("version", [1, 3, "2", True, None])
def test_another_protocol_version_is_refused(shop: Shop, refused: Refuses, version: object) -> None:
    """Only x402 version 2 is spoken here."""
    shop.unpaid = [shop.demand({**shop.challenge(), "x402Version": version})]
    refused(ChallengeRefused)


def test_a_header_of_100_kilobytes_ends_the_call(shop: Shop, buyer: Buyer) -> None:
    """Whoever sends it gets neither memory nor money."""
    shop.unpaid = [shop.demand(shop.challenge(), header=packed({"x": "y" * 100_000}))]
    with pytest.raises((ChallengeRefused, Unreachable)):
        buyer.call("echo")
    assert shop.payments == []


@each(
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


@each(
    ("change", "why"),
    [
        *(
            ({"network": network}, "pays on eip155:8453")
            for network in ("eip155:84532", "base", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp")
        ),
        ({"scheme": "upto"}, "scheme"),
        ({"asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}, "not the USDC contract"),
        ({"asset": "USDC"}, "not the USDC contract"),
        ({"extra": {"name": "USDC", "version": "2"}}, "signing domain"),
        ({"extra": {"name": "USD Coin", "version": "1"}}, "signing domain"),
        ({"extra": {}}, "signing domain"),
        ({"extra": {"name": "USD Coin", "version": "2", "assetTransferMethod": "permit2"}}, "not eip3009"),
        ({"extra": {"name": "USD Coin", "version": "2", "paymentFlow": "escrow"}}, "payment flow"),
        *(
            ({"amount": amount}, "atomic units")
            for amount in ("0", "-1", "1e3", "0.001", " 1000", "01000", "1_000", "\u0661\u0660\u0660\u0660", "9" * 40)
        ),
        *(({"payTo": address}, "payTo") for address in ("0x00", "0x" + "0" * 40, "shop.eth")),
        *(({"maxTimeoutSeconds": seconds}, "maxTimeoutSeconds") for seconds in (0, -5, 601)),
    ],
)
def test_an_offer_that_is_not_exactly_known_is_not_paid(
    shop: Shop, refused: Refuses, change: dict[str, Any], why: str
) -> None:
    """Another token, domain, unit, recipient or lifetime than the known ones: no signature."""
    shop.unpaid = [shop.demand(shop.challenge(**change))]
    assert why in str(refused(NoPayableOffer))


def test_offers_of_another_form_and_number_are_refused(shop: Shop, refused: Refuses) -> None:
    """A number is not digits, and digits are not a number. No offer cannot be paid, and a flood is not searched."""
    for change in ({"amount": 1000}, {"maxTimeoutSeconds": "60"}, {"payTo": None}, {"extra": []}):
        shop.unpaid = [shop.demand(shop.challenge(**change))]
        refused(ChallengeRefused)
    for count, kind in ((0, NoPayableOffer), (65, ChallengeRefused)):
        shop.unpaid = [shop.demand({**shop.challenge(), "accepts": shop.challenge()["accepts"] * count})]
        refused(kind)


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
