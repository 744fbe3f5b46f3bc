"""Dollars, as a person writes and reads them."""

import re
from decimal import Decimal

_DOLLARS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,18})?", re.ASCII)


def dollars(text: str) -> Decimal:
    """Plain decimal text; 0 allows nothing but free calls. Raises ValueError."""
    if not _DOLLARS.fullmatch(text):
        raise ValueError("not a plain decimal number of dollars, like 0.01")
    return Decimal(text)


def text_of(atomic: int, decimals: int) -> str:
    """An amount in atomic units, in dollars: plain decimal text without zeros at its end."""
    text = format(Decimal(atomic).scaleb(-decimals), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
