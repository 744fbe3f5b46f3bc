"""The scheme `exact`: what its form has in common on all networks."""

import base64
from collections.abc import Mapping
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


def matches_exactly(offer: Offer, accepted: Offer, *, token_key: str = "") -> bool:
    """Whether the client accepted this very offer, on a network where amounts and addresses have one spelling."""
    return has_terms(offer, accepted, token_key=token_key) and (
        (accepted.amount, accepted.asset, accepted.pay_to) == (offer.amount, offer.asset, offer.pay_to)
    )


def unchanged(offer: Offer, terms: Mapping[str, Any]) -> Offer | None:
    """The offer as it is, on a network where the facilitator adds nothing."""
    return offer


def strict_base64(text: str, most_chars: int) -> bytes:
    """The bytes of a text. Raises ValueError, also for another spelling of them: Python ignores bits after the last byte."""
    if len(text) > most_chars:
        raise ValueError("too long")
    raw = base64.b64decode(text, validate=True)
    if base64.b64encode(raw).decode() != text:
        raise ValueError("base64 in another spelling")
    return raw


def _same(accepted: object, offered: object) -> bool:
    """Equal and of one type. Python calls 0 and false equal; JSON does not."""
    return type(accepted) is type(offered) and accepted == offered
