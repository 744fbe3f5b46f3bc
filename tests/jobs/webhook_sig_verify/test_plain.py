"""The senders that sign no time: GitHub, Vercel, and plain HMAC-SHA256 in every notation of a digest.

Any payload of each is in test_mutations, signed with another HMAC.
"""

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
    UNSUPPORTED,
    VALID,
    answered,
    ask,
    mac,
    verdict,
)

SECRET = "It's a Secret to Everybody"
PAYLOAD = next(
    text
    for text in map(str, range(1000))
    if {"+", "/"} <= set(base64.b64encode(bytes.fromhex(mac(SECRET, text))).decode())
)
"""One whose digest in base64 has both characters that the alphabets write differently."""
RIGHT = mac(SECRET, PAYLOAD)
RIGHT_SHA1 = mac(SECRET, PAYLOAD, algorithm="sha1")
DIGEST = bytes.fromhex(RIGHT)
STANDARD = base64.b64encode(DIGEST).decode()
URL_SAFE = base64.urlsafe_b64encode(DIGEST).decode()
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _ask(signature: str, provider: str = "generic", **more: Any) -> dict[str, Any]:
    return ask(**{"provider": provider, "payload": PAYLOAD, "signature": signature, "secret": SECRET} | more)


def test_whole_answers() -> None:
    """Nothing but the payload is signed: tolerance, time and the clock do not matter. Vercel has nothing better than SHA-1."""
    more: dict[str, Any] = {"toleranceSeconds": 1, "timestamp": 1, "now": 2**40}
    assert _ask(RIGHT, **more) == answered("generic", "sha256")
    assert _ask(f"sha256={RIGHT}", "github", **more) == answered("github", "sha256")
    assert _ask(f"sha1={RIGHT_SHA1}", "github", **more) == answered("github", "sha1", algorithm="hmac_sha1", weak=True)
    assert _ask(RIGHT_SHA1, "vercel", **more) == answered("vercel", "sha1", algorithm="hmac_sha1")
    wrong = answered("github", "sha1", algorithm="hmac_sha1", weak=True, valid=False, reason="signature_mismatch")
    found = _ask(f"sha1={RIGHT[:40]}", "github")
    assert found == wrong | {"hint": found["hint"]}


def test_githubs_documented_example() -> None:
    """Of https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries."""
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert verdict(_ask(signature, "github", payload="Hello, World!")) == VALID


@each("text", [RIGHT, RIGHT.upper(), STANDARD, STANDARD[:-1], URL_SAFE, URL_SAFE[:-1]])
@each("prefix", ["", "sha256="])
def test_notations_of_a_digest(text: str, prefix: str) -> None:
    """Hex, or either base64 with its padding or without."""
    assert verdict(_ask(prefix + text)) == VALID
    assert verdict(_ask(prefix + text, payload=PAYLOAD + "\x00")) == MISMATCH


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
def test_generic_signatures(signature: str, expected: tuple[bool, str | None]) -> None:
    """A digest of 32 bytes in hex or one base64; another hash by name is not supported."""
    assert verdict(_ask(signature)) == expected


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
def test_github_headers(signature: str, expected: tuple[bool, str | None]) -> None:
    """The hash by its name and one digest of its length; another name is not supported."""
    assert verdict(_ask(signature, "github")) == expected


@each(
    ("signature", "expected"),
    [
        (RIGHT_SHA1.upper(), VALID),
        (f" {RIGHT_SHA1} ", VALID),
        ("0" * 40, MISMATCH),
        (RIGHT[:40], MISMATCH),
        (RIGHT, MALFORMED),
        (f"sha1={RIGHT_SHA1}", MALFORMED),
        (f"{RIGHT_SHA1},{RIGHT_SHA1}", MALFORMED),
        (RIGHT_SHA1[:-1], MALFORMED),
        (f"{RIGHT_SHA1[:20]} {RIGHT_SHA1[20:]}", MALFORMED),
        (f"{RIGHT_SHA1[:-1]}g", MALFORMED),
        (f"{RIGHT_SHA1[:-1]}\uff10", MALFORMED),
        (f"{RIGHT_SHA1}\n", MALFORMED),
        ("", MALFORMED),
    ],
)
def test_vercel_headers(signature: str, expected: tuple[bool, str | None]) -> None:
    """Forty hex digits and nothing else."""
    assert verdict(_ask(signature, "vercel")) == expected


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
