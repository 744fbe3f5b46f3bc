"""GitHub, with what Octokit signs and what GitHub documents."""

from __future__ import annotations

from typing import Any

from tests.each import each
from tests.jobs.webhook_sig_verify.deliveries import (
    MALFORMED,
    MISMATCH,
    NPM,
    PAYLOADS,
    UNSUPPORTED,
    VALID,
    ask,
    mac,
    verdict,
)

PAYLOAD = "Hello, World!"
SECRET = "It's a Secret to Everybody"
RIGHT = mac(SECRET, PAYLOAD)
RIGHT_SHA1 = mac(SECRET, PAYLOAD, algorithm="sha1")


def _ask(signature: str, payload: str = PAYLOAD, secret: str = SECRET, **more: Any) -> dict[str, Any]:
    return ask(provider="github", payload=payload, signature=signature, secret=secret, **more)


def test_the_documented_example() -> None:
    """The values for testing at https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries."""
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert _ask(signature) == {
        "ok": True,
        "valid": True,
        "provider": "github",
        "algorithm": "hmac_sha256",
        "scheme": "sha256",
        "weak": False,
        "timestamp": None,
        "ageSeconds": None,
        "toleranceSeconds": None,
        "reason": None,
    }


@each("delivery", NPM["github"])
def test_what_octokit_signs_is_valid(delivery: dict[str, str]) -> None:
    """Any payload, byte for byte."""
    assert verdict(ask(provider="github", **delivery)) == VALID
    assert verdict(ask(provider="github", **delivery | {"payload": delivery["payload"] + " "})) == MISMATCH


@each("payload", PAYLOADS)
def test_every_payload(payload: str) -> None:
    """Also the empty one, which Octokit does not sign."""
    assert verdict(_ask(f"sha256={mac(SECRET, payload)}", payload)) == VALID


def test_sha1_is_weak() -> None:
    """The older header's value is checked, and the answer says what that is worth."""
    found = _ask(f"sha1={RIGHT_SHA1}")
    assert verdict(found) == VALID
    assert (found["weak"], found["scheme"], found["algorithm"]) == (True, "sha1", "hmac_sha1")
    found = _ask(f"sha1={RIGHT[:40]}")
    assert verdict(found) == MISMATCH
    assert (found["weak"], found["scheme"], found["algorithm"]) == (True, "sha1", "hmac_sha1")


@each(
    ("signature", "expected"),
    [
        (f"sha256={RIGHT.upper()}", VALID),
        (f" sha256={RIGHT}\t", VALID),
        (f"sha256={'0' * 64}", MISMATCH),
        (f"sha512={RIGHT}{RIGHT}", UNSUPPORTED),
        (f"SHA256={RIGHT}", UNSUPPORTED),
        (f"v1={RIGHT}", UNSUPPORTED),
        (f"sha256={RIGHT_SHA1}", MALFORMED),
        (f"sha1={RIGHT}", MALFORMED),
        (RIGHT, MALFORMED),
        (f"={RIGHT}", MALFORMED),
        (f"sha256:{RIGHT}", MALFORMED),
        (f"sha256 ={RIGHT}", MALFORMED),
        (f"sha256= {RIGHT}", MALFORMED),
        (f"sha256=sha256={RIGHT}", MALFORMED),
        (f"sha1={RIGHT_SHA1},sha256={RIGHT}", MALFORMED),
        ("sha256=", MALFORMED),
        ("sha256", MALFORMED),
        ("", MALFORMED),
        (f"sha256={RIGHT[:-1]}", MALFORMED),
        (f"sha256={RIGHT[:-1]}\u0660", MALFORMED),
        (f"sha256={RIGHT}\n", MALFORMED),
        (f"\ufeffsha256={RIGHT}", MALFORMED),
    ],
)
def test_headers(signature: str, expected: tuple[bool, str | None]) -> None:
    """The hash by its name and one digest of its length; another name is not supported."""
    assert verdict(_ask(signature)) == expected


def test_there_is_no_time() -> None:
    """Tolerance and timestamp have nothing to do with it."""
    assert verdict(_ask(f"sha256={RIGHT}", toleranceSeconds=1, timestamp="1", now=2**40)) == VALID
