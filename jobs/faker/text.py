"""Writes values that are not texts in JavaScript's notation, because the methods are faker-js's."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()


def as_json(value: Any) -> str:
    """Write an object or an array as compact JSON: ``{"name":"Air China","iataCode":"CA"}``, ``[0.2,0.4]``."""
    return _encoder.encode(value).decode()


def as_number(value: float) -> str:
    """Write a number in decimal notation without an exponent. A whole number has no fraction, as in JavaScript."""
    text = format(Decimal(repr(value)), "f")
    return text[:-2] if text.endswith(".0") else text


def as_time(value: datetime) -> str:
    """Write a time as ISO-8601 in UTC with milliseconds, like Date.toISOString: ``2026-01-01T00:00:00.000Z``."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
