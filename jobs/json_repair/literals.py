"""Reads single tokens: numbers in common spellings, and words with a meaning."""

import math
import re
from typing import Any, NamedTuple

from jobs.json_repair.result import RepairKind
from jobs.json_repair.strict import MAX_DIGITS


class Literal(NamedTuple):
    """The value of a token, and the repair that was needed, if any."""

    value: Any
    kind: RepairKind | None


_WORDS: dict[str, Literal] = {
    "true": Literal(True, None),
    "false": Literal(False, None),
    "null": Literal(None, None),
    **{word: Literal(True, RepairKind.PYTHON_LITERAL) for word in ("True", "TRUE")},
    **{word: Literal(False, RepairKind.PYTHON_LITERAL) for word in ("False", "FALSE")},
    **{
        word: Literal(None, RepairKind.PYTHON_LITERAL)
        for word in ("None", "Null", "NULL", "nil", "nan", "inf", "-inf", "Ellipsis")
    },
    "!0": Literal(True, RepairKind.JAVASCRIPT_LITERAL),
    "!1": Literal(False, RepairKind.JAVASCRIPT_LITERAL),
    **{
        word: Literal(None, RepairKind.JAVASCRIPT_LITERAL)
        for word in ("undefined", "void 0", "NaN", "-NaN", "+NaN", "Infinity", "-Infinity", "+Infinity")
    },
}

_CUT_WORDS = {
    word[:length]: _WORDS[word].value
    for word in ("true", "false", "null", "True", "False", "None", "undefined")
    for length in range(1 if word.islower() and word != "undefined" else 2, len(word))
}

_INTEGER = re.compile(r"-?+(?:0|[1-9][0-9]*+)")
_NUMBER = re.compile(r"-?+(?:0|[1-9][0-9]*+)(?>(?:\.[0-9]++)?)(?>(?:[eE][+-]?+[0-9]++)?)")
_LOOSE = re.compile(
    r"(?P<sign>[+-]?+)(?P<whole>(?>(?:[0-9]++(?>(?:_[0-9]++)*))?))(?P<fraction>(?>(?:\.(?>(?:[0-9]++(?>(?:_[0-9]++)*))?))?))"
    r"(?P<exponent>(?>(?:[eE][+-]?+[0-9]*+)?))(?P<big>n?+)"
)
_LEADING_ZERO = re.compile(r"[+-]?+0[0-9_]")


def read(word: str) -> Literal | None:
    """The literal that a word is, or None when it is plain text.

    In addition to JSON's own: `True`, `None`, `undefined`, NaN and Infinity (as null, because JSON has no such number), `+1`,
    `.5`, `5.`, `1_000`, `10n`, and numbers that are cut off (`2.`, `2e`, `-`). A number with leading zeros stays a string,
    because the zeros may matter. So does a number beyond the range of a double, and an integer of more than 4300 digits.
    """
    known = _WORDS.get(word)
    if known is not None:
        return known
    if _NUMBER.fullmatch(word):
        return _number(word, None)
    if word == "-":
        return Literal(0, RepairKind.TRUNCATED)
    match = _LOOSE.fullmatch(word)
    if not match or not any(c.isdigit() for c in match["whole"] + match["fraction"]):
        return None
    if _LEADING_ZERO.match(word):
        return Literal(word, RepairKind.NUMBER_AS_STRING)
    return _number(_normal(match), RepairKind.TRUNCATED if word[-1] in ".eE+-" else RepairKind.NUMBER_FORMAT)


def read_cut(word: str) -> Literal | None:
    """The literal that begins with a word, as when the text ends in `tru`. None when there is none."""
    return Literal(_CUT_WORDS[word], RepairKind.TRUNCATED) if word in _CUT_WORDS else None


def _normal(match: re.Match[str]) -> str:
    """Write a number in JSON's spelling."""
    sign, whole, fraction, exponent = match["sign"], match["whole"], match["fraction"], match["exponent"]
    fraction = fraction + "0" if fraction == "." else fraction
    exponent = exponent + "0" if exponent and not exponent[-1].isdigit() else exponent
    return sign.replace("+", "") + ((whole or "0") + fraction + exponent).replace("_", "")


def _number(text: str, kind: RepairKind | None) -> Literal:
    if len(text) > MAX_DIGITS:
        return Literal(text, RepairKind.NUMBER_OUT_OF_RANGE)
    if text == "-0":
        return Literal(-0.0, kind)
    if _INTEGER.fullmatch(text):
        return Literal(int(text), kind)
    number = float(text)
    return Literal(number, kind) if math.isfinite(number) else Literal(text, RepairKind.NUMBER_OUT_OF_RANGE)
