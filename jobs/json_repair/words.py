"""Reads values and keys without quotes: numbers, literals, regexes, URLs, dates and plain text."""

import json
import re
from typing import Any

from jobs.json_repair import literals
from jobs.json_repair.escapes import decode
from jobs.json_repair.literals import Literal
from jobs.json_repair.result import RepairKind
from jobs.json_repair.source import QUOTES, Source
from jobs.json_repair.strings import Strings
from jobs.json_repair.verdicts import Context

_TOKEN = re.compile(r"[\w$.+-]++")
_NAMED = re.compile(r"[\w$.@-]++[ \t]*+[:=]")
_THOUSANDS = re.compile(r"[+-]?+[0-9]{1,3}(?>(?:,[0-9]{3})+)(?>(?:\.[0-9]++)?)(?!\w|,[0-9])")
_REGEX = re.compile(r"/(?>(?:[^/\\\n,]++|,(?!\s)|\\.)+)/[a-z]*+")
_CALL = re.compile(r"(?>(?:new\s++)?)[A-Za-z_$][\w$.]*+\(")
_PLAIN_ARGUMENTS = re.compile(r"[^()\"'{}\[\]\n]*+\)")
_ADJACENT = re.compile(r"\{[^\s{}\[\]\"',:]*+\}|\[[^\s{}\[\]\"',:]*+\]")
_JOINED = re.compile(r"\{[^{}\[\]\"',:\n]*+\}|\[[^{}\[\]\"',:\n]*+\]")
_TEMPLATE = re.compile(r"\{\{[^{}\"':,\n]{1,80}+\}\}|\{%[^{}\"':,\n]{1,80}+%\}")
_ARROW_FUNCTION = re.compile(r"\([\w$\s,=.]{0,80}+\)\s*+=>")
_VALUE_STOP = re.compile(r"[,\n}\]{\[\"'`/#);]")
_KEY_STOP = re.compile(r"[:=,\n}\]{\[\"']|/(?=[/*])")
_JSON = json.JSONEncoder(ensure_ascii=False)


