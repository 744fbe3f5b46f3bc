"""The objects and arrays that texts are. Strict: what a reader could understand in two ways is not understood."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from shared.undecoded import levels

NOTHING: Final = object()
"""No value. None is one: null."""

WHITESPACE = " \t\n\r"
"""What RFC 8259 allows around a value."""


def looks_like_a_container(text: str) -> bool:
    """Whether somebody meant an object or array, well-formed or not."""
    return text.lstrip(WHITESPACE).startswith(("[", "{"))


def container(text: str, *, max_levels: int) -> Any:
    """The object or array whose JSON text this is, or the JSON text of its JSON text, and so on; else NOTHING.

    NOTHING as well when it is nested too deeply, has a key twice, or a number or text that cannot be kept.
    """
    value: Any = text
    while isinstance(value, str):
        text = value
        if not text.lstrip(WHITESPACE).startswith(("[", "{", '"')):
            return NOTHING
        try:
            value = msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return NOTHING
    if levels(text.encode()) > max_levels or _has_a_key_twice(text):
        return NOTHING
    return value


class _Twice(ValueError):
    pass


def _has_a_key_twice(text: str) -> bool:
    """Of a text that is JSON."""
    try:
        json.loads(text, object_pairs_hook=_distinct, parse_float=_ignored, parse_int=_ignored)
    except _Twice:
        return True
    return False


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise _Twice


def _ignored(number: str) -> None:
    """Not worth converting again."""
