"""Reads payment ids. An id names what the network makes single-use, so that evidence can be looked up by nothing else."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaymentId:
    """``<network>:<asset>:<payer>:<nonce>``. What the nonce is differs between networks: a number, or a hash."""

    payer: str
    nonce: str


def parse(text: str, network: str, asset: str, form: re.Pattern[str]) -> PaymentId | None:
    """The payer and the nonce of a payment id, or None when it is not one of this asset.

    Args:
        form: of ``<payer>:<nonce>``, with a group for each.
    """
    prefix = f"{network}:{asset}:"
    match = form.fullmatch(text, len(prefix)) if text.startswith(prefix) else None
    return PaymentId(match[1], match[2]) if match else None
