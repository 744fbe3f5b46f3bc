"""Reads the objects and arrays in texts. A text with two possible readings is not read."""

import ast
import json
import math
import re
import warnings
from typing import Any

import msgspec

from jobs.llm_tool_validate.numbers import MAX_DIGITS
from jobs.llm_tool_validate.places import NOTHING
from shared.raw_json import levels

WHITESPACE = " \t\n\r"
"""The white space that RFC 8259 allows around a value."""


_FENCE = re.compile(r"\s*+(`{3,}+|~{3,}+)[ \t]*+[\w+.-]*+[ \t]*+\r?\n(.*?)\s*+\1\s*+", re.DOTALL)

_PYTHON = re.compile(r"'|\b(?:True|False|None)\b")
"""A text without any of these is JSON, or broken JSON, which is not to be guessed here."""
_MAX_CHARACTERS = 64 * 1024
"""Python's parser takes about a microsecond per character, and 100 bytes of memory."""


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


class _Other(ValueError):
    """Not a literal that JSON can write."""


def python_value(text: str) -> Any:
    """The list or dictionary, or NOTHING. Not read: a tuple, a set, bytes, a repeated key, a number that JSON cannot write."""
    if len(text) > _MAX_CHARACTERS or not text.startswith(("[", "{")) or not _PYTHON.search(text):
        return NOTHING
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is a SyntaxWarning, and stays what it is
            return _value(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return NOTHING


def _value(node: ast.expr) -> Any:
    match node:
        case ast.List(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            names = [_value(key) if key is not None else None for key in keys]
            if len(set(map(repr, names))) < len(names) or not all(isinstance(name, str) for name in names):
                raise _Other
            return dict(zip(names, map(_value, values), strict=True))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if number is not True:
            return -_number(number)
        case ast.Constant(value=None | bool() | str() as scalar):
            if isinstance(scalar, str):
                scalar.encode()
            return scalar
        case ast.Constant(value=int() | float() as number):
            return _number(number)
    raise _Other


def _number(number: float) -> float:
    if not math.isfinite(number) or (isinstance(number, int) and number >= 10**MAX_DIGITS):
        raise _Other
    return number
