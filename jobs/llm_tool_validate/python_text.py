"""Reads what Python's `repr` writes of lists and dictionaries: `['a', True, None]`."""

from __future__ import annotations

import ast
import math
import re
import warnings
from typing import Any

from jobs.llm_tool_validate.numbers import MAX_DIGITS
from jobs.llm_tool_validate.places import NOTHING

_PYTHON = re.compile(r"'|\b(?:True|False|None)\b")
"""A text without any of these is JSON, or broken JSON, which is not to be guessed here."""
_MAX_CHARACTERS = 64 * 1024
"""Python's parser takes about a microsecond per character, and 100 bytes of memory."""


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
