"""Other sites' JSON, read as forgivingly as is safe: numbers stay as they are written, so none is too long or too large."""

from __future__ import annotations

import json
from typing import Any

from jobs.x402_discover.figures import Number


class BadJson(ValueError):
    """It is none, or its levels are too many."""


def parse(raw: bytes) -> Any:
    """Objects, lists, texts, booleans, None, and `Number`. Of a repeated key, the last value stays.

    A byte order mark, control characters in texts, bytes that are no UTF-8 and halves of surrogate pairs are let through; the
    last two end where a text is cleaned.

    Raises:
        BadJson: it cannot be read.
    """
    try:
        text = raw.decode(json.detect_encoding(raw), "replace")
        return json.loads(
            text.removeprefix("\ufeff"), strict=False, parse_int=Number, parse_float=Number, parse_constant=_nothing
        )
    except (ValueError, RecursionError):
        raise BadJson from None


def _nothing(_: str) -> None:
    """NaN and Infinity are no amounts."""
