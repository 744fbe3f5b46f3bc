"""Numbers that are integers, however they are written."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from shared import whole_numbers


class Inner(msgspec.Struct, rename="camel"):
    most_lines: int = 0
    rows: list[int] = []


class Body(msgspec.Struct):
    count: int
    seed: int | None = None
    inner: Inner | None = None
    data: msgspec.Raw = msgspec.Raw(b"null")
    value: Any = None


DECODER = msgspec.json.Decoder(Body)


@given(some.integers(-(2**63), 2**63 - 1), some.sampled_from(["{}", "{}.0", "{}.000", "{}e0", "{}0e-1", "{}.0E+0"]))
def test_each_spelling_is_the_number(number: int, spelling: str) -> None:
    """All digits of it."""
    text = spelling.format(number)
    body = f'{{"count": {text}, "seed": {text}, "inner": {{"mostLines": {text}, "rows": [1, {text}]}}}}'
    assert whole_numbers.decoded(DECODER, body.encode()) == Body(number, number, Inner(number, [1, number]))


def test_other_numbers_stay_as_they_are() -> None:
    """Of a field for any JSON, not a character changes."""
    body = b'{"count": 2.0, "data": {"a": 2.0, "b": 1e400, "c": 12345678901234567890123}, "value": 2.0}'
    found = whole_numbers.decoded(DECODER, body)
    assert (found.count, bytes(found.data)) == (2, b'{"a": 2.0, "b": 1e400, "c": 12345678901234567890123}')
    assert isinstance(found.value, float)


@pytest.mark.parametrize("count", ["2.5", "1e-3", "1e30", "1e999999999", '"2.0"', "true", "null", "[2.0]"])
def test_what_is_no_integer_is_refused(count: str) -> None:
    """As msgspec does it, at once."""
    with pytest.raises(msgspec.ValidationError, match=r"Expected `int|out of range"):
        whole_numbers.decoded(DECODER, f'{{"count": {count}}}'.encode())


def test_work_is_bounded() -> None:
    """Each such number costs one more decoding."""
    body = b'{"count": 1, "inner": {"rows": [' + b", ".join([b"2.0"] * (whole_numbers.MOST + 1)) + b"]}}"
    with pytest.raises(msgspec.ValidationError):
        whole_numbers.decoded(DECODER, body)
