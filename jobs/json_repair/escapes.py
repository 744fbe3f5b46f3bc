"""Decodes the backslash escapes of a string, correct or not."""

import re

from jobs.json_repair.result import RepairKind
from jobs.json_repair.source import Source

CONTROL = re.compile(r"[\x00-\x1f]")

_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_HEX2 = re.compile(r"x[0-9a-fA-F]{2}")
_HALF_UNICODE = re.compile(r"u[0-9a-fA-F]{0,3}")
_UNESCAPED_BACKSLASH = re.compile(r"(?<!\\)(?>(?:\\\\)*)\\(?:[dwsA-Z]|[ac-eg-mo-qvy-z][a-z]{2}|u(?![0-9a-fA-F]{4}))")
_DRIVE = re.compile(r"[A-Za-z]:\\(?!\\)")
_COMMAND = re.compile(
    r"[bf]|(?:n(?:abla|e|eg|eq|ewline|ot|u)|t(?:ag|an|anh|au|ext[a-z]*+|frac|herefore|heta|ilde|imes|o|op|riangle)"
    r"|r(?:angle|ceil|eal|ef|floor|fo|ho|ight[a-z]*+|m))(?![a-zA-Z])"
)
"""Texts that look like JSON's escapes, but are not when the string has unescaped backslashes: LaTeX, and `\\b` of a regex."""
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def decode(source: Source, start: int, end: int) -> str:
    """Decode the text between two positions.

    An escape that JSON does not know loses its backslash, as in JSON5 and npm jsonrepair: `\\'` is `'`, `\\_` is `_`. But a
    string with `\\d`, `\\w`, `\\s`, a backslash before a capital, or a `\\u` without four digits comes from an author who never
    escaped backslashes (a regex, LaTeX, a Windows path). There, every such backslash is kept, also in `\\b`, `\\f` and commands
    like `\\right`. `\\x41` is `A`. A `\\u` escape, or half a pair, that the end of the text cuts off is dropped. A lone
    surrogate becomes U+FFFD.
    """
    text = source.text
    control = CONTROL.search(text, start, end)
    if control:
        source.note(RepairKind.CONTROL_CHARACTER, control.start())
    first = text.find("\\", start, end)
    if first < 0:
        return text[start:end]
    drive = _DRIVE.match(text, start, end)
    keep = _UNESCAPED_BACKSLASH.search(text, first, _without_cut_escape(source, start, end)) is not None
    keep = keep or (drive is not None and _is_folder(source, end))
    parts = [text[start:first]]
    i = first
    while i < end:
        piece, i = _escape(source, i, end, keep, path=keep and drive is not None)
        if not piece and i == end:
            parts[-1] = parts[-1].rstrip()  # a string that is cut off ends without the blanks before the cut
        parts.append(piece)
        following = text.find("\\", i, end)
        if following < 0:
            parts.append(text[i:end])
            break
        parts.append(text[i:following])
        i = following
    value = "".join(parts)
    if end >= source.content_end and "\ud800" <= value[-1:] <= "\udbff":
        source.note(RepairKind.TRUNCATED, first)
        value = value[:-1]  # the text ends before the other half of the pair
    return _join_surrogates(source, value, first)


def _escape(source: Source, i: int, end: int, keep: bool, *, path: bool) -> tuple[str, int]:
    """Decode the escape whose backslash is at `i`. Returns its text and its end."""
    text = source.text
    c = text[i + 1] if i + 1 < end else ""
    if (path and (c.isalpha() or (not c and _is_folder(source, end)))) or (keep and _COMMAND.match(text, i + 1, end)):
        source.note(RepairKind.INVALID_ESCAPE, i, "\\\\", before="\\")
        return "\\", i + 1
    if c in _SIMPLE:
        return _SIMPLE[c], i + 2
    if c == "u" and _HEX4.match(text, i + 2, end):
        return chr(int(text[i + 2 : i + 6], 16)), i + 6
    if not c or _is_cut(source, i, end):
        source.note(RepairKind.TRUNCATED, i)
        return "", end
    is_hex = c == "x" and _HEX2.match(text, i + 1, end) is not None
    if keep and not is_hex and c not in "'`\n":
        source.note(RepairKind.INVALID_ESCAPE, i, "\\\\", before="\\")
        return "\\" + c, i + 2
    source.note(RepairKind.INVALID_ESCAPE, i)
    if is_hex:
        return chr(int(text[i + 2 : i + 4], 16)), i + 4
    return ("" if c == "\n" else c), i + 2  # a line that ends in a backslash continues


def _is_folder(source: Source, end: int) -> bool:
    """Whether the path before the end quote at `end` ends in a single backslash, and not in an escaped one."""
    return end < source.content_end and source.text.endswith("\\", 0, end) and not source.text.endswith("\\\\", 0, end)


def _is_cut(source: Source, i: int, end: int) -> bool:
    """Whether the end of the text cuts off the `\\u` escape at `i`."""
    if end < source.content_end:
        return False
    match = _HALF_UNICODE.match(source.text, i + 1, end)
    return match is not None and match.end() == end


def _without_cut_escape(source: Source, start: int, end: int) -> int:
    """The end, or the start of a `\\u` escape that the end of the text cuts off. Such an escape proves nothing."""
    last = source.text.rfind("\\", start, end)
    return last if last >= 0 and _is_cut(source, last, end) else end


def _join_surrogates(source: Source, text: str, at: int) -> str:
    """Join surrogates that were escaped one by one. A lone one becomes U+FFFD."""

    def joined(match: re.Match[str]) -> str:
        pair = match.group()
        if len(pair) == 2:
            return chr(0x10000 + ((ord(pair[0]) - 0xD800) << 10) + (ord(pair[1]) - 0xDC00))
        source.note(RepairKind.LONE_SURROGATE, at)
        return "\ufffd"

    return _SURROGATES.sub(joined, text)
