"""Recognises amounts that mean "without limit"."""

from typing import Literal

Form = Literal["max_uint256", "max_uint160", "max_uint96", "over_half_of_uint256", "over_total_supply"]


def unlimited_form(amount: int, total_supply: int | None = None) -> Form | None:
    """How an amount has no limit; None when it has one.

    2^256-1 is the usual one. Permit2 keeps 160 bits, and COMP and UNI keep 96: their largest numbers mean no limit.
    No supply comes near 2^255, even after some of the allowance was spent. More than the supply has no limit either.
    """
    if amount == 2**256 - 1:
        return "max_uint256"
    if amount == 2**160 - 1:
        return "max_uint160"
    if amount == 2**96 - 1:
        return "max_uint96"
    if amount >= 2**255:
        return "over_half_of_uint256"
    return "over_total_supply" if total_supply and amount > total_supply else None
