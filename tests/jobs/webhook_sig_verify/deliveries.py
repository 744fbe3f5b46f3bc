"""What the tests of the senders share: payloads that are easily damaged on the way, and the call."""

import hashlib
import hmac
import json
from typing import Any

import msgspec

from jobs.webhook_sig_verify.endpoint import Request, answer

NOW = 1_790_000_000
"""Unix seconds of every call that does not name another time: 2026-09-21T14:13:20Z."""
NOW_ISO = "2026-09-21T14:13:20Z"

PAYLOADS = (
    "",
    " ",
    "\n",
    "Hello, World!",
    '{"id": "evt_1", "object": "event"}',
    '{\r\n\t"a" : [1, 2.50, -0, 1e400],\r\n}\r\n',
    "\ufeff{}",
    "a\x00b\x00",
    "e\u0301 \u00e9 \u212b \u202etxet\u202c \u200b",
    "\U0001f4a1\U0010ffff\ue000\uffff",
    "payload=%7B%22a%22%3A%22b%20c%22%7D&text=a+b",
    'quotes " and \\backslashes\\ and \\ud83d and \u2028',
    "1.v0:2.v1=3",
    "x" * 5_000,
)
SECRETS = ("k", "whsec_+/==", "It's a Secret to Everybody", "s\u00e9cret \U0001f4a1 with spaces ", "long " * 40)

NOT_TIMES = (
    *("", " ", "+1", "-1", "1.0", "1e9", "0x1", "1_0", "now", "None", "\u0661\u0662", "\uff11", "\u00b2"),
    *("99999999999999999999", "9223372036854775808", "00000000000000000001", "1" * 5_000, "1\n", "1\x00"),
)
"""Texts that some reader takes for a number, and none of the senders writes."""


def ask(now: int = NOW, **body: Any) -> dict[str, Any]:
    """The answer to a body, by way of its JSON as a caller would write it."""
    request = msgspec.json.decode(json.dumps(body), type=Request)
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(answer(request, now_s=now)))
    return decoded


def mac(secret: str, *pieces: str | int, algorithm: str = "sha256") -> str:
    """The hex HMAC of the pieces, one after another, written for the tests."""
    keyed = hmac.new(secret.encode(), digestmod=getattr(hashlib, algorithm))
    for piece in pieces:
        keyed.update(str(piece).encode())
    return keyed.hexdigest()


def answered(provider: str, scheme: str, **more: Any) -> dict[str, Any]:
    """The whole answer to a valid signature without a time, but for what differs."""
    return {
        "ok": True,
        "valid": True,
        "provider": provider,
        "algorithm": "hmac_sha256",
        "scheme": scheme,
        "weak": False,
        "timestamp": None,
        "ageSeconds": None,
        "toleranceSeconds": None,
        "reason": None,
        "hint": None,
    } | more


def verdict(found: dict[str, Any]) -> tuple[bool, str | None]:
    """Whether the signature is valid, and why not."""
    return found["valid"], found["reason"]


VALID = (True, None)
MISMATCH = (False, "signature_mismatch")
LATE = (False, "timestamp_out_of_tolerance")
MALFORMED = (False, "malformed_signature")
MISSING = (False, "missing_header")
UNSUPPORTED = (False, "unsupported_scheme")
