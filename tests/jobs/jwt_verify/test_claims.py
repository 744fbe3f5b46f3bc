"""What claims say at a time."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.jwt_verify.cautions import dates_in_milliseconds
from jobs.jwt_verify.claims import Judgement, Rules, judge
from tests.each import each
from tests.jobs.jose import NOW


def _judge(
    payload: dict[str, Any] | None,
    *,
    now: float = NOW,
    issuers: tuple[str, ...] = (),
    audiences: tuple[str, ...] = (),
    required: tuple[str, ...] = (),
    tolerance: int = 0,
) -> Judgement:
    return judge(payload, Rules(issuers, audiences, required, tolerance), now)


def _codes(judgement: Judgement) -> list[tuple[str, str | None]]:
    return [(fault.code, fault.claim) for fault in judgement.faults]


def test_nothing_asked_and_nothing_there() -> None:
    """An empty object is valid forever, and nothing of it was judged."""
    judgement = _judge({})
    assert (judgement.expired, judgement.not_yet_valid, judgement.faults) == (False, False, ())
    assert (judgement.expires_at, judgement.not_before, judgement.issued_at) == (None, None, None)
    for claim in (judgement.claims.iss, judgement.claims.aud, judgement.claims.exp, judgement.claims.nbf):
        assert (claim.present, claim.value, claim.ok) == (False, None, None)


def test_without_a_payload() -> None:
    """Nothing is known, and no claim has a fault."""
    judgement = _judge(None, issuers=("a",), audiences=("b",), required=("c",))
    assert (judgement.expired, judgement.not_yet_valid, judgement.faults) == (None, None, ())
    assert judgement.claims.iss.ok is None


@pytest.mark.parametrize("tolerance", [0, 1, 3600])
def test_dates_are_exact(tolerance: int) -> None:
    """The token is valid from nbf minus tolerance on, and expired at exp plus tolerance; fractions of a second count."""
    end, start = NOW + tolerance, NOW - tolerance
    for exp, now, expired in ((NOW, end - 0.25, False), (NOW, end, True), (NOW + 0.5, end, False)):
        assert _judge({"exp": exp}, now=now, tolerance=tolerance).expired is expired
    for nbf, now, early in ((NOW, start - 0.25, True), (NOW, start, False), (NOW + 0.5, start, True)):
        assert _judge({"nbf": nbf}, now=now, tolerance=tolerance).not_yet_valid is early


def test_dates_in_the_answer() -> None:
    """They are ISO 8601 in UTC, with a fraction where there is one."""
    judgement = _judge({"exp": NOW + 60, "nbf": NOW - 0.5, "iat": -1})
    assert judgement.expires_at == "2026-01-01T00:01:00Z"
    assert judgement.not_before == "2025-12-31T23:59:59.500000Z"
    assert judgement.issued_at == "1969-12-31T23:59:59Z"
    assert (judgement.claims.exp.ok, judgement.claims.nbf.ok, judgement.faults) == (True, True, ())


@each(
    ("exp", "expired", "shown"),
    [
        (0, True, "1970-01-01T00:00:00Z"),
        (-1, True, "1969-12-31T23:59:59Z"),
        (-1e300, True, None),
        (253402300799, False, "9999-12-31T23:59:59Z"),
        (253402300800, False, None),
        (1e300, False, None),
        (10**4299, False, None),
        (-(10**4299), True, None),
        (5e-324, True, "1970-01-01T00:00:00Z"),
    ],
)
def test_dates_that_no_calendar_has(exp: float, expired: bool, shown: str | None) -> None:
    """A number of any size is compared exactly; the date is shown when there is one."""
    judgement = _judge({"exp": exp})
    assert (judgement.expired, judgement.expires_at, judgement.claims.exp.value) == (expired, shown, exp)


@each("value", [None, True, False, "1900000000", "never", "", [], [1900000000], {}])
@each("name", ["exp", "nbf"])
def test_dates_that_are_no_numbers(name: str, value: Any) -> None:
    """They are malformed: whether the token is expired or not yet valid is unknown."""
    judgement = _judge({name: value}, required=(name,))
    assert _codes(judgement) == [("malformed", name)]
    claim = getattr(judgement.claims, name)
    assert (claim.present, claim.value, claim.ok) == (True, value, False)
    assert (judgement.expired, judgement.not_yet_valid) == ((None, False) if name == "exp" else (False, None))
    assert (judgement.expires_at, judgement.not_before) == (None, None)


@each("value", [None, True, "now", NOW + 10**6, -5, [], 1e300])
def test_iat_is_shown_and_never_judged(value: Any) -> None:
    """RFC 7519 gives no rule for it, not even for a token from the future."""
    assert _judge({"iat": value}).faults == ()
    assert _judge({"iat": NOW + 10**6}).issued_at == "2026-01-12T13:46:40Z"
    assert _judge({"iat": "now"}).issued_at is None


@pytest.mark.parametrize("payload", [{"sub": 5, "jti": 7, "iss": 5, "aud": {}}, {"iss": None, "aud": None}])
def test_what_is_not_asked_for_is_not_judged(payload: dict[str, Any]) -> None:
    """Types of other claims are the caller's business."""
    judgement = _judge(payload)
    assert judgement.faults == ()
    assert (judgement.claims.iss.present, judgement.claims.iss.value, judgement.claims.iss.ok) == (
        True,
        payload["iss"],
        None,
    )
    assert judgement.claims.aud.ok is None


