"""Which values are the same in another type, and which only look like it."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.llm_tool_validate.lossless import Listed, converted, is_wrappable, type_of, widened
from jobs.llm_tool_validate.texts import NOTHING, container
from tests.each import each

SAME = [
    ("12", "integer", 12),
    ("12.0", "integer", 12),
    ("2e10", "integer", 20_000_000_000),
    (" 12\n", "integer", 12),
    ("-0", "integer", 0),
    ("12", "number", 12),
    ("1.5", "number", 1.5),
    ("\t1e5 ", "number", 100_000.0),
    ("true", "boolean", True),
    ("false", "boolean", False),
    (" true ", "boolean", True),
    ("null", "null", None),
    ("", "null", None),
    ("[]", "array", []),
    ("[1, 2]", "array", [1, 2]),
    (' [{"a": []}] ', "array", [{"a": []}]),
    ('"[1]"', "array", [1]),
    ("{}", "object", {}),
    ('{"a": 1}', "object", {"a": 1}),
    ('{"a": "\\ud83d\\ude00"}', "object", {"a": "\U0001f600"}),
    ('"{\\"a\\": \\"b\\"}"', "object", {"a": "b"}),
    ('{"": {"": 1}}', "object", {"": {"": 1}}),
    (12, "string", "12"),
    (-1.5, "string", "-1.5"),
    (1.0, "string", "1.0"),
    (1e300, "string", "1e300"),
    (10**30, "string", "1" + "0" * 30),
    (True, "string", "true"),
    (False, "string", "false"),
    (1, "boolean", True),
    (0, "boolean", False),
    (1.0, "boolean", True),
    (5.0, "integer", 5),
    (1e23, "integer", 10**23),
]

NOT_THE_SAME = [
    *(("1a", "integer"), ("1.5", "integer"), ("", "integer"), (" ", "integer"), ("+1", "integer"), ("01", "integer")),
    *(("0x10", "integer"), ("1_000", "integer"), ("1,000", "integer"), ("true", "integer"), ("null", "integer")),
    *(("\xa012", "integer"), ("\ufeff12", "integer"), ("\uff11", "integer"), ('"1"', "integer"), ("[1]", "integer")),
    *((1.5, "integer"), (1e300, "integer"), (True, "integer"), (False, "integer"), (None, "integer"), ([1], "integer")),
    *(
        ("", "number"),
        ("abc", "number"),
        ("NaN", "number"),
        ("Infinity", "number"),
        ("1e400", "number"),
        (True, "number"),
    ),
    *((None, "number"), ("3.14159265358979323846", "number"), ({}, "number"), ("1.", "number"), (".5", "number")),
    *(
        ("yes", "boolean"),
        ("no", "boolean"),
        ("on", "boolean"),
        ("TRUE", "boolean"),
        ("t", "boolean"),
    ),
    *(
        ("1", "boolean"),
        ("0", "boolean"),
        ("", "boolean"),
        (2, "boolean"),
        (-1, "boolean"),
        (0.5, "boolean"),
        (None, "boolean"),
    ),
    *(
        ("NULL", "null"),
        ("nil", "null"),
        ("undefined", "null"),
        (" ", "null"),
        (0, "null"),
        (False, "null"),
    ),
    *(([], "null"), ({}, "null"), ("[]", "null"), (None, "string"), ([], "string"), ({}, "string"), (["a"], "string")),
    *(("a", "array"), ("1,2", "array"), ("[1,2", "array"), ("[1,]", "array"), ("[1] [2]", "array")),
    *(
        ("[NaN]", "array"),
        ("[1e400]", "array"),
        ("{}", "array"),
        (1, "array"),
        (None, "array"),
        ({}, "array"),
        ("", "array"),
    ),
    *(('["\\ud800"]', "array"), ('"["', "array"), ('"x"', "array"), ("[01]", "array"), ("[" * 100_000, "array")),
    *(("{a: 1}", "object"), ('{"a": 1,}', "object"), ('{"a": 1', "object"), ("[]", "object")),
    *(
        ('{"a": 1, "a": 2}', "object"),
        ('[{"a": {"b": 1, "b": 1}}]', "array"),
        ('{"a": 1} // x', "object"),
        ([], "object"),
    ),
    *(("```json\n{\n```", "object"), ("null", "object"), (1, "object"), (None, "object"), ('{"a": 1}\x00', "object")),
]


def _converted(value: Any, *types: str, max_levels: int = 8) -> Any:
    return converted(value, widened(list(types)), max_levels=max_levels)


@each(("value", "to", "expected"), SAME)
def test_the_same_in_another_type(value: Any, to: str, expected: Any) -> None:
    """The value and its exact type."""
    found = _converted(value, to)
    assert found == expected
    assert type(found) is type(expected)


@each(("value", "to"), NOT_THE_SAME)
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
