"""Plain HMAC-SHA256 in every writing of a digest."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standardwebhooks import Webhook

from tests.each import each
from tests.jobs.webhook_sig_verify.deliveries import (
    MALFORMED,
    MISMATCH,
    NOW,
    PAYLOADS,
    SECRETS,
    UNSUPPORTED,
    VALID,
    ask,
    mac,
    verdict,
)

SECRET = "k"
PAYLOAD = next(
    text
    for text in map(str, range(1000))
    if {"+", "/"} <= set(base64.b64encode(bytes.fromhex(mac("k", text))).decode())
)
"""One whose digest in base64 has both characters that the alphabets write differently."""
RIGHT = mac(SECRET, PAYLOAD)
DIGEST = bytes.fromhex(RIGHT)
STANDARD = base64.b64encode(DIGEST).decode()
URL_SAFE = base64.urlsafe_b64encode(DIGEST).decode()
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _ask(signature: str, payload: str = PAYLOAD, secret: str = SECRET, **more: Any) -> dict[str, Any]:
    return ask(provider="generic", payload=payload, signature=signature, secret=secret, **more)


def test_a_whole_answer() -> None:
    """Nothing but the payload is signed."""
    assert _ask(RIGHT, toleranceSeconds=1, timestamp=1) == {
        "ok": True,
        "valid": True,
        "provider": "generic",
        "algorithm": "hmac_sha256",
        "scheme": "sha256",
        "weak": False,
        "timestamp": None,
        "ageSeconds": None,
        "toleranceSeconds": None,
        "reason": None,
    }


@each("secret", SECRETS)
@each("payload", PAYLOADS)
def test_every_payload(payload: str, secret: str) -> None:
    """In hex and in each base64, with the prefix and without."""
    right = mac(secret, payload)
    standard = base64.b64encode(bytes.fromhex(right)).decode()
    url_safe = base64.urlsafe_b64encode(bytes.fromhex(right)).decode()
    for text in (right, right.upper(), standard, standard[:-1], url_safe, url_safe[:-1]):
        for prefix in ("", "sha256="):
            assert verdict(_ask(prefix + text, payload, secret)) == VALID
            assert verdict(_ask(prefix + text, payload + "\x00", secret)) == MISMATCH


@each(
    ("signature", "expected"),
    [
        (f" {STANDARD}\t", VALID),
        (f"sha256={URL_SAFE}", VALID),
        (STANDARD.replace("+", "-"), MALFORMED),
        (STANDARD.lower(), MISMATCH),
        (f"{STANDARD}=", MALFORMED),
        (STANDARD[:-2], MALFORMED),
        (f"A{STANDARD}", MALFORMED),
        (f"{STANDARD[:20]}\n{STANDARD[20:]}", MALFORMED),
        (f"{STANDARD}\n", MALFORMED),
        (f"sha256={RIGHT}=", MALFORMED),
        (f"sha256=={RIGHT}", MALFORMED),
        ("sha256=", MALFORMED),
        ("YQ==", MALFORMED),
        (f"sha1={RIGHT[:40]}", UNSUPPORTED),
        (f"sha512={RIGHT}", UNSUPPORTED),
        (f"SHA256={RIGHT}", UNSUPPORTED),
        (f"hmac-sha256={RIGHT}", UNSUPPORTED),
        (f"v1={RIGHT}", UNSUPPORTED),
        (f"t={NOW},v1={RIGHT}", UNSUPPORTED),
        (f"sha256:{RIGHT}", MALFORMED),
        (RIGHT[:40], MALFORMED),
        (RIGHT[:-1], MALFORMED),
        (f"0x{RIGHT}", MALFORMED),
        (":".join(RIGHT[i : i + 2] for i in range(0, 64, 2)), MALFORMED),
        ("", MALFORMED),
        ("=", MALFORMED),
        ("\U0001f4a1" * 64, MALFORMED),
    ],
)
def test_signatures(signature: str, expected: tuple[bool, str | None]) -> None:
    """A digest of 32 bytes in hex or one base64; another hash by name is not supported."""
    assert verdict(_ask(signature)) == expected


@pytest.mark.parametrize("padding", ["", "="])
def test_base64_has_one_last_character(padding: str) -> None:
    """The last one has two bits that say nothing: three others would mean the same digest, and are malformed."""
    last = ALPHABET.index(STANDARD[42])
    accepted = [sign for sign in ALPHABET if verdict(_ask(STANDARD[:42] + sign + padding)) == VALID]
    assert accepted == [ALPHABET[last]]
    same = [ALPHABET[last + extra] for extra in (1, 2, 3)]
    assert all(base64.b64decode(f"{STANDARD[:42]}{sign}=") == DIGEST for sign in same)
    assert {verdict(_ask(STANDARD[:42] + sign + padding)) for sign in same} == {MALFORMED}


@settings(deadline=None)
@given(st.binary(min_size=32, max_size=32))
def test_any_other_digest_is_a_mismatch(digest: bytes) -> None:
    """Whatever the writing."""
    for text in (digest.hex(), base64.b64encode(digest).decode(), base64.urlsafe_b64encode(digest).decode()):
        assert verdict(_ask(text)) == MISMATCH


def test_standard_webhooks_is_another_scheme() -> None:
    """It signs an id and a time too, under a decoded key: its headers are not read as plain HMAC."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signature = Webhook(secret).sign("msg_1", datetime.fromtimestamp(NOW, UTC), PAYLOAD)
    assert signature.startswith("v1,")
    assert verdict(_ask(signature, secret=secret)) == MALFORMED
    assert verdict(_ask(signature.removeprefix("v1,"), secret=secret)) == MISMATCH
