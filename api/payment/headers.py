"""Decodes the payment in a request's headers strictly, by its content and never by the header's name."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import pybase64

from api.errors import Problem
from shared.raw_json import is_deeper
from shared.x402.networks import V1_NAMES
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, FlatPayment, Payment

PAYMENT_SIGNATURE = b"payment-signature"
X_PAYMENT = b"x-payment"
MAX_HEADER_BYTES = 16 * 1024
MAX_DEPTH = 64
MAX_DIGITS = 80
"""Of a whole number. The largest that a payment may hold, of 256 bits, has 78."""
MAX_VALUES = 500
"""Of commas and opening brackets, also those in texts: there cannot be more values, and counting these decodes nothing.
Payments for our challenges have up to 330. 15 KB of `{},` took an API process 0.9 ms, where a 402 takes 0.05 ms; with this
bound nothing takes longer than a payment with a forged signature, 0.2 ms."""

UNDECODABLE = {
    "payment_too_long": "The payment header is longer than 16 KB.",
    "payment_not_base64": "The payment header is not standard base64 with padding.",
    "payment_not_utf8": "What the payment header encodes is not UTF-8.",
    "payment_not_json": "What the payment header encodes is not a JSON object of at most 64 levels and 500 values "
    "without repeated keys.",
    "payment_shape": "The JSON in the payment header has not the fields of an x402 payment.",
}
"""The reasons of ``invalid_payment``, and what they mean."""
_PRICE = "The same call without the header gets the price and says how to pay."

T = TypeVar("T")
Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Presented:
    """A payment header.

    Attributes:
        value: the header as it came.
        older: it came in X-PAYMENT, so the receipt goes into X-PAYMENT-RESPONSE too.
    """

    value: bytes
    older: bool


def find_payment(headers: Headers) -> Presented | None:
    """The payment header, or None.

    Raises:
        PaymentRefused: ``ambiguous_payment`` for the same header twice, or both headers with different content: a proxy
            might read another one than we do.
    """
    signatures = [value for name, value in headers if name == PAYMENT_SIGNATURE]
    older = [value for name, value in headers if name == X_PAYMENT]
    if len(signatures) > 1 or len(older) > 1 or (signatures and older and signatures != older):
        raise PaymentRefused("ambiguous_payment")
    if signatures:
        return Presented(signatures[0], older=bool(older))
    return Presented(older[0], older=True) if older else None


def decode_payment(value: bytes) -> Payment | FlatPayment:
    """Decode base64 JSON: ``accepted`` makes it a v2 payment, top-level ``scheme`` and ``network`` the older flat one.

    A flat payment's network comes back as CAIP-2.

    Raises:
        Problem: ``invalid_payment``, with a reason of UNDECODABLE, for anything but padded standard base64 of a UTF-8 JSON
            object of at most 16 KB, 64 levels, MAX_VALUES and no repeated key, with the fields of a payment. The x402
            specification of HTTP (specs/transports-v2/http.md) has 400 for these.
        PaymentRefused: ``invalid_x402_version``.
    """
    content = _decode_json(value)
    version = content.get("x402Version")
    # bool is an int and 2.0 equals 2: neither is a version.
    if "accepted" in content:
        if type(version) is not int or version != X402_VERSION:
            raise PaymentRefused("invalid_x402_version")
        return _convert(content, Payment)
    if "scheme" in content and "network" in content:
        if type(version) is not int or version not in (1, X402_VERSION):
            raise PaymentRefused("invalid_x402_version")
        flat = _convert(content, FlatPayment)
        return msgspec.structs.replace(flat, network=V1_NAMES.get(flat.network, flat.network))
    raise _undecodable("payment_shape")


def encode_header(content: bytes) -> bytes:
    """Standard base64 of a JSON document, for PAYMENT-REQUIRED, PAYMENT-RESPONSE and `WWW-Authenticate: X402`."""
    return pybase64.b64encode(content)


def _undecodable(reason: str) -> Problem:
    return Problem(code="invalid_payment", reason=reason, detail=f"{UNDECODABLE[reason]} {_PRICE}")


def _decode_json(value: bytes) -> dict[str, Any]:
    if len(value) > MAX_HEADER_BYTES:
        raise _undecodable("payment_too_long")
    try:
        raw = pybase64.b64decode(value, validate=True)
    except ValueError:
        raise _undecodable("payment_not_base64") from None
    # The decoder also takes stray bits at the end.
    if pybase64.b64encode(raw) != value:
        raise _undecodable("payment_not_base64")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _undecodable("payment_not_utf8") from None
    if not text.lstrip(" \t\r\n").startswith("{") or sum(map(raw.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise _undecodable("payment_not_json")
    try:
        content: dict[str, Any] = json.loads(
            text, object_pairs_hook=_distinct, parse_constant=_no_constant, parse_int=_integer
        )
        msgspec.json.encode(content)  # refuses lone surrogates, which could not be sent on to a facilitator
    except (ValueError, RecursionError):
        raise _undecodable("payment_not_json") from None
    if is_deeper(content, MAX_DEPTH):
        raise _undecodable("payment_not_json")
    return content


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key is repeated")
    return content


def _integer(text: str) -> int:
    # Reading a long number and writing it again takes the square of its length: 1.3 ms for a header full of them.
    if len(text) > MAX_DIGITS:
        raise ValueError("the number is too long")
    return int(text)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _convert(content: dict[str, Any], kind: type[T]) -> T:
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError:
        raise _undecodable("payment_shape") from None
