"""Removes what was put around a whole document: quotes, or the escapes of an enclosing string."""

import html
import re
from collections.abc import Sequence

from jobs.json_repair.result import RepairKind
from jobs.json_repair.source import Source

_LEVELS = 4
"""How often a document may have been encoded as a string. Each level is one pass over the text."""

_GUARD = re.compile(r"\s*+(?:\)\]\}',?+|(?:while|for)\s*+\(\s*+(?:1|true|;;)\s*+\)\s*+(?:;|\{\s*+\}))\s*+")
"""Texts that servers put before JSON so that no page can run it as a script."""
_QUOTED_LINE = re.compile(r"^[ \t]*+>++[ \t]?+", re.MULTILINE)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_PIECE = re.compile(r"(\\++)(.?)|[^\\]++", re.DOTALL)
_OUTER = re.compile(r"\s*+(?>(?:[bBuU](?=[\"']))?)([\"'`])\s*+[{\[]")
_ODD_FENCE = re.compile(r"\s*+(\"{3}|'{3}|``(?!`))(?>(?:json)?)\s*+(?=[{\[])", re.IGNORECASE)
_BARE_QUOTE = re.compile(r'(?<!\\)"')
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ENTITY_QUOTED = re.compile(
    r"\s*+(?:<[a-z]{1,8}[^>]{0,100}+>\s*+){0,4}(?>[\[{]|&(?>(?:amp;)*)(?:#123|#x7b|#91|#x5b|lcub|lsqb);)+"
    r"\s*+&(?>(?:amp;)*)(?:quot|apos|#34|#39|#x22|#x27);",
    re.IGNORECASE,
)
"""A document whose first string has an entity as its quote."""
_WIDE = {"\uff0c": ",", "\uff1a": ":", "\uff1b": ";", "\u3001": ","}
_WIDE_SEPARATOR = re.compile(
    r"""(?:"(?>(?:[^"\\]++|\\.)*)"?|'(?>(?:[^'\\]++|\\.)*)'?|[\u201c\u201d][^\u201d]*+\u201d?|[}\]0-9]|(?:true|false|null))\s*+"""
    r"""(?>(?:([\uff0c\uff1a\uff1b\u3001]))?)""",
    re.DOTALL,
)
"""Characters outside of complete strings that may follow a value or key."""
_AFTER_WIDE = re.compile(r"""\s*+(?:[{\[}\]"'\u201c\u201d0-9-]|true|false|null|True|False|None|$)""")
_BEFORE_STRING = "{[,:("


def unwrap(source: Source) -> Source:
    """The inner document, or the same source when nothing is around it. Offsets stay those of the outer text."""
    if "&" in source.text:
        source = _without_entities(source)
    source = _without_outer_quotes(_without_odd_fence(_without_line_marks(_without_guard(source))))
    for _ in range(_LEVELS):
        inner = _unescaped(source)
        if inner is source:
            break
        source = inner
    return _with_ascii_separators(source)


def _without_entities(source: Source) -> Source:
    """Replace HTML entities, when the quotes of the document are some: `{&quot;a&quot;: &quot;x &amp;amp; y&quot;}`.

    A document with quotes of its own may have entities in its strings, which stay.
    """
    for _ in range(_LEVELS):
        text = source.text
        if "&" not in text or '"' in text or not _ENTITY_QUOTED.match(text):
            break
        pieces: list[str] = []
        origins: list[int] = []
        end = 0
        for entity in _ENTITY.finditer(text):
            pieces += [text[end : entity.start()], html.unescape(entity.group())]
            origins += [*range(end, entity.start()), *[entity.start()] * len(pieces[-1])]
            end = entity.end()
        source.note(RepairKind.HTML_ENTITY, _ENTITY.search(text).start())  # type: ignore[union-attr]
        source = _derived(source, "".join([*pieces, text[end:]]), [*origins, *range(end, len(text))])
    return source


def _without_guard(source: Source) -> Source:
    """Remove `)]}',` or `while(1);` or `for(;;);` at the start."""
    match = _GUARD.match(source.text)
    if not match:
        return source
    source.note(RepairKind.STRAY_TEXT, 0)
    return _derived(source, source.text[match.end() :], range(match.end(), source.size))


def _without_line_marks(source: Source) -> Source:
    """Remove the `>` before every line of a quoted mail."""
    text = source.text
    if not text.lstrip().startswith(">"):
        return source
    marks = list(_QUOTED_LINE.finditer(text))
    if len(marks) < 2 or any(line.strip() and not line.lstrip().startswith(">") for line in text.split("\n")):
        return source
    source.note(RepairKind.STRAY_TEXT, marks[0].start())
    dropped = {i for mark in marks for i in range(*mark.span())}
    kept = [i for i in range(source.size) if i not in dropped]
    return _derived(source, "".join([text[i] for i in kept]), kept)


