"""What the list of repairs says."""

from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.json_repair import NotRepairable, Repair, RepairKind, repair, worded
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
    ("[&quot;a&quot;]", [(RepairKind.HTML_ENTITY, 1)]),
]


@each(("text", "repairs"), REPAIRS)
def test_what_was_done_where(text: str, repairs: list[tuple[RepairKind, int]]) -> None:
    """A repair is named after what was wrong, with its offset in the text that was sent."""
    assert [(one.kind, one.offset) for one in repair(text).repairs] == repairs


@each(
    ("text", "changes"),
    [
        ('{"a":1,}', [(",", "")]),
        ("[1 2", [("", ","), ("", "]")]),
        ("{'a': True}", [("'", '"'), ("True", "true")]),
        ("{a: b}", [("a", '"a"'), ("b", '"b"')]),
        ('{"a": [{"b": 1', [("", "}"), ("", "]"), ("", "}")]),
        ('"a": 1}', [("", "{")]),
        ('{"a" 1}', [("", ":")]),
        ('{"a" => 1; "b": 2}', [("=>", ":"), (";", ",")]),
        ('["a\tb"]', [("\t", "\\t")]),
        ("```json\n[1]\n```", [("```json", ""), ("```", "")]),
        ("[1, /* one */ 2]", [("/* one */", "")]),
        ("[007]", [("007", '"007"')]),
        ("[NaN]", [("NaN", "null")]),
        ('{"a":', [("", "null"), ("", "}")]),
        ('["a"b"]', [('"', '\\"')]),
        ("x: [1, 2]", [(None, None)]),
        ("f([1])", [("f(", "")]),
        ('{"a": 1,234.50}', [("1,234.50", '"1,234.50"')]),
        ('{"a": 12:30}', [("12:30", '"12:30"')]),
        ('{"a": http://b.example/c?d=e}', [("http://b.example/c?d=e", '"http://b.example/c?d=e"')]),
        ('{"a": two words, "b": 2}', [("two words", '"two words"')]),
        ('{"a": "C:\\Users\\new"}', [("\\", "\\\\"), ("\\", "\\\\")]),
        ('["\\d"]', [("\\", "\\\\")]),
    ],
)
def test_what_was_there_and_what_it_became(text: str, changes: list[tuple[str | None, str | None]]) -> None:
    """A few characters each. What is longer or unclear is null."""
    assert [(one.before, one.after) for one in worded(text, repair(text).repairs)] == changes


@settings(deadline=None)
@given(st.text("[]{}\"',:;\\/*#aTNnul01.-=> \n`&quot()+\t", max_size=40))
def test_what_was_there_is_in_the_text(text: str) -> None:
    """Whatever the text, `before` is at the offset, and both are null together or not at all."""
    try:
        repairs = worded(text, repair(text).repairs)
    except NotRepairable:
        return
    for one in repairs:
        assert (one.before is None) is (one.after is None)
        assert one.before is None or text.startswith(one.before, one.offset)


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
