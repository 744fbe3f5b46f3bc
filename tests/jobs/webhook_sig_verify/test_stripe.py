"""Stripe, with Stripe's own SDK as the second opinion."""

import base64
from typing import Any

import stripe
from hypothesis import given, settings
from hypothesis import strategies as st
from standardwebhooks import Webhook

from tests.each import each
from tests.jobs.webhook_sig_verify.deliveries import (
    LATE,
    MALFORMED,
    MISMATCH,
    NOT_TIMES,
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

PAYLOAD = '{"id": "evt_1", "object": "event"}'
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
RIGHT = mac(SECRET, NOW, ".", PAYLOAD)
WRONG = mac("another", NOW, ".", PAYLOAD)


def _ask(signature: str, payload: str = PAYLOAD, secret: str = SECRET, **more: Any) -> dict[str, Any]:
    return ask(provider="stripe", payload=payload, signature=signature, secret=secret, **more)


def _sdk_accepts(signature: str, payload: str = PAYLOAD, secret: str = SECRET) -> bool:
    try:
        return stripe.WebhookSignature.verify_header(payload, signature, secret, tolerance=None)
    except stripe.SignatureVerificationError:
        return False


def test_a_whole_answer() -> None:
    """A signature of ten seconds ago."""
    expected = answered("stripe", "v1", timestamp=NOW_ISO, ageSeconds=10, toleranceSeconds=300)
    assert _ask(f"t={NOW},v1={RIGHT}", now=NOW + 10) == expected


@each("secret", SECRETS)
@each("payload", PAYLOADS)
def test_what_the_sdk_signs_is_valid(payload: str, secret: str) -> None:
    """Any payload, byte for byte, under any secret."""
    signature = stripe.WebhookSignature.generate_signature_header(payload, secret, timestamp=NOW)
    assert _sdk_accepts(signature, payload, secret)
    assert verdict(_ask(signature, payload, secret)) == VALID
    assert verdict(_ask(signature, payload + " ", secret)) == MISMATCH


@each(
    ("signature", "expected"),
    [
        (f"t={NOW},v1={RIGHT}", VALID),
        (f"v1={RIGHT},t={NOW}", VALID),
        (f"v0={WRONG},v1={RIGHT},t={NOW}", VALID),
        (f"t={NOW},v1={WRONG},v1={RIGHT}", VALID),
        (f"t={NOW},v1={RIGHT},v1={WRONG}", VALID),
        (f"t={NOW},v1=ab,v1={RIGHT},v1=", VALID),
        (f"t={NOW},v1={RIGHT},v2={WRONG},x=y,z", VALID),
        (f",t={NOW},,v1={RIGHT},", VALID),
        (f"t={NOW},v1={WRONG}", MISMATCH),
        (f"t={NOW},v1={WRONG},v1={WRONG},v0={RIGHT}", MISMATCH),
        (f"t={NOW + 1},v1={RIGHT}", MISMATCH),
        (f"t=0{NOW},v1={RIGHT}", MISMATCH),
        (f"t={NOW} ,v1={mac(SECRET, NOW, ' .', PAYLOAD)}", MISMATCH),
        (f"t={NOW},v0={RIGHT}", UNSUPPORTED),
        (f"t={NOW},v2={RIGHT}", UNSUPPORTED),
        (f"t={NOW},v10={RIGHT}", UNSUPPORTED),
        (f"t={NOW}", MALFORMED),
        (f"t={NOW},V1={RIGHT}", MALFORMED),
        (f"T={NOW},v1={RIGHT}", MALFORMED),
        (f"v1={RIGHT}", MALFORMED),
        (f"v0={RIGHT}", MALFORMED),
        (f"t={NOW},t={NOW},v1={RIGHT}", MALFORMED),
        (f"t={NOW},t={NOW + 1},v1={RIGHT}", MALFORMED),
        (f"t={NOW};v1={RIGHT}", MALFORMED),
        (f"t={NOW},v1={RIGHT[:-1]}", MALFORMED),
        (f"t={NOW},v1={RIGHT}0", MALFORMED),
        (f"t={NOW},v1={RIGHT[:-1]}g", MALFORMED),
        (f"t={NOW},v1={RIGHT[:62]} {RIGHT[62:]}", MALFORMED),
        (f"t={NOW},v1={RIGHT[:62]}  ", MALFORMED),
        (f"t={NOW},v1=={RIGHT}", MALFORMED),
        (f"t={NOW},v1={RIGHT[:-1]}\u0661", MALFORMED),
        (f"t={NOW},v1=\uff41{RIGHT[1:]}", MALFORMED),
        (f"t={NOW},v1={RIGHT}\n", MALFORMED),
        (f"t={NOW},v1={RIGHT}\x00", MALFORMED),
        (f"t={NOW},v1={base64.b64encode(bytes.fromhex(RIGHT)).decode()}", MALFORMED),
        (RIGHT, MALFORMED),
        ("", MALFORMED),
        ("=", MALFORMED),
        ("," * 8_192, MALFORMED),
        ("💡", MALFORMED),
    ],
)
def test_headers(signature: str, expected: tuple[bool, str | None]) -> None:
    """Parts in any order, several v1, other versions; what is no digest or no time is malformed."""
    assert verdict(_ask(signature)) == expected


@each(
    "signature",
    [
        f" t={NOW},v1={RIGHT} ",
        f"t={NOW}, v1={RIGHT}",
        f"t={NOW} ,\tv1={RIGHT}\t",
        f"t={NOW},v1={RIGHT.upper()}",
        f"t={NOW},v1={RIGHT.title()}",
    ],
)
def test_more_lenient_than_the_sdk(signature: str) -> None:
    """What HTTP does not count around list members, and the case of hex."""
    assert verdict(_ask(signature)) == VALID


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [f"v1={RIGHT}", f"v1={WRONG}", f"v0={RIGHT}", f"v2={RIGHT}", "v1=", "x=y", "x", "", "=", f"={RIGHT}"]
        ),
        max_size=6,
    ),
    st.sampled_from([f"t={NOW}", f"t={NOW + 1}", "t=", "t", "t=x"]),
    st.integers(0, 6),
)
def test_the_sdk_is_of_the_same_opinion(parts: list[str], time: str, position: int) -> None:
    """Whatever parts there are beside one time, in whatever order."""
    signature = ",".join([*parts[:position], time, *parts[position:]])
    assert _ask(signature)["valid"] is _sdk_accepts(signature)


