"""Decides which quote ends a string, when any quote may be missing, doubled or unescaped.

A quote is judged by the text around it and by the place of its string (Context). `END`: the text after it may follow a string
in this place. `MISSING`: it looks like the opening quote of the next string, so the end quote of this one is missing. `INNER`:
it is part of the text. The verdict does not depend on the start of the string. So it is made once per quote and context,
and runs of INNER quotes are skipped by remembered jumps: finding ends is linear in the text however often strings are tried.

The rules are those of npm jsonrepair (README, issues 97, 114, 117, 130, 144, 161) and PyPI json_repair (issues 36, 46, 49, 56,
91), where they agree. Where they do not, the rule wins that keeps more of the text inside the string.
"""

import enum
import re
from collections.abc import Callable
from typing import NamedTuple

from jobs.json_repair.quotes import VALUE_ENDS, Quotes
from jobs.json_repair.source import QUOTES, Source


class Context(enum.IntEnum):
    """The place of a string."""

    KEY = 0
    MEMBER = 1
    """The value of a key."""
    ELEMENT = 2
    """An array element."""
    ARGUMENT = 3
    """Between parentheses."""
    ROOT = 4


class Verdict(enum.Enum):
    """What a quote means for the string before it."""

    INNER = 0
    END = 1
    MISSING = 2


class Found(NamedTuple):
    """The quote that decides where a string ends: the `nth` of its family, at text position `at`."""

    nth: int
    at: int
    verdict: Verdict


_STRING_ENDS = VALUE_ENDS | {":"}
_ELEMENT_STARTS = frozenset(("", "]", *QUOTES))
_COLONED = re.compile(r"[\w$.@-]{1,256}+[ \t]{0,256}+(?::(?!//)|=>)")
_VALUE = re.compile(r"[\"'\d{\[-]|true\b|false\b|null\b|True\b|False\b|None\b")
_VALUE_AT_ONCE = re.compile(r"(?:-?+[0-9][0-9.]{0,64}+|true|false|null|True|False|None)\s{0,64}+[,}]")
_SCALAR = re.compile(r"(?:-?+[0-9][0-9.eE+-]{0,256}+|[A-Za-z]{1,256}+)\s{0,256}+[,}\]]")

_WORDS_TO_END = re.compile(r",[ \t]++[^\W\d][^\"'{}\[\]:\n]{0,512}+[\"']")
_OPENED = re.compile(r"[ \t]*+[{\[]")
_CLOSED = re.compile(rf"[}}\] \t]++[^\s,:;{{}}\[\]{QUOTES}]")
_TEXT_END = re.compile(r"[\w.!?)>%;+*$]")
_QUOTED_BRACKETS = re.compile(r"(?<=\w )([\"'])[\[\]{}()]{1,3}+\1(?= \w)")


