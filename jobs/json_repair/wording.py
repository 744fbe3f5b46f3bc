"""Adds to repairs the text before and after, where both are a few characters.

The text after is what JSON has in that place, not what the whole answer has: `'` becomes `"`, `True` becomes `true`.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from jobs.json_repair.result import Repair, RepairKind
from jobs.json_repair.source import FENCE

_MOST = 60
"""Characters of a text that is shown."""

_MISSING: Mapping[str, str] = {
    RepairKind.MISSING_COLON: ":",
    RepairKind.MISSING_COMMA: ",",
    RepairKind.MISSING_KEY: '""',
    RepairKind.MISSING_QUOTE: '"',
    RepairKind.MISSING_VALUE: "null",
}
"""What was added."""
_OF_CHARACTER: Mapping[str, str] = {
    RepairKind.LEADING_COMMA: "",
    RepairKind.TRAILING_COMMA: "",
    RepairKind.REDUNDANT_COMMA: "",
    RepairKind.REDUNDANT_COLON: "",
    RepairKind.PARENTHESES: "",
    RepairKind.SINGLE_QUOTES: '"',
    RepairKind.SPECIAL_QUOTES: '"',
    RepairKind.SPECIAL_WHITESPACE: " ",
}
"""What one character became."""
_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("True", "TRUE", "!0"), "true"),
    **dict.fromkeys(("False", "FALSE", "!1"), "false"),
    **dict.fromkeys(("None", "NONE", "NULL", "Null", "nil", "undefined", "NaN", "Infinity", "-Infinity"), "null"),
}
_JSON = json.JSONEncoder(ensure_ascii=False)
_SEPARATORS: Mapping[str, str] = {";": ",", "\uff0c": ",", "\u3001": ",", "\uff1b": ",", "\uff1a": ":"}

Change = tuple[str, str] | None
"""The text before and after. None when they are not known here."""

_WORD = re.compile(rf"[\w$.@+!-]{{1,{_MOST}}}(?=\s*[:=,}}\]]|\s*$)")
_ARROW = re.compile(r"[:=]{1,8}>?|->")
_COMMENT = re.compile(rf"/\*.{{0,{_MOST}}}?\*/|(?://|#)[^\n]{{0,{_MOST}}}(?=\n|$)", re.DOTALL)
_LABEL = re.compile(r"[\w+#.-]{0,20}(?=\s|$)")
_ELLIPSIS = re.compile(r"\.{3,8}|\u2026")
_ENTITY = re.compile(r"&#?\w{1,20};")
_CALL = re.compile(rf"[\w.$ ]{{1,{_MOST}}}\(")


def worded(text: str, repairs: Iterable[Repair]) -> list[Repair]:
    """The repairs of a text, with `before` and `after`."""
    return [_worded(text, repair) for repair in repairs]


def _worded(text: str, repair: Repair) -> Repair:
    if repair.after is not None and repair.before is not None:
        is_short = len(repair.before) <= _MOST and text.startswith(repair.before, repair.offset)
        return repair if is_short else Repair(repair.kind, repair.offset)
    found = _change(text, repair.kind, repair.offset)
    return Repair(repair.kind, repair.offset, *found) if found else repair


def _change(text: str, kind: str, at: int) -> Change:
    if kind in _OF_CHARACTER:
        return text[at : at + 1], _OF_CHARACTER[kind]
    if kind in _MISSING:
        return "", _MISSING[kind]
    read = _OF_TEXT.get(kind)
    return read(text, at) if read else None


def _truncated(text: str, at: int) -> Change:
    return ("", "null") if at >= len(text.rstrip()) else None


def _bracket(text: str, at: int) -> Change:
    c = text[at : at + 1]
    return (c, "") if c in "{}[]()" else None


def _quote(text: str, at: int) -> Change:
    c = text[at : at + 1]
    return None if text[at - 1 : at] == c else (c, _JSON.encode(c)[1:-1])


def _control(text: str, at: int) -> Change:
    c = text[at : at + 1]
    return c, json.dumps(c)[1:-1]


def _escaped(text: str, at: int) -> Change:
    return ('\\"', '"') if text.startswith('\\"', at) else None


def _plus(text: str, at: int) -> Change:
    return ("+", "") if text.startswith("+", at) else None


def _key(text: str, at: int) -> Change:
    word = _WORD.match(text, at)
    return (word[0], _JSON.encode(word[0])) if word else None


def _entity(text: str, at: int) -> Change:
    entity = _ENTITY.match(text, at)
    return (entity[0], html.unescape(entity[0])) if entity else None


def _literal(text: str, at: int) -> Change:
    word = _WORD.match(text, at)
    return (word[0], _WORDS[word[0]]) if word and word[0] in _WORDS else None


def _separator(text: str, at: int) -> Change:
    arrow = _ARROW.match(text, at)
    if arrow:
        return arrow[0], ":"
    c = text[at : at + 1]
    return (c, _SEPARATORS[c]) if c in _SEPARATORS else None


def _fence(text: str, at: int) -> Change:
    fence = FENCE.match(text, at)
    label = _LABEL.match(text, fence.end()) if fence else None
    return (text[at : label.end()], "") if label and label.end() - at <= _MOST else None


def _removed(pattern: re.Pattern[str], text: str, at: int) -> Change:
    match = pattern.match(text, at)
    return (match[0], "") if match else None


_OF_TEXT: Mapping[str, Callable[[str, int], Change]] = {
    RepairKind.TRUNCATED: _truncated,
    RepairKind.REDUNDANT_BRACKET: _bracket,
    RepairKind.UNESCAPED_QUOTE: _quote,
    RepairKind.CONTROL_CHARACTER: _control,
    RepairKind.ESCAPED: _escaped,
    RepairKind.CONCATENATED: _plus,
    RepairKind.UNQUOTED_KEY: _key,
    RepairKind.HTML_ENTITY: _entity,
    RepairKind.PYTHON_LITERAL: _literal,
    RepairKind.JAVASCRIPT_LITERAL: _literal,
    RepairKind.WRONG_SEPARATOR: _separator,
    RepairKind.CODE_FENCE: _fence,
    RepairKind.COMMENT: partial(_removed, _COMMENT),
    RepairKind.ELLIPSIS: partial(_removed, _ELLIPSIS),
    RepairKind.FUNCTION_CALL: partial(_removed, _CALL),
}
