"""Input that is meant to take forever. The work is counted, not timed."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jobs.json_repair import NotRepairable, repair
from jobs.json_repair.document import Document
from jobs.json_repair.source import Source
from jobs.json_repair.unwrap import unwrap
from tests.each import each

SIZE = 20_000
STEPS_PER_CHARACTER = 6
"""Each string, word, judged quote, container step and bracket in prose is a step; '[1 2 ...' takes the most."""

UNITS = [
    *("[", "{", "t{]", '["a', '"a', "[a]{1", '["{"', "\\", '"', "'", "`", "/*", "//", "//\n", "```", "(", "a("),
    *("ObjectId(", "a:", ",", ":", '+"', '"+"', "\u2028", "\x00", "\ud800", "1e400,", "9", "}", "]", "}]", "[}", "{]"),
    *('"a[//x\n', '/*"/**/', '"//', '"/*', 'x"a[', '"a","', '{"a":"b, ', '{"a":"b\n', "'\"", "\u201c", '{"a', '{"a:'),
    *(
        "{a,",
        "{a b,",
        "{a: x, ",
        '{a: x" ',
        '[{"a":',
        '{"a":1},"b":2',
        '{"a":1}}',
        "#",
        "...",
        "-",
        ".",
        "1,",
        "1,000,",
    ),
    *(
        'a"b',
        '"a" b,',
        '"" ',
        '"""',
        "'''",
        '\\"',
        '{\\"',
        "\\u",
        '"\\d',
        "```json\n{",
        "~~~",
        ";",
        "=",
        "f(x) ",
        "f(a=",
    ),
    *('b"', "/", "/a,", '{"a":"{"b"', '"},"', '"a},{"b":', '{"a": "b"+', "true ", "[x](y) ", "{x} ", "[1] ", "[a] "),
    *('{"a" 1', "{1,", '{"a":...', "\t", "\n", '{"a":1 b c ', '{"a": "b", c d "e" f', "'s ", "*/", '"a" is {"b":1} '),
    *(
        '{"a":"x" "y" ',
        '"a":"b" ',
        "\uff0c",
        '"a"\uff1a',
        '"\\"\uff0c',
        '"b"} c',
        '"b"}]}]',
        '"A:\\bc\\',
        "<think>",
        '`"{"',
        '["["',
        '["a",["b",',
        'see ["x", "y"] z ',
        '"["a"] w ',
        'f("a", ',
        '"x "y"; ',
        '{"a": "b "c");\n',
        '{"a": {{a}}',
        "(a) => ",
        '[{"a":1],{',
        "> [\n",
        'x "//',
        '[{"a":[1]]},',
        '{"a":[{"b":1}},{',
    ),
]


def _steps(text: str) -> int:
    """The steps that repairing a text takes. Its value, if any, encodes."""
    source = Source(text.replace("\ud800", "\ufffd"))
    inner = unwrap(source)
    with suppress(NotRepairable):
        msgspec.json.encode(Document(inner).read())
    return inner.turns


def _text(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_is_answered(unit: str) -> None:
    """A long text of one pattern gives a value that encodes, or NotRepairable, in a bounded number of steps."""
    assert _steps(_text(unit, SIZE)) <= STEPS_PER_CHARACTER * SIZE


@each("unit", ["'x' ", '"x" ', ' "', '"   ', "'x' \"y\" ", '"} x', "\"{'"])
def test_hostile_text_within_an_object_is_answered(unit: str) -> None:
    """The same of the value of a key: rows of strings, which might be joined, are looked at once."""
    assert _steps('{"a": ' + _text(unit, SIZE)) <= STEPS_PER_CHARACTER * SIZE


@each("unit", ["t{]", '["a', "[a]{1", '["{"', "\\", '"', "`", "a(", '"a" b,', "9", "1e400,", "\ud800"])
def test_the_longest_text_that_is_accepted_is_answered(unit: str) -> None:
    """100 000 characters of what other repairers choke on come back with a value or NotRepairable."""
    with suppress(NotRepairable):
        msgspec.json.encode(repair(_text(unit, 100_000)).value)


PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        ";",
        '"',
        "'",
        "`",
        "\\",
        "/",
        "//",
        "/*",
        "*/",
        "#",
        "...",
        "=",
        "+",
        "1",
        "a",
        '"a"',
        '{"a":',
        "f(",
        "```",
        "\n",
    ]
)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, min_size=1, max_size=6).map("".join), st.lists(PIECES, max_size=3).map("".join))
@example('"a[//x\n', "]")
@example('"a"b,', "]")
@example('x"a{', "}")
def test_work_grows_with_the_text_and_no_faster(unit: str, end: str) -> None:
    """Four times the text takes about four times the steps, whatever pattern it repeats."""
    short, long = _steps(_text(unit, 2_000) + end), _steps(_text(unit, 8_000) + end)
    assert long <= 4 * short + 200


@each("opening", ["[", '{"a":', "(", "f(", "[{a:(", "ObjectId("])
def test_deep_nesting_is_too_complex(opening: str) -> None:
    """Depth that no reader would take is refused by name, whatever brackets it is made of."""
    with pytest.raises(NotRepairable) as caught:
        repair(_text(opening, 100_000))
    assert caught.value.reason == "too_complex"