class Judge(Quotes):
    """Judges the quotes of one family in a text."""

    def __init__(self, source: Source, family: str) -> None:
        super().__init__(source, family)
        # By context, which is a number.
        self._jumps: tuple[dict[int, int], ...] = ({}, {}, {}, {}, {})
        self._missing: tuple[set[int], ...] = (set(), set(), set(), set(), set())
        self._judges: tuple[Callable[[int, int, int], Verdict], ...] = (
            self._judge_key,
            self._judge_member,
            self._judge_element,
            self._judge_argument,
            self._judge_element,
        )

    def decisive(self, index: int, context: Context) -> Found | None:
        """The first quote from `index` on that is not INNER, or None when all others are."""
        jumps, missing = self._jumps[context], self._missing[context]
        passed: list[int] = []
        while index < len(self.places):
            known = jumps.get(index)
            if known is not None:
                index = known
                break
            end = None if context is Context.KEY else self.fragments.within_text(index, VALUE_ENDS)
            if end is not None:
                passed.append(index)
                index = self.first(end)
                continue
            verdict = self._judge(index, context)
            if verdict is not Verdict.INNER:
                if verdict is Verdict.MISSING:
                    missing.add(index)
                break
            passed.append(index)
            index += 1
        for k in passed:
            jumps[k] = index
        if index == len(self.places):
            return None
        jumps[index] = index
        return Found(index, self.places[index], Verdict.MISSING if index in missing else Verdict.END)

    def _judge(self, index: int, context: Context) -> Verdict:
        q = self.places[index]
        after = self.source.gap(q + 1)
        if after >= self.source.size or self.source.fence(after):
            return Verdict.END
        return self._judges[context](index, q, after)

    def _judge_key(self, index: int, q: int, after: int) -> Verdict:
        c = self.source.text[after]
        if after == q + 1 and c in self.family and self.follower(index + 1) == ":":
            return Verdict.INNER  # the first of the two quotes in {"5"": 1}
        if c in ":=,}]{[" or c in QUOTES or self.source.broken(q, after):
            return Verdict.END
        if _VALUE_AT_ONCE.match(self.source.text, after) or self.source.text.startswith("->", after):
            return Verdict.END
        if after > q + 1:
            if _SCALAR.match(self.source.text, after):
                return Verdict.END
            mark = self.next_mark(after)
            return Verdict.INNER if mark in self.family and mark else Verdict.END
        before = self.source.text[max(0, q - 64) : q].rstrip()[-1:]
        return Verdict.MISSING if before and before in ":,{[" else Verdict.INNER

    def _judge_member(self, index: int, q: int, after: int) -> Verdict:
        source = self.source
        c = source.text[after]
        if (c in "}];" and self._within_text(index, after)) or _QUOTED_BRACKETS.match(source.text, q):
            return Verdict.INNER
        if c in "}]":
            return Verdict.INNER if self._text_goes_on(after) else Verdict.END
        if c == ",":
            return Verdict.END if self.separates(after + 1) else Verdict.INNER
        if c == ":":
            return Verdict.INNER
        if source.broken(q, after):
            return Verdict.END if self.separates(after) else Verdict.INNER
        if c in QUOTES:
            return self._judge_before_quote(index, q, after)
        if c in "+;)":
            return self._judge_before_sign(c, after)
        if after > q + 1:
            named = _COLONED.match(source.text, after)
            ends = named is not None and _VALUE.match(source.text, source.gap(named.end())) is not None
            return Verdict.END if ends else Verdict.INNER
        if self._opens_value(q):
            return Verdict.MISSING
        start, structured = self.run_before(q)
        if _OPENED.match(source.text, start, q):
            return Verdict.INNER  # no string opens directly after a member: `"Use {"a": 1} here"` is one text
        if self.opens_key(index):
            colon = source.gap(self.places[index + 1] + 1)
            if structured or start == q or _VALUE.match(source.text, source.gap(colon + 1)):
                return Verdict.MISSING
        return Verdict.INNER

    def _judge_element(self, index: int, q: int, after: int) -> Verdict:
        source = self.source
        c = source.text[after]
        if c == "," and self._quoted_before(index) and _WORDS_TO_END.match(source.text, after):
            return Verdict.INNER if self.follower(index + 1) in (",", "]") else Verdict.END
        if c in ",]}:" or source.broken(q, after) or source.text.startswith("=>", after):
            return Verdict.END
        if c in QUOTES:
            doubled = after == q + 1 and c in self.family and self.follower(index + 1) in VALUE_ENDS
            return Verdict.INNER if doubled else Verdict.END
        if c in "+;)":
            return self._judge_before_sign(c, after)
        if c in "{[" or (c.isdigit() and after > q + 1):
            return Verdict.END
        if after > q + 1:
            return self._judge_before_word(after)
        _, structured = self.run_before(q)
        if structured and self.follower(index + 1) in _STRING_ENDS:
            return Verdict.MISSING
        return Verdict.INNER

    def _judge_argument(self, index: int, q: int, after: int) -> Verdict:
        if self.source.text[after] == ")":
            return Verdict.END
        return self._judge_element(index, q, after)

    def _judge_before_quote(self, index: int, q: int, after: int) -> Verdict:
        """In an object, before a quote: the opening of the next key, or text within text."""
        if self.source.text[after] not in self.family:
            return Verdict.END
        if after > q + 1:
            return Verdict.INNER if self.followed_by_words(index + 2) else Verdict.END
        if self.follower(index + 1) in VALUE_ENDS:
            return Verdict.INNER
        return Verdict.END if self.follower(index + 2) == ":" else Verdict.INNER

    def _judge_before_sign(self, sign: str, after: int) -> Verdict:
        """Before a sign: `+` joins strings, `;` ends a statement and `)` a call. Elsewhere they are text."""
        following = self.source.gap(after + 1)
        c = self.source.at(following)
        if sign == "+":
            return Verdict.END if c == "" or c in QUOTES else Verdict.INNER
        if sign == ";":
            ends = c == "" or c in QUOTES + "}]" or self.source.broken(after, following)
            return Verdict.END if ends else Verdict.INNER
        return Verdict.END if c == "" or c in ";)" else Verdict.INNER

    def _judge_before_word(self, after: int) -> Verdict:
        """In an array, before a blank and a word: the next element without its comma, or text within text."""
        mark = self.next_mark(after)
        if mark in self.family and mark:
            return Verdict.INNER
        comma = self.source.text.find(",", after, self.mark_position(after))
        if comma < 0:
            return Verdict.END
        return Verdict.END if self.source.at(self.source.gap(comma + 1)) in _ELEMENT_STARTS else Verdict.INNER

    def _quoted_before(self, index: int) -> bool:
        """Whether the previous quote opens a quotation inside the text that this one ends: `say "hi"`."""
        opening = self.places[index - 1] if index else 0
        text = self.source.text
        return opening > 1 and text[opening - 1].isspace() and text[opening - 2].isalnum()

    def _within_text(self, index: int, after: int) -> bool:
        """Whether only brackets are between this quote and the next, which ends a value: `"f({a: "x"})", ...` is one text."""
        if self.follower(index + 1) not in (",", "}", "]"):
            return False
        return not self.source.text[after : self.places[index + 1]].strip("}]); \t\r\n")

    def _text_goes_on(self, i: int) -> bool:
        """Whether words follow the brackets at `i` on their line, and then the end of a string: `"say {"a": "b"} to me",`."""
        match = _CLOSED.match(self.source.text, i)
        if match is None:
            return False
        end = self.mark_position(match.end())
        closes = self.source.at(end) in self.family and _TEXT_END.match(self.source.text, end - 1) is not None
        return closes and self.follower(self.first(end)) in (",", "}")

    def _opens_value(self, q: int) -> bool:
        """Whether a colon precedes this quote, and a quote of another kind precedes the colon: `'b", "c": 'd'`."""
        before = self.source.text[max(0, q - 64) : q].rstrip()
        name = before[:-1].rstrip()[-1:]
        return before.endswith(":") and name != "" and name in QUOTES and name not in self.family
