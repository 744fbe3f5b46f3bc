"""Signed payments for whatever a 402 offers, one header a line: what wrk sends."""

from __future__ import annotations

import base64
import urllib.error
import urllib.request
from pathlib import Path

import msgspec
from coincurve import PrivateKey

from shared.x402.wire import Challenge, Offer
from tests import signing


def offered(url: str, method: str = "POST") -> Offer:
    """The first offer of an unpaid call's challenge, which every v2 shop sends in PAYMENT-REQUIRED."""
    try:
        urllib.request.urlopen(urllib.request.Request(url, data=b"", method=method), timeout=10)
    except urllib.error.HTTPError as answer:
        with answer:
            challenge = msgspec.json.decode(base64.b64decode(answer.headers["PAYMENT-REQUIRED"]), type=Challenge)
            return challenge.accepts[0]
    raise AssertionError(f"{url} asks for no payment")


def write_payments(path: Path, offer: Offer, count: int) -> None:
    """Sign `count` payments, each with a nonce of its own, good for the next minute."""
    key = PrivateKey()
    with path.open("wb") as file:
        for _ in range(count):
            payment = {"x402Version": 2, "accepted": signing.wire(offer), "payload": signing.payload(key, offer)}
            file.write(base64.b64encode(msgspec.json.encode(payment)) + b"\n")
