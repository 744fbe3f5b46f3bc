"""A limit in dollars, as a person writes it."""

from __future__ import annotations

import re
from decimal import Decimal

_DOLLARS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,18})?", re.ASCII)


def dollars(text: str) -> Decimal:
    """Plain decimal text; 0 allows nothing but free calls. Raises ValueError."""
    if not _DOLLARS.fullmatch(text):
        raise ValueError("not a plain decimal number of dollars, like 0.01")
    return Decimal(text)
