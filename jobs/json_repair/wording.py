"""Adds to repairs the text before and after, where both are a few characters.

The text after is what JSON has in that place, not what the whole answer has: `'` becomes `"`, `True` becomes `true`.
"""

import html
import json
import re
from collections.abc import Iterable, Mapping

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
_REMOVED = frozenset(
    {
        *(RepairKind.LEADING_COMMA, RepairKind.TRAILING_COMMA, RepairKind.REDUNDANT_COMMA, RepairKind.REDUNDANT_COLON),
        RepairKind.PARENTHESES,
    }
)
_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("True", "TRUE", "!0"), "true"),
    **dict.fromkeys(("False", "FALSE", "!1"), "false"),
    **dict.fromkeys(("None", "NONE", "NULL", "Null", "nil", "undefined", "NaN", "Infinity", "-Infinity"), "null"),
}
_SEPARATORS: Mapping[str, str] = {";": ",", "\uff0c": ",", "\u3001": ",", "\uff1b": ",", "\uff1a": ":"}

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


def _change(text: str, kind: str, at: int) -> tuple[str, str] | None:
    """What was at an offset and what it became. None when that is not known here."""
    c = text[at : at + 1]
    if kind in _MISSING:
        return "", _MISSING[kind]
    if kind == RepairKind.TRUNCATED:
        return ("", "null") if at >= len(text.rstrip()) else None
    if kind in _REMOVED or (kind == RepairKind.REDUNDANT_BRACKET and c in "{}[]()"):
        return c, ""
    if kind in (RepairKind.SINGLE_QUOTES, RepairKind.SPECIAL_QUOTES):
        return c, '"'
    if kind == RepairKind.UNESCAPED_QUOTE:
        return None if text[at - 1 : at] == c else (c, json.dumps(c, ensure_ascii=False)[1:-1])
    if kind == RepairKind.CONTROL_CHARACTER:
        return c, json.dumps(c)[1:-1]
    if kind == RepairKind.SPECIAL_WHITESPACE:
        return c, " "
    if kind == RepairKind.ESCAPED:
        return ('\\"', '"') if text.startswith('\\"', at) else None
    if kind == RepairKind.CONCATENATED:
        return (c, "") if c == "+" else None
    return _of_words(text, kind, at)


def _of_words(text: str, kind: str, at: int) -> tuple[str, str] | None:
    """As `_change`, for kinds that are about more than a character."""
    if kind == RepairKind.UNQUOTED_KEY:
        word = _WORD.match(text, at)
        return (word[0], json.dumps(word[0], ensure_ascii=False)) if word else None
    if kind == RepairKind.HTML_ENTITY:
        entity = _ENTITY.match(text, at)
        return (entity[0], html.unescape(entity[0])) if entity else None
    if kind in (RepairKind.PYTHON_LITERAL, RepairKind.JAVASCRIPT_LITERAL):
        word = _WORD.match(text, at)
        return (word[0], _WORDS[word[0]]) if word and word[0] in _WORDS else None
    if kind == RepairKind.WRONG_SEPARATOR:
        arrow = _ARROW.match(text, at)
        return (
            (arrow[0], ":")
            if arrow
            else (text[at], _SEPARATORS[text[at]])
            if text[at : at + 1] in _SEPARATORS
            else None
        )
    if kind == RepairKind.CODE_FENCE:
        fence = FENCE.match(text, at)
        label = _LABEL.match(text, fence.end()) if fence else None
        return (text[at : label.end()], "") if label and label.end() - at <= _MOST else None
    removed = {RepairKind.COMMENT: _COMMENT, RepairKind.ELLIPSIS: _ELLIPSIS, RepairKind.FUNCTION_CALL: _CALL}
    match = removed[RepairKind(kind)].match(text, at) if kind in removed else None
    return (match[0], "") if match else None
