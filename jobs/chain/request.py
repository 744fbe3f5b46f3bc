"""Fields that requests share. Each is judged before the payment; `run` reads it again out of the same text."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from jobs.evm import address, quantity
from jobs.ports.chains import Chain

MAX_DATA_CHARS = 2 + 2 * quantity.MAX_DATA_BYTES
MAX_BODY_BYTES = MAX_DATA_CHARS + 4096

# Shown, not checked: what reads them says more than a pattern.
Address = Annotated[
    str,
    msgspec.Meta(
        description="0x and 40 hex digits, in lower, upper or checksum case (EIP-55).",
        extra_json_schema={"pattern": "^0[xX][0-9a-fA-F]{40}$"},
    ),
]
Uint256 = Annotated[
    str,
    msgspec.Meta(
        description="From 0 to 2^256-1, in decimal or 0x hex digits.",
        extra_json_schema={"pattern": "^([0-9]{1,80}|0[xX][0-9a-fA-F]{1,64})$"},
    ),
]
Data = Annotated[
    str,
    msgspec.Meta(
        description="0x and an even number of hex digits, 128 KB at most.",
        extra_json_schema={"pattern": "^0[xX]([0-9a-fA-F]{2})*$", "maxLength": MAX_DATA_CHARS},
    ),
]
ChainName = Annotated[Chain, msgspec.Meta(description="The chain: `ethereum` (1) or `base` (8453).")]


def check_addresses(request: msgspec.Struct, *fields: str) -> None:
    """Raises InvalidField for the first that is none; null is none to check."""
    for field in fields:
        text: Any = getattr(request, field)
        if text is not None:
            address.parse(text, field=field)


def parsed(text: str) -> str:
    """An address that was checked, in lower case."""
    return text.lower()
