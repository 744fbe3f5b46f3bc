"""A finding, as it is reported."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from jobs.prompt_injection_scan.invisible import is_private
from jobs.prompt_injection_scan.labels import AttackCategory, Severity

MOST_FINDINGS = 100
EXCERPT = 200
"""Characters of the longest excerpt, with escapes."""
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Finding:
    """One suspicious place of the text.

    Attributes:
        start, end: code points of the original text.
        excerpt: `text[start:end]` with everything visible, cut to EXCERPT.
        hint: what to do about it; None below high.
        confidence: of the statistical layer, 0 to 1; None for a rule.
    """

    rule: str
    category: AttackCategory
    severity: Severity
    start: int
    end: int
    excerpt: str
    message: str
    hint: str | None
    confidence: float | None = None


def visible(text: str, limit: int = EXCERPT) -> str:
    """Write the text on one line, with invisible characters and backslashes as escapes, and `…` where it was cut."""
    if len(text) <= limit and text.isascii() and text.isprintable() and "\\" not in text:
        return text
    parts: list[str] = []
    length = 0
    for sign in text[: limit + 1]:
        shown = _shown(sign)
        if length + len(shown) > limit:
            while parts and length + len(_CUT) > limit:
                length -= len(parts.pop())
            return "".join(parts) + _CUT
        parts.append(shown)
        length += len(shown)
    return "".join(parts)


def _shown(sign: str) -> str:
    if sign == "\\":
        return "\\\\"
    if sign == "\n":
        return "\\n"
    if sign.isprintable() and not is_private(sign) and not _is_selector(sign) and sign not in _BLANKS:
        return sign
    if sign == " ":
        return sign
    code = ord(sign)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}"


_BLANKS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")


def _is_selector(sign: str) -> bool:
    return unicodedata.name(sign, "").startswith(("VARIATION SELECTOR", "MONGOLIAN FREE VARIATION"))


def without_repetition(found: Iterable[Finding]) -> list[Finding]:
    """Of overlapping findings of one rule, and of nested findings of one category, keep only the worst and longest."""
    kept: list[Finding] = []
    for finding in sorted(found, key=lambda one: (-one.severity, one.start - one.end, one.start, one.rule)):
        if not any(_covers(one, finding) for one in kept):
            kept.append(finding)
    return kept


def _covers(one: Finding, other: Finding) -> bool:
    if one.rule == other.rule:
        return one.start < other.end and other.start < one.end
    return one.category == other.category and one.start <= other.start and other.end <= one.end
