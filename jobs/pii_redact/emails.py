"""Finds e-mail addresses: local parts of any script, quoted ones, internationalised domains, address literals.

From each `@` (or `%40`, as in URLs) the search goes to both sides, over everything that RFC 5321 and 6531 allow there. The
ranges of two `@` do not overlap. Then text around the address from URLs, key=value pairs, quotes and tables is cut off, because
most of the signs that RFC 5322 allows in a local part are rarely part of one.
"""

import unicodedata
from collections.abc import Iterator

from jobs.engines.text.linear import compiled
from jobs.pii_redact.spans import Span
from jobs.pii_redact.surroundings import is_escape, is_latin

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_LOCAL = _LETTERS | frozenset("!#$%&'*+/=?^_`{|}~.-")
_DOMAIN = _LETTERS | frozenset("-_.")
_MOST_QUOTED = 66
"""64 octets for a local part (RFC 5321), and two quotes."""

_AT = compiled("@|%40")
_LITERAL = compiled(r"\[(?:IPv6:[0-9A-Fa-f:.]{2,45}|\d{1,3}(?:\.\d{1,3}){3})\]")
_REMOTE_ACCOUNTS = ("git", "hg", "svn")
_FORGES = (
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "ssh.dev.azure.com",
    "gitee.com",
    "git.sr.ht",
    "gitea.com",
)
"""Hosts of repositories, where these accounts belong to nobody."""
_ESCAPE = compiled("u[0-9a-fA-F]{4}")
"""The text after the backslash, where JSON escapes an angle bracket."""
_KEY = compiled(r"[A-Za-z_][A-Za-z0-9_.-]*=")
_VERSION = compiled(r"(?i)v?\d+(?:\.\d+)+(?:[.-].*)?|v?\d+(?:[.-].*)?\.(?:alpha|beta|rc|canary|next|nightly|snapshot)")
_IMAGE_SCALE = compiled(r"(?i)\d+(?:\.\d+)?x(?:~[a-z]+)?\.(?:png|jpe?g|gif|webp|svg|pdf|avif|heic|bmp|tiff?)")
_NEXT_SENTENCE = compiled(r"(.*\.(?:com|org|net|edu|gov|info|io|[a-z]{2}))\.[A-Z][a-z]+")
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x31FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF))
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese: no space separates a word from the address after it."""


def find(text: str) -> list[Span]:
    """Find the addresses in a text."""
    found: list[Span] = []
    limit = 0
    for start, end in _signs(text):
        after = _domain_end(text, end)
        if not after:
            continue
        is_encoded = end - start > 1
        before = _local_start(text, start, limit)
        if before is not None:
            if not _is_remote(text, before, start, after):
                found.append(Span(before, after, "email"))
            limit = after
        elif is_encoded:
            limit = end
    return found


def _is_remote(text: str, before: int, at: int, after: int) -> bool:
    """Whether an address is the account and the host of a repository: git@github.com:acme/shop.git, ssh://hg@host/acme."""
    if text[before:at] not in _REMOTE_ACCOUNTS:
        return False
    rest = text[after : after + 2]
    return text[at + 1 : after].lower() in _FORGES or (rest[:1] in (":", "/") and rest[1:].strip() != "")


def _signs(text: str) -> Iterator[tuple[int, int]]:
    if "@" not in text and "%40" not in text:
        return iter(())
    return ((match.start(), match.end()) for match in _AT.finditer(text))


def _local_start(text: str, at: int, limit: int) -> int | None:
    """The start of the local part before a position, not before `limit`. None when there is none."""
    if text[at - 1 : at] == '"':
        opening = text.rfind('"', max(limit, at - _MOST_QUOTED), at - 1)
        while opening > 0 and text[opening - 1] == "\\":
            opening = text.rfind('"', max(limit, at - _MOST_QUOTED), opening)
        return opening if 0 <= opening < at - 2 and "\n" not in text[opening:at] else None
    start = at
    while start > limit and _belongs(text[start - 1], _LOCAL):
        start -= 1
    if start + 1 < at and is_escape(text, start):
        start += 1
    elif text[start - 1 : start] == "\\" and (escape := _ESCAPE.match(text[start : min(at - 1, start + 5)])):
        start += escape.end()
    local = _without_wrapping(text[start:at], is_in_brackets=text[start - 1 : start] == "<")
    return at - len(local) if local else None


def _belongs(char: str, ascii_chars: frozenset[str]) -> bool:
    return char in ascii_chars if char.isascii() else unicodedata.category(char)[0] in "LMN"


def _without_wrapping(local: str, *, is_in_brackets: bool) -> str:
    """The actual local part. In angle brackets `bounce-user=example.com` is one, and elsewhere a key with a value."""
    if "//" in local or local.startswith("/"):
        local = local[local.rfind("/") + 1 :]
    if "=" in local and any(mark in local for mark in "?&#"):
        local = local[max(local.rfind(mark) for mark in "?&#=") + 1 :]
    if local.count("=") == 1 and (key := _KEY.match(local)) and not (is_in_brackets and "-" in (key[0] or "")):
        local = local[key.end() :]
    local = local[max(local.rfind(mark) for mark in "|`{}*") + 1 :]
    quote = local.rfind("'")
    if quote == 0 or (quote > 0 and not local[quote - 1].isalnum()):
        local = local[quote + 1 :]
    if not local.isascii() and local[-1] in _LETTERS:
        local = local[max((place for place, char in enumerate(local) if _is_unspaced(char)), default=-1) + 1 :]
    return local.lstrip(".-~")


def _is_unspaced(char: str) -> bool:
    code = ord(char)
    return code >= 0x20000 or any(first <= code <= last for first, last in _UNSPACED)


def _domain_end(text: str, start: int) -> int:
    """The end of the domain that starts at a position; 0 when there is none."""
    if text[start : start + 1] == "[":
        literal = _LITERAL.match(text[start : start + 60])
        return start + literal.end() if literal else 0
    end = start
    while end < len(text) and _belongs(text[end], _DOMAIN):
        end += 1
    labels = text[start:end].split(".")
    good = next((count for count, label in enumerate(labels) if label[:1] in ("", "-")), len(labels))
    while good >= 2 and not _top_level_length(labels[good - 1]):
        good -= 1
    if good < 2:
        return 0
    domain = ".".join((*labels[: good - 1], labels[good - 1][: _top_level_length(labels[good - 1])]))
    if _VERSION.fullmatch(domain) or _IMAGE_SCALE.fullmatch(domain):
        return 0
    sentence = _NEXT_SENTENCE.fullmatch(domain)
    return start + len(domain if sentence is None else sentence[1] or "")


def _top_level_length(label: str) -> int:
    """How many characters of a label can be a top-level domain: two letters or more, Latin or not, but not mixed."""
    if label[:4].lower() == "xn--":
        return len(label) if len(label) > 5 else 0
    latin = is_latin(label[:1])
    length = 0
    for char in label:
        if char.isalpha():
            if is_latin(char) != latin:
                break
        elif unicodedata.category(char)[0] != "M":
            break
        length += 1
    return length if length >= 2 else 0
