"""Reads the top level of a text: one JSON value, several of them, or JSON somewhere in prose.

- Several values become an array: one per line (NDJSON), separated by commas, or directly one after another.
- In prose, and around code blocks, only the JSON counts: `Here is the result: {...} Hope this helps`. Fenced blocks come
  before other text. Data that is certain comes before brackets of the prose itself, such as `[INFO]`, `[1]` or `{name}`.
  Several remaining values become an array.
- A few words without any JSON become a string, as in npm jsonrepair. Single words in lines or between commas become an array.
  A sentence has no value: a model that answered in prose gave no data, and a string would hide that.
"""

import re
from dataclasses import dataclass
from typing import Any

from jobs.json_repair import structure
from jobs.json_repair.reader import CLOSERS, Reader
from jobs.json_repair.result import MAX_DEPTH, NotRepairable, RepairKind
from jobs.json_repair.source import FENCE, FENCE_LABEL, INLINE_LABEL, QUOTES, Source
from jobs.json_repair.verdicts import Context

_OPENING = re.compile(r"[{\[]|`{3,}+|~{3,}+")
_MEMBER = re.compile(r"[\w$.@-]{1,64}+\s{0,8}+[:=]")
_ELEMENT = re.compile(r"[\"'\d{\[\]-]|[\w.]{1,64}+\s{0,8}+,|(?:true|false|null|True|False|None)\b")
_SUBSCRIPT = re.compile(r"\[[\"'][^\"'\]\n]{0,64}+[\"']\]\s{0,8}+(?:=(?!=)|[.\[])")
_CONTENT_STARTS = frozenset(("{", "[", *QUOTES))
_THOUGHTS = re.compile(r"\s*+<(think|thinking|thought|reasoning)>")
_SENTENCE_END = ".!?\u2026\u3002\uff01\uff1f"
_WIDE_SENTENCE_END = "\u3002\uff01\uff1f"
_FEW_WORDS = 3


@dataclass(slots=True)
class _Item:
    """A value at the top level."""

    value: Any
    container: bool
    solid: bool
    fenced: bool
    separated: bool = False


