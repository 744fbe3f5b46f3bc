"""Parses other sites' JSON leniently. Numbers stay texts, so no number is too long or too large."""

import json
from typing import Any

from jobs.x402_discover.figures import Number


class BadJson(ValueError):
    """The bytes are not JSON, or are nested too deeply."""


def parse(raw: bytes) -> Any:
    """Parse to objects, lists, texts, booleans, None and `Number`. Of a repeated key, the last value counts.

    A byte order mark, control characters in texts, bytes that are not UTF-8 and lone surrogates are accepted. `document.clean`
    removes the last two from texts.

    Raises:
        BadJson: the bytes cannot be parsed.
    """
    try:
        text = raw.decode(json.detect_encoding(raw), "replace")
        return json.loads(
            text.removeprefix("\ufeff"), strict=False, parse_int=Number, parse_float=Number, parse_constant=_nothing
        )
    except (ValueError, RecursionError):
        raise BadJson from None


def _nothing(_: str) -> None:
    """Read NaN and Infinity as None: they are not amounts."""
