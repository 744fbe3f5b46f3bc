"""Which values are the same in another type, and which only look like it."""

from typing import Any

import pytest

from jobs.llm_tool_validate.lossless import Listed, converted, is_wrappable, type_of, widened
from jobs.llm_tool_validate.texts import NOTHING, container
from tests.each import each

SAME = [
    ("12", "integer", 12),
    (" 12\n", "integer", 12),
    ("1.5", "number", 1.5),
    ("\t1e5 ", "number", 100_000.0),
    ("true", "boolean", True),
    ("false", "boolean", False),
    (" true ", "boolean", True),
    ("null", "null", None),
    ("", "null", None),
    ("[1, 2]", "array", [1, 2]),
    (' [{"a": []}] ', "array", [{"a": []}]),
    ('"[1]"', "array", [1]),
    ('{"a": 1}', "object", {"a": 1}),
    ('{"a": "\\ud83d\\ude00"}', "object", {"a": "\U0001f600"}),
    ('"{\\"a\\": \\"b\\"}"', "object", {"a": "b"}),
    ('{"": {"": 1}}', "object", {"": {"": 1}}),
    (12, "string", "12"),
    (-1.5, "string", "-1.5"),
    (1.0, "string", "1.0"),
    (True, "string", "true"),
    (1, "boolean", True),
    (0, "boolean", False),
    (1.0, "boolean", True),
    (5.0, "integer", 5),
    (1e23, "integer", 10**23),
]

NOT_THE_SAME = {
    "integer": [
        "1a",
        "1.5",
        "",
        " ",
        "true",
        "null",
        "\xa012",
        "\ufeff12",
        '"1"',
        "[1]",
        1.5,
        1e300,
        True,
        False,
        None,
        [1],
    ],
    "number": ["", "abc", "NaN", "1e400", True, None, {}, "3.14159265358979323846"],
    "boolean": ["yes", "no", "on", "TRUE", "t", "1", "0", "", 2, -1, 0.5, None],
    "null": ["NULL", "nil", "undefined", " ", 0, False, [], {}, "[]"],
    "string": [None, [], {}, ["a"]],
    "array": [
        *(
            "a",
            "1,2",
            "[1,2",
            "[1,]",
            "[1] [2]",
            "[NaN]",
            "[1e400]",
            "{}",
            1,
            None,
            {},
            "",
            '["\\ud800"]',
            '"["',
            '"x"',
        ),
        *("[01]", "[" * 100_000, '[{"a": {"b": 1, "b": 1}}]'),
    ],
    "object": [
        *(
            "{a: 1}",
            '{"a": 1,}',
            '{"a": 1',
            "[]",
            '{"a": 1, "a": 2}',
            '{"a": 1} // x',
            [],
            "```json\n{\n```",
            "null",
            1,
        ),
        *(None, '{"a": 1}\x00'),
    ],
}


def _converted(value: Any, *types: str, max_levels: int = 8) -> Any:
    return converted(value, widened(list(types)), max_levels=max_levels)


@each(("value", "to", "expected"), SAME)
def test_the_same_in_another_type(value: Any, to: str, expected: Any) -> None:
    """The value and its exact type."""
    found = _converted(value, to)
    assert found == expected
    assert type(found) is type(expected)


@each(("value", "to"), [(value, to) for to, values in NOT_THE_SAME.items() for value in values])
def test_not_the_same(value: Any, to: str) -> None:
    """Whatever would take a guess, or lose something."""
    assert _converted(value, to) is NOTHING


@each(
    ("value", "types", "expected"),
    [
        ("1", ("boolean", "integer"), 1),
        ("1", ("integer", "null"), 1),
        ("1.5", ("integer", "number"), 1.5),
        ("", ("integer", "null"), None),
        ("null", ("boolean", "null"), None),
        ("true", ("boolean", "integer", "null"), True),
        ("[1]", ("array", "object"), [1]),
        ("{}", ("array", "object"), {}),
        ("7", ("array", "integer"), 7),
        (1, ("boolean", "string"), "1"),
        (2, ("boolean", "string"), "2"),
        (True, ("null", "string"), "true"),
    ],
)
def test_one_of_several_types(value: Any, types: tuple[str, ...], expected: Any) -> None:
    """A text has one type that it is the text of. A number is rather text than a boolean."""
    assert _converted(value, *types) == expected


@pytest.mark.parametrize(("levels", "found"), [(1, [[]]), (2, [[[]]])])
def test_levels_of_a_text(levels: int, found: Any) -> None:
    """As many as are allowed, and not one more."""
    text = "[" * (levels + 1) + "]" * (levels + 1)
    assert _converted(text, "array", max_levels=levels + 1) == found
    assert _converted(text, "array", max_levels=levels) is NOTHING


def test_a_text_within_a_text_within_a_text() -> None:
    """Peeled as often as it takes: each time it gets shorter."""
    assert container(r'"\"\\\"[1]\\\"\""', max_levels=1) == [1]
    assert container('"' * 3, max_levels=1) is NOTHING


@each(
    ("options", "value", "expected"),
    [
        ([1, 2, 3], "2", 2),
        (["1", "2"], 2, "2"),
        ([True, "maybe"], "true", True),
        ([1.0], "1", 1.0),
        ([1, 1.5], "1", 1),
        ([None, 5], "", None),
        ([None], "null", None),
        ([10**30], "1" + "0" * 30, 10**30),
        ([1, "x", True], "1", 1),
    ],
)
def test_listed_values(options: list[Any], value: Any, expected: Any) -> None:
    """The one that the value is in another type."""
    found = Listed(options).same(value)
    assert found == expected
    assert type(found) is type(expected)


@each(
    ("options", "value"),
    [
        ([1, 2], "3"),
        ([None, "a"], ""),
        ([None, "a"], "null"),
        (["celsius"], "Celsius"),
        ([0, False], None),
        (["1", True], 1),
        ([True], "1"),
        ([[1]], "[1]"),
        ([{"a": 1}], '{"a": 1}'),
        ([], "1"),
    ],
)
def test_no_listed_value(options: list[Any], value: Any) -> None:
    """None, or more than one; null is not meant where texts are listed, and only scalars are compared."""
    assert Listed(options).same(value) is NOTHING


@each("value", ["", "a", "1,2", 0, 1.5, True, False])
def test_wrappable(value: Any) -> None:
    """Scalars."""
    assert is_wrappable(value)


@each("value", [None, [], {}, "[1,2", " {'a': 1}", "{}", "["])
def test_not_wrappable(value: Any) -> None:
    """Null is no array; an object may have been meant to be the array; a broken array would hide in another."""
    assert not is_wrappable(value)


def test_type_names() -> None:
    """true is not a number, and a number with a fraction of zeros is not written as an integer."""
    values = (None, True, 1, 1.0, "", [], {})
    assert [type_of(value) for value in values] == [
        *("null", "boolean", "integer", "number", "string", "array", "object"),
    ]