class Words:
    """Reads the unquoted values and keys of one text."""

    def __init__(self, source: Source, strings: Strings) -> None:
        self.source = source
        self.strings = strings

    def call(self, i: int) -> int | None:
        """The position after the `(` of a call that starts at `i`, such as `ObjectId(` or `new Date(`. None when it is text.

        A call is followed by what may follow a value; `word(words) and more` is text.
        """
        match = _CALL.match(self.source.text, i)
        if not match:
            return None
        plain = _PLAIN_ARGUMENTS.match(self.source.text, match.end())
        if plain:
            after = self.source.gap(plain.end())
            c = self.source.at(after)
            if not (c == "" or c in ",;:}])" or c in QUOTES or self.source.broken(plain.end(), after)):
                return None
        return match.end()

    def opaque(self, i: int) -> bool:
        """Whether the bracket at `i` starts one piece of text: `{{ template }}` or `(x) => x`."""
        text = self.source.text
        return _TEMPLATE.match(text, i) is not None or _ARROW_FUNCTION.match(text, i) is not None

    def value(self, i: int, context: Context) -> tuple[Any, int, bool]:
        """The unquoted value at `i`, the position after it, and whether it is a literal and not plain text."""
        literal, end = self._literal(i, context)
        if literal is not None:
            if literal.kind:
                self._note(literal, i, end)
            return literal.value, end, True
        match = _REGEX.match(self.source.text, i)
        if match and self._bounded(match.end(), context):
            self._note_text(match.group(), i)
            return match.group(), match.end(), False
        return self._text(i, context)

    def root(self, i: int) -> tuple[Any, int] | None:
        """The literal at `i` that is alone at the top of the text, or None when it begins prose."""
        match = _TOKEN.match(self.source.text, i)
        literal = literals.read(match.group()) if match else None
        if match is None or literal is None:
            return None
        end = match.end()
        after = self.source.gap(end)
        c = self.source.at(after)
        if not (c == "" or c in ",;}])" or self.source.broken(end, after) or self.source.fence(after)):
            return None
        self._note(literal, i, end)
        return literal.value, end

    def key(self, i: int) -> tuple[str, int]:
        """The unquoted key at `i` and the position after it. Empty when nothing at `i` can be part of a key."""
        source = self.source
        end = i
        resume = i
        while True:
            match = _KEY_STOP.search(source.text, end)
            end = resume = match.start() if match else source.size
            if match is None or match.group() not in "\"'":
                break
            if match.group() == "'" and self._apostrophe(end):
                end += 1
                continue
            if source.at(source.gap(end + 1)) in (":", "="):
                resume = end + 1  # {key": 1}
            break
        return source.text[i:end].strip(), resume

    def _literal(self, i: int, context: Context) -> tuple[Literal | None, int]:
        source = self.source
        if context is Context.MEMBER:
            thousands = _THOUSANDS.match(source.text, i)
            if thousands and self._bounded(thousands.end(), context):
                return Literal(thousands.group(), RepairKind.NUMBER_AS_STRING), thousands.end()
        match = _TOKEN.match(source.text, i)
        if not match:
            return None, i
        end = match.end()
        literal = literals.read(match.group())
        if literal is None and end == source.size:
            literal = literals.read_cut(match.group())
        if literal is None or not self._bounded(end, context, number=not match.group().isalpha()):
            return None, i
        return literal, end

    def _bounded(self, end: int, context: Context, *, number: bool = False) -> bool:
        """Whether a token that ends at `end` is a whole value. The text after it decides."""
        source = self.source
        after = source.gap(end)
        c = source.at(after)
        if c == "" or c in ",;}])" or source.broken(end, after) or source.fence(after):
            return True
        if after == end or c == ":":
            return False
        if c in QUOTES:
            return True
        if context is Context.MEMBER:
            return _NAMED.match(source.text, after) is not None
        following = _TOKEN.match(source.text, after)
        return number or c in "{[" or (following is not None and literals.read(following.group()) is not None)

    def _text(self, i: int, context: Context) -> tuple[Any, int, bool]:
        """Read plain text up to the end of the value. A lone end quote there belonged to it."""
        source = self.source
        end = i
        resume = i
        while True:
            match = _VALUE_STOP.search(source.text, end)
            end = resume = match.start() if match else source.size
            if match is None:
                break
            step = self._step(i, end, match.group(), context)
            if step == end:
                break
            if step < 0:
                resume = end + 1
                break
            end = step
        if end == i:
            return None, i, False
        token = source.text[i:end].strip()
        if resume > end and "\\" in token:
            source.note(RepairKind.MISSING_QUOTE, i)
            return decode(source, i, end), resume, False
        literal = literals.read(token)
        if literal is not None:
            self._note(literal, i, end)
            return literal.value, resume, True
        self._note_text(token, i)
        return token, resume, False

    def _note(self, literal: Literal, start: int, end: int) -> None:
        if literal.kind is RepairKind.NUMBER_AS_STRING:
            self._note_text(self.source.text[start:end].strip(), start, literal.kind)
        elif literal.kind:
            self.source.note(literal.kind, start)

    def _note_text(self, text: str, start: int, kind: RepairKind = RepairKind.UNQUOTED_STRING) -> None:
        self.source.note(kind, start, _JSON.encode(text), before=text)

    def _step(self, start: int, i: int, c: str, context: Context) -> int:
        """The next position after the character at `i`; `i` itself when the text ends before it, -1 when it ends with it."""
        source = self.source
        if c == "," and context is Context.MEMBER:
            return i if self.strings.quotes('"').separates(i + 1, stray=False) else i + 1
        if c in "{[":
            match = _TEMPLATE.match(source.text, i)
            if match:
                return match.end()
            if context is Context.MEMBER:
                match = _JOINED.match(source.text, i)
            elif i > start and not source.text[i - 1].isspace():
                match = _ADJACENT.match(source.text, i)
            return match.end() if match else i
        if c in "\"'":
            return self._step_quote(start, i, c, context)
        if c in "/#":
            blank_before = i > start and source.text[i - 1].isspace()
            return i if (blank_before or source.text.startswith("/*", i)) and source.gap(i) > i else i + 1
        if c == "`":
            return i if source.fence(i) else i + 1
        if c == ")":
            return i if context is Context.ARGUMENT else i + 1
        if c == ";":
            after = source.gap(i + 1)
            return i if after >= source.size or source.broken(i, after) or source.text[after] in "}]" else i + 1
        return i

    def _step_quote(self, start: int, i: int, c: str, context: Context) -> int:
        source = self.source
        if c == "'" and self._apostrophe(i):
            return i + 1
        after = source.gap(i + 1)
        if context is Context.MEMBER:
            quotes = self.strings.quotes(c)
            if quotes.opens_key(quotes.first(i)):
                return i
        if i > start and source.text[i - 1].isspace():
            return i + 1 if context is Context.MEMBER else i
        follower = source.at(after)
        if follower == "" or follower in ",}]" or source.broken(i, after):
            return -1
        if context is Context.ARGUMENT and follower == ")":
            return -1
        return i + 1

    def _apostrophe(self, i: int) -> bool:
        """Whether the quote at `i` is inside a word."""
        text = self.source.text
        return i > 0 and text[i - 1].isalpha() and text[i + 1 : i + 2].isalpha()
