"""What the list of repairs says."""

from __future__ import annotations

from jobs.json_repair import Repair, RepairKind, repair
from tests.each import each

REPAIRS = [
    ('{"a":1,}', [(RepairKind.TRAILING_COMMA, 6)]),
    ("[1,2],", [(RepairKind.TRAILING_COMMA, 5)]),
    ("[,1]", [(RepairKind.LEADING_COMMA, 1)]),
    ("[1,,2]", [(RepairKind.REDUNDANT_COMMA, 3)]),
    ("[1 2]", [(RepairKind.MISSING_COMMA, 3)]),
    ("['a']", [(RepairKind.SINGLE_QUOTES, 1)]),
    ("[`a`]", [(RepairKind.SPECIAL_QUOTES, 1)]),
    ('{a:"b"}', [(RepairKind.UNQUOTED_KEY, 1)]),
    ('{"a":b}', [(RepairKind.UNQUOTED_STRING, 5)]),
    ('{"a":"b}', [(RepairKind.MISSING_QUOTE, 7)]),
    ('{"a":"b"c"}', [(RepairKind.UNESCAPED_QUOTE, 7)]),
    ('["a\\q"]', [(RepairKind.INVALID_ESCAPE, 3)]),
    ('["a\tb"]', [(RepairKind.CONTROL_CHARACTER, 3)]),
    ('{\\"a\\":1}', [(RepairKind.ESCAPED, 1)]),
    ("[1", [(RepairKind.MISSING_BRACKET, 2)]),
    ("[1]]", [(RepairKind.REDUNDANT_BRACKET, 3)]),
    ("[1}", [(RepairKind.MISMATCHED_BRACKET, 2)]),
    ('{"a" 1}', [(RepairKind.MISSING_COLON, 4)]),
    ('{"a"::1}', [(RepairKind.WRONG_SEPARATOR, 4)]),
    ('{"a":}', [(RepairKind.MISSING_VALUE, 5)]),
    ("{:1}", [(RepairKind.MISSING_KEY, 1)]),
    ('{"a":', [(RepairKind.TRUNCATED, 5), (RepairKind.MISSING_BRACKET, 5)]),
    ("[2.]", [(RepairKind.TRUNCATED, 1)]),
    ("[+1]", [(RepairKind.NUMBER_FORMAT, 1)]),
    ("[007]", [(RepairKind.NUMBER_AS_STRING, 1)]),
    ("[True]", [(RepairKind.PYTHON_LITERAL, 1)]),
    ("[NaN]", [(RepairKind.JAVASCRIPT_LITERAL, 1)]),
    ("f([1])", [(RepairKind.FUNCTION_CALL, 0)]),
    ("[(1)]", [(RepairKind.PARENTHESES, 1)]),
    ('["a"+"b"]', [(RepairKind.CONCATENATED, 4)]),
    ("[1,...]", [(RepairKind.ELLIPSIS, 3), (RepairKind.TRAILING_COMMA, 2)]),
    ("[1/* */]", [(RepairKind.COMMENT, 2)]),
    ("[\u00a01]", [(RepairKind.SPECIAL_WHITESPACE, 1)]),
    ("```\n[1]\n```", [(RepairKind.CODE_FENCE, 0), (RepairKind.CODE_FENCE, 8)]),
    ("x: [1, 2]", [(RepairKind.STRAY_TEXT, 0)]),
    ("[1]\n[2]", [(RepairKind.MULTIPLE_VALUES, 0)]),
]


@each(("text", "repairs"), REPAIRS)
def test_what_was_done_where(text: str, repairs: list[tuple[RepairKind, int]]) -> None:
    """A repair is named after what was wrong, with its offset in the text that was sent."""
    assert repair(text).repairs == tuple(Repair(kind, at) for kind, at in repairs)


def test_every_kind_has_an_example() -> None:
    """No kind of repair is only declared."""
    shown = {kind for _, repairs in REPAIRS for kind, _ in repairs}
    shown |= {RepairKind.LONE_SURROGATE, RepairKind.NUMBER_OUT_OF_RANGE}  # test_strict.py
    shown |= {item.kind for item in repair('{"a":"b":"c"}').repairs}
    assert shown == set(RepairKind)


def test_offsets_are_those_of_the_text_that_was_sent() -> None:
    """Unwrapping an escaped document does not shift what is reported after it."""
    text = '{\\"key\\": True}'
    assert repair(text).repairs == (
        Repair(RepairKind.ESCAPED, 1),
        Repair(RepairKind.PYTHON_LITERAL, text.index("True")),
    )


def test_the_list_of_repairs_is_bounded() -> None:
    """A text with more than 100 things wrong is repaired to its end, and 100 of them are listed."""
    repaired = repair("[" + "True," * 1000 + "]")
    assert repaired.value == [True] * 1000
    assert len(repaired.repairs) == 100
