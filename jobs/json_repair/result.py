"""The result of a repair: the value, whether it was modified, and the list of repairs."""

import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from jobs.fields import doc

MAX_DEPTH = 512
"""Levels of containers. Deeper text is refused, because common decoders stop at about 1000 levels."""

MAX_REPAIRS = 100
"""How many repairs are listed. All are made."""


class RepairKind(enum.StrEnum):
    """A repair, by the name of what was wrong with the text."""

    CODE_FENCE = "code_fence"
    COMMENT = "comment"
    CONCATENATED = "concatenated"
    CONTROL_CHARACTER = "control_character"
    ELLIPSIS = "ellipsis"
    ESCAPED = "escaped"
    FUNCTION_CALL = "function_call"
    HTML_ENTITY = "html_entity"
    INVALID_ESCAPE = "invalid_escape"
    JAVASCRIPT_LITERAL = "javascript_literal"
    LEADING_COMMA = "leading_comma"
    LONE_SURROGATE = "lone_surrogate"
    MISMATCHED_BRACKET = "mismatched_bracket"
    MISSING_BRACKET = "missing_bracket"
    MISSING_COLON = "missing_colon"
    MISSING_COMMA = "missing_comma"
    MISSING_KEY = "missing_key"
    MISSING_QUOTE = "missing_quote"
    MISSING_VALUE = "missing_value"
    MULTIPLE_VALUES = "multiple_values"
    NUMBER_AS_STRING = "number_as_string"
    NUMBER_FORMAT = "number_format"
    NUMBER_OUT_OF_RANGE = "number_out_of_range"
    PARENTHESES = "parentheses"
    PYTHON_LITERAL = "python_literal"
    REDUNDANT_BRACKET = "redundant_bracket"
    REDUNDANT_COLON = "redundant_colon"
    REDUNDANT_COMMA = "redundant_comma"
    SINGLE_QUOTES = "single_quotes"
    SPECIAL_QUOTES = "special_quotes"
    SPECIAL_WHITESPACE = "special_whitespace"
    STRAY_TEXT = "stray_text"
    TRAILING_COMMA = "trailing_comma"
    TRUNCATED = "truncated"
    UNESCAPED_QUOTE = "unescaped_quote"
    UNQUOTED_KEY = "unquoted_key"
    UNQUOTED_STRING = "unquoted_string"
    WRONG_SEPARATOR = "wrong_separator"


class Repair(msgspec.Struct, frozen=True):
    """One repair."""

    kind: Annotated[str, doc("What was wrong, such as `trailing_comma` or `unquoted_key`.")]
    """A RepairKind."""
    offset: Annotated[int, doc("Where it was: a 0-based offset in the text, in Unicode code points.")]
    before: Annotated[
        str | None,
        doc("The text there, such as `True`. Empty where something was missing; null when it is long or unclear."),
    ] = None
    after: Annotated[
        str | None,
        doc("What it became, such as `true`. Empty where it was removed; null when that is long or unclear."),
    ] = None


@dataclass(frozen=True, slots=True)
class Repaired:
    """The JSON value of a text.

    Attributes:
        value: dict, list, str, int, float, bool or None. It always encodes to valid JSON: no NaN or Infinity, no lone
            surrogates, integers of at most 4300 digits, at most MAX_DEPTH levels.
        was_modified: False when the text was strict RFC 8259 JSON and the value is exactly its value.
        repairs: at most MAX_REPAIRS, in the order of the text.
    """

    value: Any
    was_modified: bool
    repairs: tuple[Repair, ...]


class NotRepairable(ValueError):
    """The text cannot be repaired.

    Attributes:
        reason: `not_repairable` when it has no value, `too_complex` when it nests deeper than MAX_DEPTH.
    """

    def __init__(self, reason: Literal["not_repairable", "too_complex"]) -> None:
        super().__init__(reason)
        self.reason = reason