@each(
    ("iss", "wanted", "code"),
    [
        ("a", ("a",), None),
        ("a", ("b", "a"), None),
        ("a", ("b",), "issuer_mismatch"),
        ("a", ("A",), "issuer_mismatch"),
        ("ab", ("a", "b"), "issuer_mismatch"),
        ("", ("a",), "issuer_mismatch"),
        ("\u00e9", ("e\u0301",), "issuer_mismatch"),
        (["a"], ("a",), "issuer_mismatch"),
        (5, ("5",), "issuer_mismatch"),
        (None, ("None",), "missing_claim"),
        (..., ("a",), "missing_claim"),
    ],
)
def test_issuer(iss: Any, wanted: tuple[str, ...], code: str | None) -> None:
    """It is one of those that are wanted, character by character; a list is no issuer."""
    judgement = _judge({} if iss is ... else {"iss": iss}, issuers=wanted, required=("iss",))
    assert _codes(judgement) == ([] if code is None else [(code, "iss")])
    assert judgement.claims.iss.ok is (code is None)


@each(
    ("aud", "wanted", "code"),
    [
        ("a", ("a",), None),
        ("a", ("b", "a"), None),
        (["x", "a"], ("a",), None),
        (["x", "a"], ("b", "a"), None),
        ("a", ("b",), "audience_mismatch"),
        ("abc", ("a",), "audience_mismatch"),
        (["A"], ("a",), "audience_mismatch"),
        ([], ("a",), "audience_mismatch"),
        (["a", 5], ("a",), "audience_mismatch"),
        ({"a": 1}, ("a",), "audience_mismatch"),
        (None, ("a",), "missing_claim"),
        (..., ("a",), "missing_claim"),
    ],
)
def test_audience(aud: Any, wanted: tuple[str, ...], code: str | None) -> None:
    """One of those that are wanted is among the token's, character by character; all of the token's must be text."""
    judgement = _judge({} if aud is ... else {"aud": aud}, audiences=wanted)
    assert _codes(judgement) == ([] if code is None else [(code, "aud")])
    assert judgement.claims.aud.ok is (code is None)


def test_required_claims() -> None:
    """Each that is absent or null is named once, in the order asked for; false, 0 and empty values are there."""
    payload = {"a": None, "b": 0, "c": "", "d": False, "e": []}
    judgement = _judge(payload, required=("z", "a", "b", "c", "d", "e", "z", "exp"))
    assert _codes(judgement) == [("missing_claim", "z"), ("missing_claim", "a"), ("missing_claim", "exp")]
    assert (judgement.claims.exp.present, judgement.claims.exp.ok) == (False, False)
    assert judgement.expired is False


_DATES = st.integers(NOW - 4000, NOW + 4000) | st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@given(_DATES, _DATES, st.integers(0, 3600), st.integers(NOW - 10, NOW + 10))
def test_dates_by_fractions(exp: float, nbf: float, tolerance: int, now: int) -> None:
    """The same answers as exact arithmetic gives."""
    judgement = _judge({"exp": exp, "nbf": nbf}, now=now, tolerance=tolerance)
    assert judgement.expired is (Fraction(now) >= Fraction(exp) + tolerance)
    assert judgement.not_yet_valid is (Fraction(now) < Fraction(nbf) - tolerance)


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
def test_dates_in_milliseconds(name: str) -> None:
    """As JavaScript counts. A date far away in seconds is no such mistake."""
    assert dates_in_milliseconds({name: NOW * 1000}) == [name]
    assert dates_in_milliseconds({name: float(NOW * 1000)}) == [name]
    for value in (NOW, 4_102_444_800, 10**30, "1767225600000", True, None):
        assert dates_in_milliseconds({name: value}) == []
