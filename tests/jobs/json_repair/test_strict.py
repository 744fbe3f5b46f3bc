"""Strict JSON is left as it is, as far as any reader can hold it."""

import json
import math

import pytest

from jobs.json_repair import MAX_DEPTH, NotRepairable, RepairKind, repair
from tests.each import each


@each(
    "text",
    [
        *("null", "true", " false ", "0", "-1", "1.0", "1e5", "1E+2", "100000000000000000000", "1" + "0" * 4299),
        *('""', '"just text"', '"{\\"a\\": 1}"', '"\\ud83d\\ude00 \\u0000 \\/"', '"\u2028\u00a0\ufeff"'),
        *("[]", "{}", '{"": ""}'),
        '\t{"a" : [1, 2.5, null, {"b": "c"}]}\r\n',
        '{"a": "// no comment, \'no quotes\', ```no fence```"}',
    ],
)
def test_identity(text: str) -> None:
    """Strict JSON has the value that json.loads gives it, of the same types, and is not modified."""
    repaired = repair(text)
    assert repr(repaired.value) == repr(json.loads(text))
    assert not repaired.was_modified
    assert repaired.repairs == ()


def test_duplicate_keys() -> None:
    """Of duplicate keys the last one stays, in strict JSON and in other text."""
    assert repair('{"a": 1, "a": 2}').value == {"a": 2}
    assert repair("{a: 1, a: 2}").value == {"a": 2}


def test_negative_zero_keeps_its_sign() -> None:
    """`-0` becomes the float, because an integer zero has no sign."""
    repaired = repair("-0")
    assert math.copysign(1, repaired.value) == -1
    assert not repaired.was_modified


@each("number", ["1e400", "-1E400", "9" * 4301, "1." + "1" * 5000, "9" * 100_000])
@each("text", ['{{"a": {}}}', "{{a: {}}}"])
def test_number_beyond_reach_becomes_its_own_text(number: str, text: str) -> None:
    """A number that would become Infinity, or that readers refuse, is kept as a string and counts as modified."""
    repaired = repair(text.format(number))
    assert repaired.value == {"a": number}
    assert repaired.was_modified
    assert RepairKind.NUMBER_OUT_OF_RANGE in [item.kind for item in repaired.repairs]


@each("text", ['["\\ud800"]', '["\ud800"]', "['\\udc00x']", "['\udc00']", '{"\\ud800": ["\\udfff"]}'])
def test_lone_surrogate_becomes_the_replacement_character(text: str) -> None:
    """Half a surrogate pair cannot be written as UTF-8: it becomes U+FFFD, wherever it is, and counts as modified."""
    repaired = repair(text)
    json.dumps(repaired.value, ensure_ascii=False).encode()
    assert "\ufffd" in json.dumps(repaired.value, ensure_ascii=False)
    assert repaired.was_modified
    assert RepairKind.LONE_SURROGATE in [item.kind for item in repaired.repairs]


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_python_reads_are_no_json(constant: str) -> None:
    """NaN and Infinity, which Python's reader lets through, are repaired to null."""
    repaired = repair(f"[{constant}]")
    assert repaired.value == [None]
    assert repaired.was_modified


def _nested(depth: int, opening: str, closing: str) -> str:
    return opening * depth + "0" + closing * depth


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ("[[", "]]")])
def test_deepest_that_is_read(opening: str, closing: str) -> None:
    """MAX_DEPTH levels are read, strict or not; one more is too complex, never a RecursionError."""
    levels = MAX_DEPTH // (len(opening) if opening == "[[" else 1)
    text = _nested(levels, opening, closing)
    assert not repair(text).was_modified
    assert repair(text + ",").value == json.loads(text)
    for deeper in (
        _nested(levels + 1, opening, closing),
        _nested(levels + 1, opening, ""),
        _nested(2000, opening, closing),
    ):
        with pytest.raises(NotRepairable) as caught:
            repair(deeper)
        assert caught.value.reason == "too_complex"


def test_wrapping_several_values_counts_as_a_level() -> None:
    """An array made around two values of MAX_DEPTH levels would be too deep for the next reader."""
    text = _nested(MAX_DEPTH, "[", "]")
    with pytest.raises(NotRepairable):
        repair(f"{text}\n{text}")
    shallower = _nested(MAX_DEPTH - 1, "[", "]")
    assert len(repair(f"{shallower}\n{shallower}").value) == 2
