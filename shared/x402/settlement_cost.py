"""What a settlement costs whoever sends it, beside what it brings: the rule that API and facilitator share."""

from fractions import Fraction

KEY = "settlementCost"
"""Of `extra` in our facilitator's /supported: what a settlement costs it now, in atomic units of the token, as digits."""
TOO_COSTLY = "settlement_too_costly"
"""Reason of a facilitator that has sent nothing, because the settlement would cost too much of what it brings."""


def least_price(cost: int, share: Fraction) -> int:
    """The least amount of which `cost` is no more than this share. Both are in atomic units."""
    return -(-cost * share.denominator // share.numerator)
