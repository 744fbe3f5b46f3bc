"""What is known of JSON before and after it is decoded: its depth, and whether a number may overflow."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from shared.raw_json import is_deeper, levels, may_overflow
from tests.each import each

TEXTS = st.text(st.sampled_from('[]{}"\\,:a\né'), max_size=6)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=30,
)


def depth(value: Any) -> int:
    """By recursion, as the definition is."""
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_it_is_the_depth_of_the_value(value: Any, ascii_only: bool, indent: int | None) -> None:
    """Brackets, quotes and backslashes in texts and keys are none of the structure."""
    deep = depth(value)
    assert levels(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()) == deep
    assert not is_deeper(value, deep)
    assert deep == 0 or is_deeper(value, deep - 1)


@each("deep", [64, 100_000])
def test_the_depth_of_a_value_needs_no_stack(deep: int) -> None:
    """Also where Python's own recursion ends."""
    value: Any = 1
    for _ in range(deep):
        value = [value]
    assert not is_deeper(value, deep)
    assert is_deeper(value, deep - 1)


@given(VALUES, st.integers(min_value=0), st.binary(max_size=20))
def test_what_is_open_before_an_error_counts(value: Any, cut: int, rest: bytes) -> None:
    """As deep as a parser goes into it before it finds out."""
    text = json.dumps(value, ensure_ascii=False).encode()
    begun = text[: cut % (len(text) + 1)]
    open_now = deepest = 0
    is_text = is_escaped = False
    for character in begun.decode(errors="ignore"):
        if is_text:
            is_text, is_escaped = character != '"' or is_escaped, character == "\\" and not is_escaped
        elif character in "[{":
            open_now += 1
            deepest = max(deepest, open_now)
        elif character in "]}":
            open_now -= 1
        else:
            is_text = character == '"'
    if not is_escaped:
        assert levels(begun + rest) >= deepest


@each("opening", ["[", '{"[":', '{"\\"":[', '[1,"]",'])
@each("many", [1, 7, 8, 9, 1000])
def test_deep(opening: str, many: int) -> None:
    """Deeper than a parser could go."""
    closing = opening.replace('"]"', "")
    closing = "".join({"[": "]", "{": "}"}.get(bracket, "") for bracket in reversed(closing.replace('"["', "")))
    text = opening * many + "0" + closing * many
    assert levels(text.encode()) == many * len(closing)


@each("wide", [1, 5, 1000])
@each("many", [30, 31, 32, 33, 127])
def test_wide_and_deep(wide: int, many: int) -> None:
    """Counted run by run where the runs are long, and otherwise bracket by bracket."""
    branch = b"[" * many + b"]" * many
    assert levels(b"[" + b",".join([branch] * wide) + b"]") == many + 1
    assert levels(b"[" + b",".join([branch] * wide + [b"{}"] * (wide * many)) + b"]") == many + 1


@each("text", [b"", b"0", b'"', b'"[', b"]", b'\\"[]"', b"\xff"])
def test_no_json(text: bytes) -> None:
    """Some number, and no error."""
    assert levels(text) >= 0


@each(
    ("text", "may"),
    [
        (b"1e308", True),
        (b"[-0.1E+999]", True),
        (b"1e0000000000000001", True),
        (b"1" * 4301, True),
        (b"1" * 250 + b"e90", True),
        (b"1" * 199, False),
        (b"12345678901234567890123", False),
        (b"[1e99, 2E-99, 0.1e+50]", False),
        (b'["release2024", "2e+12"]', False),
    ],
)
def test_numbers_that_may_overflow(text: bytes, may: bool) -> None:
    """Wherever decoding would refuse one, and hardly anywhere else."""
    assert may_overflow(text) is may


@given(st.lists(st.tuples(st.integers(), st.integers(0, 400), st.integers(-400, 400)), max_size=4))
def test_what_overflows_is_never_missed(parts: list[tuple[int, int, int]]) -> None:
    """Whatever is reported as harmless can be decoded."""
    numbers = (f"{whole}{'0' * zeros}.5e{exponent}" for whole, zeros, exponent in parts)
    text = f"[{','.join(numbers)}]".encode()
    if not may_overflow(text):
        msgspec.json.decode(text)