@each("written", NOT_TIMES)
def test_times_have_one_grammar(written: str) -> None:
    """Digits alone, even where what was signed is exactly what is there."""
    found = _ask(f"v1={mac(SECRET, written, '.', PAYLOAD)},t={written},x=y", toleranceSeconds=0)
    assert verdict(found) == MALFORMED


@each("written", ["0", "1", "0001790000000", "1790000000000", "9223372036854775807"])
def test_a_time_is_signed_as_it_is_written(written: str) -> None:
    """Any whole number that 63 bits hold, with its zeros."""
    signature = f"t={written},v1={mac(SECRET, written, '.', PAYLOAD)}"
    assert verdict(_ask(signature, toleranceSeconds=0)) == VALID
    assert _ask(signature)["ageSeconds"] == NOW - int(written)


@each(
    ("written", "iso"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
        (253_402_300_800, None),
        (2**63 - 1, None),
    ],
)
def test_times_that_no_calendar_has(written: int, iso: str | None) -> None:
    """A time after the year 9999 has an age and no date."""
    found = _ask(f"t={written},v1={RIGHT}")
    assert (found["timestamp"], found["ageSeconds"], found["reason"]) == (iso, NOW - written, "signature_mismatch")


@each(
    ("age", "tolerance", "expected"),
    [
        (0, 300, VALID),
        (299, 300, VALID),
        (300, 300, VALID),
        (301, 300, LATE),
        (-300, 300, VALID),
        (-301, 300, LATE),
        (1, 1, VALID),
        (2, 1, LATE),
        (-2, 1, LATE),
        (86_400, 86_400, VALID),
        (86_401, 86_400, LATE),
        (10**9, 0, VALID),
        (-(10**9), 0, VALID),
    ],
)
def test_age(age: int, tolerance: int, expected: tuple[bool, str | None]) -> None:
    """As far as the tolerance on both sides, and no farther; zero is any time."""
    found = _ask(f"t={NOW},v1={RIGHT}", toleranceSeconds=tolerance, now=NOW + age)
    assert verdict(found) == expected
    assert (found["ageSeconds"], found["toleranceSeconds"]) == (age, tolerance)


def test_age_is_judged_last() -> None:
    """A wrong signature is wrong before it is old; its time is shown and not judged."""
    found = _ask(f"t={NOW},v1={WRONG}", now=NOW + 10_000)
    assert verdict(found) == MISMATCH
    assert (found["timestamp"], found["ageSeconds"]) == (NOW_ISO, 10_000)


def test_nothing_is_shown_of_what_could_not_be_checked() -> None:
    """Without a claim there is no scheme, algorithm or time; the tolerance is the request's."""
    nothing = dict.fromkeys(("algorithm", "scheme", "weak", "timestamp", "ageSeconds"))
    expected = answered("stripe", "", valid=False, toleranceSeconds=5, reason="unsupported_scheme") | nothing
    found = _ask(f"t={NOW},v0={RIGHT}", toleranceSeconds=5)
    assert found == expected | {"hint": "The signature has a version or algorithm that stripe does not use here."}


def test_the_prefix_is_part_of_the_secret() -> None:
    """whsec_ is not cut off, and what follows is not decoded as Standard Webhooks does."""
    signature = f"t={NOW},v1={RIGHT}"
    assert verdict(_ask(signature, secret=SECRET.removeprefix("whsec_"))) == MISMATCH
    decoded = Webhook(SECRET)._whsecret
    assert base64.b64encode(decoded).decode() == SECRET.removeprefix("whsec_")
    bare = SECRET.removeprefix("whsec_")
    assert verdict(_ask(f"t={NOW},v1={mac(bare, NOW, '.', PAYLOAD)}")) == MISMATCH


def test_a_given_timestamp_does_not_count() -> None:
    """The time is the one that is signed."""
    assert verdict(_ask(f"t={NOW},v1={RIGHT}", timestamp=1)) == VALID
    assert verdict(_ask(f"v1={RIGHT}", timestamp=NOW)) == MALFORMED
