"""What every signer checks of an offer, whatever the network."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TypeVar

from coinslot.errors import WalletUnusable
from coinslot.signer import Unpayable
from shared.money import Price
from shared.x402.exact import SCHEME
from shared.x402.wire import Offer

MAX_TIMEOUT_SECONDS = 600
"""Whoever holds a signed payment can settle it, so none is valid for more than ten minutes."""

# 18 digits are more than all the USDC there is, and exact within the 28 digits of a Decimal.
_AMOUNT = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
# Each takes exactly one transfer of the amount. Whether the server settles or answers first is its own risk.
_FLOWS = (None, "authorization", "upfront")

T = TypeVar("T")


def known_token(tokens: Mapping[str, T], network: str, name: str) -> T:
    """The token on a network. Raises WalletUnusable when none is known there."""
    try:
        return tokens[network]
    except KeyError:
        raise WalletUnusable(f"no {name} is known on {network}") from None


def check_terms(offer: Offer, network: str, *, scheme: str = SCHEME) -> None:
    """Check network, scheme, payment flow and lifetime. Raises Unpayable."""
    if offer.network != network:
        raise Unpayable(f"the wallet pays on {network}")
    if offer.scheme != scheme:
        raise Unpayable(f"scheme {offer.scheme[:40]!r} is not {scheme!r}")
    if offer.extra.get("paymentFlow") not in _FLOWS:
        raise Unpayable("the payment flow is unknown")
    if not 0 < offer.max_timeout_seconds <= MAX_TIMEOUT_SECONDS:
        raise Unpayable(f"maxTimeoutSeconds {offer.max_timeout_seconds} is not within 1 and {MAX_TIMEOUT_SECONDS}")


def check_method(offer: Offer, *known: str) -> None:
    """Check that the offer names one of these transfer methods, or none. Raises Unpayable."""
    if offer.extra.get("assetTransferMethod") not in (None, *known):
        raise Unpayable(
            f"the transfer method is not {' or '.join(known)}" if known else "the transfer method is unknown"
        )


def atomic_price(offer: Offer, decimals: int) -> Price:
    """The price of an offer whose amount is in atomic units. Raises Unpayable."""
    if not _AMOUNT.fullmatch(offer.amount):
        raise Unpayable(f"amount {offer.amount[:40]!r} is not a whole number of atomic units")
    return Price(Decimal(offer.amount).scaleb(-decimals))
