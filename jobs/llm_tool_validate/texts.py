"""Reads the objects and arrays in texts. A text with two possible readings is not read."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from jobs.llm_tool_validate.places import NOTHING
from jobs.llm_tool_validate.python_text import python_value
from shared.raw_json import levels

WHITESPACE = " \t\n\r"
"""The white space that RFC 8259 allows around a value."""


_FENCE = re.compile(r"\s*+(`{3,}+|~{3,}+)[ \t]*+[\w+.-]*+[ \t]*+\r?\n(.*?)\s*+\1\s*+", re.DOTALL)


def looks_like_a_container(text: str) -> bool:
    """Whether a text was meant as an object or array, well-formed or not."""
    return text.lstrip(WHITESPACE).startswith(("[", "{", "```", "~~~"))


def container(text: str, *, max_levels: int) -> Any:
    """The object or array whose JSON text this is, also when it was encoded several times, stands in a code block, or is
    Python's text of such a value. Otherwise NOTHING.

    NOTHING also when it is nested too deeply, repeats a key, or has a number or text that would lose something.
    """
    value: Any = text
    while isinstance(value, str):
        fenced = _FENCE.fullmatch(value)
        text = fenced[2] if fenced else value
        if not text.lstrip(WHITESPACE).startswith(("[", "{", '"')):
            return NOTHING
        try:
            value = msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            value = python_value(text.strip(WHITESPACE))
            if value is NOTHING:
                return NOTHING
            text = msgspec.json.encode(value).decode()
    if levels(text.encode()) > max_levels or _has_a_key_twice(text):
        return NOTHING
    return value


class _Twice(ValueError):
    pass


def _has_a_key_twice(text: str) -> bool:
    """Whether an object in a JSON text repeats a key."""
    try:
        json.loads(text, object_pairs_hook=_distinct, parse_float=_ignored, parse_int=_ignored)
    except _Twice:
        return True
    return False


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise _Twice


def _ignored(number: str) -> None:
    """Skip a number. It is not needed here."""