def _without_odd_fence(source: Source) -> Source:
    """Remove a code fence that consists of other marks: `'''json`, three double quotes or two backticks."""
    text = source.text
    match = _ODD_FENCE.match(text)
    if not match:
        return source
    end = source.content_end
    if text.endswith(match[1], match.end(), end):
        end -= len(match[1])
    source.note(RepairKind.CODE_FENCE, match.start(1))
    return _derived(source, text[match.end() : end], range(match.end(), end))


def _without_outer_quotes(source: Source) -> Source:
    """Remove the quotes around a document with unescaped quotes: `'{"a": 1}'`, `"{""a"": 1}"`.

    A JSON string that contains JSON is not such a document. It stays a string.
    """
    text = source.text
    match = _OUTER.match(text)
    if not match:
        return source
    quote, start = match[1], match.end(1)
    end = len(text.rstrip().rstrip(";").rstrip()) - 1
    if end <= start or text[end] != quote or text[start:end].rstrip()[-1:] not in ("}", "]"):
        return source
    first = text.find(quote, start, end)
    while quote != '"' and first > 0 and text[first - 1] == "\\":
        first = text.find(quote, first + 1, end)
    if (first < 0 and quote == '"') or (first >= 0 and text[start:first].rstrip()[-1:] not in _BEFORE_STRING):
        return source
    source.note(RepairKind.ESCAPED, match.start(1))
    pairs = [pair.start() for pair in re.finditer('""', text[start:end])] if quote == '"' else []
    if pairs and 2 * len(pairs) == text.count('"', start, end):
        dropped = {start + pair for pair in pairs}
        kept = [i for i in range(start, end) if i not in dropped]
        return _derived(source, "".join([text[i] for i in kept]), kept)
    return _derived(source, text[start:end], range(start, end))


def _unescaped(source: Source) -> Source:
    """Remove one level of escapes, when every quote is escaped: `{\\"a\\": \\"say \\\\\\"hi\\\\\\"\\"}`.

    The first quote shows the level. Quotes with more backslashes are inside strings and keep some.
    """
    text = source.text
    first = text.find('"')
    if first < 1 or text[first - 1] != "\\" or _BARE_QUOTE.search(text):
        return source
    before = text[:first].rstrip("\\")
    level = first - len(before)
    if not _opens_string(before):
        return source
    source.note(RepairKind.ESCAPED, first - level)
    pieces: list[str] = []
    origins: list[int] = []
    for match in _PIECE.finditer(text):
        if match[1] is None:
            pieces.append(match.group())
            origins += range(*match.span())
        else:
            piece = _piece(len(match[1]), match[2], level)
            pieces.append(piece)
            origins += [match.start()] * len(piece)
    return _derived(source, "".join(pieces), origins)


def _with_ascii_separators(source: Source) -> Source:
    """Replace the full-width `,` and `:` of Chinese and Japanese keyboards, where they separate values and keys."""
    text = source.text
    if text.isascii() or not any(separator in text for separator in _WIDE):
        return source
    pieces: list[str] = []
    end = 0
    for match in _WIDE_SEPARATOR.finditer(text):
        if match[1] is None or not _AFTER_WIDE.match(text, match.end()):
            continue
        source.note(RepairKind.WRONG_SEPARATOR, match.start(1))
        pieces += [text[end : match.start(1)], _WIDE[match[1]]]
        end = match.end(1)
    if not pieces:
        return source
    inner = Source("".join([*pieces, text[end:]]), source.origins)
    inner.repairs = source.repairs
    return inner


def _opens_string(before: str) -> bool:
    """Whether a string may begin after this text: after a bracket, comma or colon, and not inside a `'` string."""
    end = len(before)
    while end and (before[end - 1].isspace() or before.endswith(("\\n", "\\t", "\\r"), 0, end)):
        end -= 1 if before[end - 1].isspace() else 2
    if end == 0:
        return True
    apostrophe = before.rfind("'", 0, end)
    within = apostrophe >= 0 and (before[:apostrophe].rstrip() or "[")[-1] in _BEFORE_STRING
    return before[end - 1] in _BEFORE_STRING and not within


def _piece(backslashes: int, c: str, level: int) -> str:
    """What a run of backslashes and the next character become, one level further out."""
    if c == '"':
        outermost = (level - 1) // 2
        kept = outermost if backslashes <= level else max((backslashes - 1) // 2, outermost + 1)
        return "\\" * kept + c
    if backslashes % 2 == 0:
        return "\\" * (backslashes // 2) + c
    if c == "u":
        return "\\" * (backslashes // 2 + 1) + c  # the strings decide, because it may be a quote
    return "\\" * (backslashes // 2) + _LETTERS.get(c, c)


def _derived(source: Source, text: str, origins: Sequence[int]) -> Source:
    """A source for part of another one's text, with the same list of repairs."""
    if source.origins is not None:
        outer = source.origins
        origins = [outer[i] for i in origins]
    inner = Source(text, origins)
    inner.repairs = source.repairs
    return inner
