"""The scheme `exact`: what its form has in common on all networks."""

from __future__ import annotations

from typing import Any

from shared.x402.wire import Offer

SCHEME = "exact"
MAX_TIMEOUT_SECONDS = 60
"""How long a payment of our offers may stay valid."""


def exact_offer(network: str, asset: str, amount: str, pay_to: str, **extra: Any) -> Offer:
    """An offer of ours: settled before the answer is given.

    Args:
        extra: further keys of the offer's `extra`.
    """
    return Offer(
        scheme=SCHEME,
        network=network,
        amount=amount,
        asset=asset,
        pay_to=pay_to,
        max_timeout_seconds=MAX_TIMEOUT_SECONDS,
        extra={**extra, "paymentFlow": "upfront"},
    )


def has_terms(offer: Offer, accepted: Offer, *, token_key: str = "") -> bool:
    """Whether the client accepted scheme, network, lifetime and `extra` of the offer.

    Amount, asset and recipient are compared by the rail: each network has its own spellings of them. Clients may add keys
    to `extra`.

    Args:
        token_key: a key of `extra` that may have another value.
    """
    return (accepted.scheme, accepted.network, accepted.max_timeout_seconds) == (
        offer.scheme,
        offer.network,
        offer.max_timeout_seconds,
    ) and all(_same(accepted.extra.get(key), value) for key, value in offer.extra.items() if key != token_key)


def _same(accepted: object, offered: object) -> bool:
    """Equal and of one type. Python calls 0 and false equal; JSON does not."""
    return type(accepted) is type(offered) and accepted == offered
