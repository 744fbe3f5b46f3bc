"""What a call costs, as the two OpenAPI extensions say it.

Both describe one offer: the one on Base, because that is the default settlement, else the listing's first. The live 402
lists all of them and is the authority.
"""

from typing import Any

from api.discovery.listing import Listing
from shared.x402.wire import Offer

BASE = "eip155:8453"
_XRPL = "xrpl:"
_USD_DECIMALS = 6


def descriptor(listing: Listing) -> dict[str, Any]:
    """`x-coinslot-pricing` (the specification, Pricing descriptor).

    ``{"priceAtomic": "1000", "priceUsdc": 0.001, "network", "asset", "assetSymbol": "USDC", "payTo"}``. An offer in
    RLUSD has `priceRlusd` in place of `priceUsdc`, and an offer on XRPL `amount` in place of `priceAtomic`: tokens have
    no atomic unit there, and the amount is a decimal value.
    """
    offer = _shown(listing)
    symbol = _symbol(offer)
    return {
        "amount" if offer.network.startswith(_XRPL) else "priceAtomic": offer.amount,
        # A decimal of at most 15 digits survives the way through a float, whose shortest text is the decimal again.
        f"price{symbol.capitalize()}": float(listing.endpoint.price.value),
        "network": offer.network,
        "asset": offer.asset,
        "assetSymbol": symbol,
        "payTo": offer.pay_to,
    }


def payment_info(listing: Listing) -> dict[str, Any]:
    """`x-payment-info` (@agentcash/discovery, docs/SPECIFICATION.md, section 7), with the offer inside `x402`.

    The currency is USD on every rail: what we are paid in is pegged to it one to one.

    Raises:
        ExcessPrecision: the price has more than six decimals; it is never rounded.
    """
    offer = _shown(listing)
    atomic = listing.endpoint.price.atomic(_USD_DECIMALS)
    whole, fraction = divmod(atomic, 10**_USD_DECIMALS)
    return {
        "price": {"mode": "fixed", "currency": "USD", "amount": f"{whole}.{fraction:0{_USD_DECIMALS}d}"},
        "protocols": [
            {
                "x402": {
                    "scheme": offer.scheme,
                    "network": offer.network,
                    "asset": offer.asset,
                    "payTo": offer.pay_to,
                    "amount": offer.amount,
                    "maxTimeoutSeconds": offer.max_timeout_seconds,
                    "extra": offer.extra,
                }
            }
        ],
    }


def _shown(listing: Listing) -> Offer:
    return next((offer for offer in listing.offers if offer.network == BASE), listing.offers[0])


def _symbol(offer: Offer) -> str:
    """USDC, which is all that we sell for outside XRPL; there, the text inside the 40 hexadecimal digits."""
    if not offer.network.startswith(_XRPL):
        return "USDC"
    return bytes.fromhex(offer.asset).rstrip(b"\0").decode("ascii")
