"""Decodes the payment in a request's headers strictly, by its content and never by the header's name."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import pybase64

from shared.x402.networks import V1_NAMES
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, FlatPayment, Payment

PAYMENT_SIGNATURE = b"payment-signature"
X_PAYMENT = b"x-payment"
MAX_HEADER_BYTES = 16 * 1024
MAX_DEPTH = 64

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
        PaymentRefused: ``invalid_payload`` for anything but padded standard base64 of a UTF-8 JSON object of at most 16 KB, 64
            levels and no repeated key; ``invalid_x402_version``; ``invalid_network``.
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
    raise PaymentRefused("invalid_payload")


def encode_header(content: bytes) -> bytes:
    """Standard base64 of a JSON document, for PAYMENT-REQUIRED, PAYMENT-RESPONSE and `WWW-Authenticate: X402`."""
    return pybase64.b64encode(content)


def _decode_json(value: bytes) -> dict[str, Any]:
    if len(value) > MAX_HEADER_BYTES:
        raise PaymentRefused("invalid_payload")
    try:
        raw = base64.b64decode(value, validate=True)
        # Python's decoder also takes surplus padding and stray bits at the end.
        if base64.b64encode(raw) != value:
            raise PaymentRefused("invalid_payload")
        content = json.loads(raw.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_no_constant)
        msgspec.json.encode(content)  # refuses lone surrogates, which could not be sent on to a facilitator
    except (binascii.Error, ValueError, RecursionError):
        raise PaymentRefused("invalid_payload") from None
    if not isinstance(content, dict) or _too_deep(content):
        raise PaymentRefused("invalid_payload")
    return content


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key is repeated")
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _too_deep(content: Any) -> bool:
    level = [content]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _convert(content: dict[str, Any], kind: type[T]) -> T:
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError:
        raise PaymentRefused("invalid_payload") from None
