"""Prices as OpenAPI extensions say them: exact, and honest about rails other than Base."""

from collections.abc import Callable
from typing import Any

import pytest

from api.discovery import pricing
from api.discovery.listing import Listing
from shared.endpoint import Endpoint
from shared.money import ExcessPrecision, Price
from shared.x402.networks import Rail

PAY_TO = "0x" + "11" * 20


@pytest.fixture
def sold(endpoint_of: Callable[..., Endpoint], listing_of: Callable[[Endpoint], Listing]) -> Callable[..., Listing]:
    """Puts a made-up endpoint on sale: ``sold(price=…, rails=…)``."""

    def sell(**changes: Any) -> Listing:
        return listing_of(endpoint_of(**changes))

    return sell


def test_the_descriptor_is_that_of_the_specification(sold: Callable[..., Listing]) -> None:
    """With USDC on Base on offer, the descriptor has the specification's fields, whatever else is on offer."""
    assert pricing.descriptor(sold(price=Price.of("0.001"))) == {
        "priceAtomic": "1000",
        "priceUsdc": 0.001,
        "network": "eip155:8453",
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "assetSymbol": "USDC",
        "payTo": PAY_TO,
    }


def test_base_is_shown_wherever_it_stands(sold: Callable[..., Listing]) -> None:
    """The offer on Base is the one described, even when another rail is listed first."""
    listing = sold(rails=(Rail.SOLANA, Rail.BASE))
    assert listing.offers[0].network.startswith("solana:")
    assert pricing.descriptor(listing)["network"] == "eip155:8453"
    assert pricing.payment_info(listing)["protocols"][0]["x402"]["network"] == "eip155:8453"


@pytest.mark.parametrize(
    ("rail", "expected"),
    [
        (Rail.SOLANA, {"priceAtomic": "1000", "priceUsdc": 0.001, "assetSymbol": "USDC"}),
        (Rail.STELLAR, {"priceAtomic": "10000", "priceUsdc": 0.001, "assetSymbol": "USDC"}),
        (Rail.XRPL_USDC, {"amount": "0.001", "priceUsdc": 0.001, "assetSymbol": "USDC"}),
        (Rail.XRPL_RLUSD, {"amount": "0.001", "priceRlusd": 0.001, "assetSymbol": "RLUSD"}),
    ],
)
def test_without_base_the_first_offer_is_described_honestly(
    sold: Callable[..., Listing], rail: Rail, expected: dict[str, Any]
) -> None:
    """No offer is called USDC that is not, and no decimal value atomic."""
    listing = sold(price=Price.of("0.001"), rails=(rail,))
    offer = listing.offers[0]
    where = {"network": offer.network, "asset": offer.asset, "payTo": offer.pay_to}
    assert pricing.descriptor(listing) == expected | where


@pytest.mark.parametrize(
    ("price", "amount"),
    [("0.001", "0.001000"), ("0.08", "0.080000"), ("0.015", "0.015000"), ("1", "1.000000"), ("12.345678", "12.345678")],
)
def test_dollars_have_six_decimals(sold: Callable[..., Listing], price: str, amount: str) -> None:
    """x-payment-info writes the price in dollars with exactly six decimals."""
    assert pricing.payment_info(sold(price=Price.of(price)))["price"] == {
        "mode": "fixed",
        "currency": "USD",
        "amount": amount,
    }


def test_dollars_are_never_rounded(sold: Callable[..., Listing]) -> None:
    """A price that six decimals cannot express is an error, not another price."""
    with pytest.raises(ExcessPrecision):
        pricing.payment_info(sold(price=Price.of("0.0000001"), rails=(Rail.STELLAR,)))


def test_the_protocol_entry_carries_the_offer(sold: Callable[..., Listing]) -> None:
    """A reader can check its funds before the first call: the x402 entry has all that an offer has."""
    assert pricing.payment_info(sold(price=Price.of("0.001")))["protocols"] == [
        {
            "x402": {
                "scheme": "exact",
                "network": "eip155:8453",
                "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "payTo": PAY_TO,
                "amount": "1000",
                "maxTimeoutSeconds": 60,
                "extra": {"name": "USD Coin", "version": "2", "paymentFlow": "upfront"},
            }
        }
    ]


def test_an_offer_on_solana_names_the_fee_payer(sold: Callable[..., Listing]) -> None:
    """Without it a buyer cannot build the transaction."""
    (protocol,) = pricing.payment_info(sold(rails=(Rail.SOLANA,)))["protocols"]
    assert protocol["x402"]["extra"] == {"feePayer": "EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd"}
