"""Slack, with Slack's own SDK as the second opinion."""

from typing import Any

from slack_sdk.signature import Clock, SignatureVerifier

from tests.each import each
from tests.jobs.webhook_sig_verify.deliveries import (
    LATE,
    MALFORMED,
    MISMATCH,
    NOW,
    NOW_ISO,
    PAYLOADS,
    SECRETS,
    UNSUPPORTED,
    VALID,
    answered,
    ask,
    mac,
    verdict,
)

PAYLOAD = "token=xyz&team_id=T1&text=a+b"
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
RIGHT = mac(SECRET, "v0:", NOW, ":", PAYLOAD)


class _At(Clock):
    def __init__(self, now: float) -> None:
        self._now = now

    def now(self) -> float:
        return self._now


def _ask(signature: str, timestamp: str | int = NOW, payload: str = PAYLOAD, **more: Any) -> dict[str, Any]:
    body = {"secret": SECRET} | more
    return ask(provider="slack", payload=payload, signature=signature, timestamp=timestamp, **body)


def test_the_documented_example() -> None:
    """The request and signature of https://docs.slack.dev/authentication/verifying-requests-from-slack."""
    payload = (
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    assert verdict(_ask(signature, "1531420618", payload, now=1_531_420_618)) == VALID
    assert verdict(_ask(signature, "1531420618", payload)) == LATE


def test_a_whole_answer() -> None:
    """A signature of the near future."""
    expected = answered("slack", "v0", timestamp=NOW_ISO, ageSeconds=-7, toleranceSeconds=300)
    assert _ask(f"v0={RIGHT}", now=NOW - 7) == expected


@each("secret", SECRETS)
@each("payload", PAYLOADS)
def test_what_the_sdk_signs_is_valid(payload: str, secret: str) -> None:
    """Any payload, byte for byte, under any secret, with the time as text and as a number."""
    signature = SignatureVerifier(secret).generate_signature(timestamp=str(NOW), body=payload)
    assert signature is not None
    for timestamp in (str(NOW), NOW):
        assert verdict(_ask(signature, timestamp, payload, secret=secret)) == VALID
        assert verdict(_ask(signature, timestamp, payload + "\n", secret=secret)) == MISMATCH


@each("age", [-301, -300, -299, 0, 299, 300, 301, 10**6])
@each("signature", [f"v0={RIGHT}", f"v0={'0' * 64}", f"v1={RIGHT}", RIGHT, "", "v0="])
def test_the_sdk_is_of_the_same_opinion(signature: str, age: int) -> None:
    """With the tolerance of five minutes that it has."""
    accepted = SignatureVerifier(SECRET, _At(NOW + age)).is_valid(PAYLOAD, str(NOW), signature)
    assert _ask(signature, now=NOW + age)["valid"] is accepted


@each(
    ("signature", "expected"),
    [
        (f"v0={RIGHT.upper()}", VALID),
        (f"\tv0={RIGHT} ", VALID),
        (f"v0={mac(SECRET, PAYLOAD)}", MISMATCH),
        (f"v1={RIGHT}", UNSUPPORTED),
        (f"sha256={RIGHT}", UNSUPPORTED),
        (f"V0={RIGHT}", UNSUPPORTED),
        (RIGHT, MALFORMED),
        ("", MALFORMED),
        ("v0=", MALFORMED),
        (f"v0={RIGHT}0", MALFORMED),
        (f"v0={RIGHT[:-1]}x", MALFORMED),
        (f"v0= {RIGHT}", MALFORMED),
        (f"v0={RIGHT},v0={RIGHT}", MALFORMED),
        (f"v0={RIGHT}\r\n", MALFORMED),
    ],
)
def test_headers(signature: str, expected: tuple[bool, str | None]) -> None:
    """One version with one digest; another version is not supported, and anything else is malformed."""
    assert verdict(_ask(signature)) == expected


def test_the_time_is_signed_as_it_is_given() -> None:
    """With its zeros, and it belongs to the signature."""
    assert verdict(_ask(f"v0={mac(SECRET, 'v0:0', NOW, ':', PAYLOAD)}", f"0{NOW}")) == VALID
    assert verdict(_ask(f"v0={RIGHT}", f"0{NOW}")) == MISMATCH
    assert verdict(_ask(f"v0={RIGHT}", NOW + 1)) == MISMATCH
