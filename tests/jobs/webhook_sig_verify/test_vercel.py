"""Vercel, with what the call that it documents signs."""

from __future__ import annotations

from tests.each import each
from tests.jobs.webhook_sig_verify.deliveries import MALFORMED, MISMATCH, NPM, PAYLOADS, VALID, ask, mac, verdict

PAYLOAD = '{"type":"deployment.created"}'
SECRET = "tmD3E9eYkKBMGhBPmkVHvbmS"
RIGHT = mac(SECRET, PAYLOAD, algorithm="sha1")


def test_a_whole_answer() -> None:
    """SHA-1 is all that Vercel has, so it is not called weak; and there is no time."""
    assert ask(provider="vercel", payload=PAYLOAD, signature=RIGHT, secret=SECRET) == {
        "ok": True,
        "valid": True,
        "provider": "vercel",
        "algorithm": "hmac_sha1",
        "scheme": "sha1",
        "weak": False,
        "timestamp": None,
        "ageSeconds": None,
        "toleranceSeconds": None,
        "reason": None,
    }


@each("delivery", NPM["vercel"])
def test_what_node_signs_is_valid(delivery: dict[str, str]) -> None:
    """Any payload, byte for byte."""
    assert verdict(ask(provider="vercel", **delivery)) == VALID
    assert verdict(ask(provider="vercel", **delivery | {"payload": " " + delivery["payload"]})) == MISMATCH


@each("payload", PAYLOADS)
def test_every_payload(payload: str) -> None:
    """Against the algorithm in Python."""
    signature = mac(SECRET, payload, algorithm="sha1")
    assert verdict(ask(provider="vercel", payload=payload, signature=signature, secret=SECRET)) == VALID


@each(
    ("signature", "expected"),
    [
        (RIGHT.upper(), VALID),
        (f" {RIGHT} ", VALID),
        ("0" * 40, MISMATCH),
        (mac(SECRET, PAYLOAD)[:40], MISMATCH),
        (mac(SECRET, PAYLOAD), MALFORMED),
        (f"sha1={RIGHT}", MALFORMED),
        (f"{RIGHT},{RIGHT}", MALFORMED),
        (RIGHT[:-1], MALFORMED),
        (f"{RIGHT[:20]} {RIGHT[20:]}", MALFORMED),
        (f"{RIGHT[:-1]}g", MALFORMED),
        (f"{RIGHT[:-1]}\uff10", MALFORMED),
        (f"{RIGHT}\n", MALFORMED),
        ("", MALFORMED),
    ],
)
def test_headers(signature: str, expected: tuple[bool, str | None]) -> None:
    """Forty hex digits and nothing else."""
    assert verdict(ask(provider="vercel", payload=PAYLOAD, signature=signature, secret=SECRET)) == expected
