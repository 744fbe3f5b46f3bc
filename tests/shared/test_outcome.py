"""An outcome is the same before and after it travelled."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.layouts import ANSWERS
from shared.outcome import (
    DeadlineExceeded,
    Failed,
    InvalidInput,
    JobFailure,
    Ok,
    UpstreamFailed,
    decode,
    encode,
    failed,
)
from tests.each import each

TEXT = st.text(max_size=100)
OUTCOMES = st.builds(Ok, st.binary(max_size=1_000)) | st.builds(
    Failed, code=TEXT, detail=TEXT, reason=st.none() | TEXT, retryable=st.booleans()
)


@given(OUTCOMES)
def test_round_trip(outcome: Ok | Failed) -> None:
    """Answers byte for byte, failures field for field."""
    found = decode(encode(outcome))

    assert found == outcome
    assert type(found) is type(outcome)


def test_the_stored_form() -> None:
    """What is in the ledger stays readable by the next version: a tagged MessagePack array."""
    assert msgspec.msgpack.decode(encode(Ok(b"{}"))) == ["ok", b"{}", ANSWERS.unnumbered]
    assert msgspec.msgpack.decode(encode(Failed("a", "b", "c", True))) == [
        "failed",
        "a",
        "b",
        "c",
        True,
        ANSWERS.unnumbered,
    ]


def test_optional_fields_may_be_missing() -> None:
    """A failure that an older version stored without them is final and has no reason; 0.1.0 stored no number."""
    assert decode(msgspec.msgpack.encode(["ok", b"{}"])) == Ok(b"{}")
    assert decode(msgspec.msgpack.encode(["failed", "a", "b"])) == Failed("a", "b", None, False)


@each(
    "raw",
    [
        b"",
        b"\xc1",
        b"ok",
        msgspec.msgpack.encode(["maybe", b""]),
        msgspec.msgpack.encode(["ok"]),
        encode(Ok(b"{}"))[:-1],
    ],
)
def test_what_is_not_an_outcome_is_refused(raw: bytes) -> None:
    """Never guessed at: an answer that cannot be read is no answer."""
    with pytest.raises(msgspec.DecodeError):
        decode(raw)


@each(
    ("failure", "code", "retryable"),
    [
        (JobFailure("x"), "internal_error", False),
        (InvalidInput("x"), "invalid_body", False),
        (UpstreamFailed("x"), "upstream_failed", True),
        (UpstreamFailed("x", is_final=True), "upstream_failed", False),
        (UpstreamFailed("x", is_final=True).passing(), "upstream_failed", True),
        (DeadlineExceeded("x"), "deadline_exceeded", True),
    ],
)
def test_a_failures_outcome(failure: JobFailure, code: str, retryable: bool) -> None:
    """Its class says the code, and whether the same payment may run the job again."""
    assert failed(failure) == Failed(code, "x", None, retryable)
    assert str(failure) == "x"


def test_a_failures_reason_goes_along() -> None:
    """The endpoint documents it."""
    assert failed(UpstreamFailed("It failed.", reason="rate_limited")).reason == "rate_limited"