class Document:
    """Reads one text from its top level on."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.reader = Reader(source)
        self.items: list[_Item] = []
        self.prose = False
        self._fenced = False
        self._bare = 0
        self._containers = 0
        self._nothing_from = source.size

    def read(self) -> Any:
        """Read the value of the text.

        Raises:
            NotRepairable: the text has no value, or is nested too deeply.
        """
        i = self._after_thoughts()
        while True:
            i = self.source.space(i)
            if i >= self.source.size:
                return self._result()
            i = self._next(i, self.source.text[i])

    def _next(self, i: int, c: str) -> int:
        """Read what is at `i`. Returns the position at which to continue."""
        source = self.source
        fence = source.fence(i)
        if fence is not None:
            return self._fence(i, fence)
        if c in ",;":
            return self._separator(i, c)
        if c in CLOSERS:
            source.note(RepairKind.REDUNDANT_BRACKET, i)
            return i + 1
        end = source.ellipsis(i)
        if end is not None:
            source.note(RepairKind.ELLIPSIS, i)
            return end
        container = structure.read(self.reader, i)
        if container is not None:
            return self._add(container.value, container.end, container=c in "{[(", solid=container.solid)
        return self._scalar(i)

    def _separator(self, i: int, c: str) -> int:
        if not self.items:
            self.source.note(RepairKind.LEADING_COMMA, i)
            return i + 1
        self.items[-1].separated = True
        if c == ";":
            self.source.note(RepairKind.STRAY_TEXT, i)
        elif self.source.gap(i + 1) >= self.source.size:
            self.source.note(RepairKind.TRAILING_COMMA, i)
        return i + 1

    def _scalar(self, i: int) -> int:
        if self._containers and i == self.source.content_end - 1 and self.source.text[i] in QUOTES:
            self.source.note(RepairKind.STRAY_TEXT, i)
            return i + 1
        if self.reader.strings.opens(i):
            if self.prose and not self._fenced and self._ahead(i) is not None:
                return self._words(i)  # a quote in prose must not open a string that contains the JSON after it
            value, end = self.reader.strings.read(i, Context.ROOT)
            if self.source.at(self.source.gap(end)) == ":":
                return self._members(i, value)
            return self._add(value, end, container=False, solid=True)
        literal = self.reader.words.root(i)
        if literal is not None:
            return self._add(literal[0], literal[1], container=False, solid=True)
        return self._words(i)

    def _members(self, i: int, key: str) -> int:
        """Read `"key": value` at the top level: the object closed too early, or its opening brace is missing."""
        last = self.items[-1] if self.items else None
        if last and not self.prose and isinstance(last.value, dict) and last.value and key not in last.value:
            self.source.note(RepairKind.REDUNDANT_BRACKET, i)
            return structure.read_members(self.reader, i, last.value).end
        container = structure.read_members(self.reader, i)
        return self._add(container.value, container.end, container=True, solid=True)

    def _words(self, i: int) -> int:
        """Read unquoted text at the top level. It is prose when JSON follows, and otherwise the value itself."""
        source = self.source
        ahead = self._ahead(i)
        if ahead is not None:
            source.note(RepairKind.STRAY_TEXT, i)
            self.prose = True
            return ahead
        if self._containers:
            source.note(RepairKind.STRAY_TEXT, i)
            self.prose = True
            return source.size
        closed = source.text.endswith("}", 0, source.content_end)
        if not self.items and closed and "{" not in source.text and _MEMBER.match(source.text, i):
            return self._members(i, "")
        self._bare += 1
        end = source.line_end(i)
        comma = source.text.find(",", i, end)
        end = comma if comma >= 0 else end
        return self._add(source.text[i:end].strip(), end, container=False, solid=False)

    def _ahead(self, i: int) -> int | None:
        """The next position from `i` on with probable JSON or a code block."""
        source = self.source
        if i >= self._nothing_from:
            return None
        for match in _OPENING.finditer(source.text, i):
            if match.group() not in ("{", "[") or self._plausible(match.start()):
                return match.start()
        self._nothing_from = i
        return None

    def _plausible(self, i: int) -> bool:
        """Whether the bracket at `i` in prose opens JSON. The text after it decides."""
        source = self.source
        inner = source.gap(i + 1)
        c = source.at(inner)
        if _SUBSCRIPT.match(source.text, i) and i and (source.text[i - 1].isalnum() or source.text[i - 1] == "]"):
            return False
        if c == "" or self.reader.strings.opens(inner):
            return True
        if source.text[i] == "{":
            return c == "}" or _MEMBER.match(source.text, inner) is not None
        return _ELEMENT.match(source.text, inner) is not None

    def _fence(self, i: int, end: int) -> int:
        """Read a code fence. Its content counts when it may be JSON. Blocks of other code are skipped."""
        source = self.source
        source.note(RepairKind.CODE_FENCE, i)
        if self._fenced:
            self._fenced = False
            return end
        label = FENCE_LABEL.match(source.text, end) or INLINE_LABEL.match(source.text, end)
        name = label[1].lower() if label else ""
        content = source.gap(label.end() if label else end)
        if source.at(content) in _CONTENT_STARTS:
            self._fenced = True
            return content
        if name.startswith("json"):
            self._fenced = True
            return label.end() if label else end
        if name:
            closing = FENCE.search(source.text, content)
            return closing.end() if closing and self._ahead(closing.end()) is not None else content
        return content

    def _after_thoughts(self) -> int:
        """The start of the text after the reasoning that some models write before their answer."""
        i = 0
        while match := _THOUGHTS.match(self.source.text, i):
            end = self.source.text.find(f"</{match[1]}>", match.end())
            if end < 0:
                break
            i = end + len(match[1]) + 3
        return i

    def _add(self, value: Any, end: int, *, container: bool, solid: bool) -> int:
        after = self.source.gap(end)
        separated = after >= self.source.size or self.source.broken(end, after)
        self.items.append(_Item(value, container, solid, self._fenced, separated))
        self._containers += container
        return end

    def _result(self) -> Any:
        if self._bare and not self._containers:
            return self._plain_text()
        items = self._chosen()
        if not items:
            raise NotRepairable("not_repairable")
        if len(items) == 1:
            return items[0].value
        if self.reader.deepest >= MAX_DEPTH:
            raise NotRepairable("too_complex")
        self.source.note(RepairKind.MULTIPLE_VALUES, 0)
        return [item.value for item in items]

    def _chosen(self) -> list[_Item]:
        """The values that count, when there are several."""
        items = self.items
        containers = [item for item in items if item.container]
        if not containers or len(items) == 1:
            return items
        if self.prose or any(item.fenced for item in items):
            pool = [item for item in items if item.fenced] or containers
            solid = [item for item in pool if item.solid]
            return solid or [max(pool, key=_extent)]
        items = [item for item in items if item.solid or not (item.container and isinstance(item.value, str))]
        solid = [item for item in items if item.solid or item.separated or not item.value]
        return solid or items

    def _plain_text(self) -> Any:
        """The value of a text without JSON: one string, or an array of its words."""
        source = self.source
        text = source.text.strip()
        if not any(c.isalnum() for c in text):
            raise NotRepairable("not_repairable")
        words = [item.value for item in self.items]
        if _is_prose(text, words):
            raise NotRepairable("not_repairable")
        source.note(RepairKind.UNQUOTED_STRING, 0)
        if len(words) == 1:
            word = words[0]
            return word[:-1] if word[-1] in QUOTES and word.count(word[-1]) == 1 else word
        if any(isinstance(word, str) and len(word.split()) > 1 for word in words):
            return text
        return words


def _is_prose(text: str, pieces: list[Any]) -> bool:
    """Whether a text is a sentence or more: several words with a full stop, or more than a few words that nothing divides.

    Args:
        pieces: the text, divided at line breaks and commas.
    """
    if all(isinstance(piece, str) and (_MEMBER.match(piece) or len(piece.split()) == 1) for piece in pieces):
        return text[-1] in _WIDE_SENTENCE_END
    words = len(text.split())
    return words > _FEW_WORDS or (words > 1 and text[-1] in _SENTENCE_END)


def _extent(item: _Item) -> int:
    """The size of a value, for choosing among uncertain ones."""
    return len(item.value) if isinstance(item.value, dict | list) else -1
