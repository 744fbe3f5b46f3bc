"""IPv4 addresses in dotted form. A port or prefix length behind one stays.

Leading zeros are accepted ("010.000.000.001"): log files pad with them, and whether they mean octal does not matter here.
"""

from __future__ import annotations

from jobs.pii.labels import Label, Labels
from jobs.pii.linear import compiled
from jobs.pii.spans import Span
from jobs.pii.surroundings import joins, joins_before, word_before

_DOTTED = compiled(r"\d+(?:\.\d+)+")
_VERSION_SUFFIX = compiled(
    r"(?i)[-+~](?:alpha|beta|rc|snapshot|release|final|dev|pre|post|nightly|build|ga|sp|deb|ubuntu|el|fc|r)\d*(?:[^a-z]|$)"
)
_FILE_SUFFIX = compiled(
    r"(?i)\.(?:tar|t?gz|bz2|xz|zip|7z|jar|war|whl|exe|msi|dmg|pkg|deb|rpm|apk|ipa|so|dll|dylib|nupkg|gem|iso|img|bin|js|css|pdf)"
    r"(?:[^a-z]|$)"
)
_RANGE = compiled(r"(?i) ?(?:->|→) ?| (?:to|and|or|through|bis|und) ")
"""What stands between two versions. After a comma there may be an address as well."""
_PRODUCTS = frozenset(
    (
        *(
            "chrome",
            "chromium",
            "headlesschrome",
            "crios",
            "edg",
            "edge",
            "edga",
            "edgios",
            "opr",
            "opera",
            "safari",
            "version",
        ),
        *(
            "firefox",
            "fxios",
            "vivaldi",
            "yabrowser",
            "samsungbrowser",
            "ucbrowser",
            "brave",
            "electron",
            "webkit",
            "java",
            "go",
        ),
        *("applewebkit", "whatsapp", "instagram", "curl", "wget", "python", "okhttp", "dalvik"),
    )
)
"""What stands before the slash of a version in a user agent."""


def find(text: str, labels: Labels) -> list[Span]:
    """The addresses in a text."""
    found = []
    version_end = -1
    for match in _DOTTED.finditer(text):
        start, end = match.start(), match.end()
        if not is_address(match[0] or "") or _is_part(text, start, end):
            continue
        follows_version = version_end >= 0 and _RANGE.fullmatch(text[version_end : min(start, version_end + 12)])
        if follows_version or _is_version(text, start, end, labels):
            version_end = end
        else:
            found.append(Span(start, end, "ipv4"))
    return found


def is_address(dotted: str) -> bool:
    """Whether dotted digits are four numbers that fit into a byte each."""
    parts = dotted.split(".")
    return len(parts) == 4 and all(len(part) <= 3 and int(part) <= 255 for part in parts)


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether more of a name or of a dotted number stands around it."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if joins_before(text, start) or joins(after):
        return True
    return before == "." and text[start - 2 : start - 1] != "."


def _is_version(text: str, start: int, end: int, labels: Labels) -> bool:
    if labels.before(start) is Label.VERSION:
        return True
    rest = text[end : end + 12]
    if _VERSION_SUFFIX.match(rest):
        return True
    before = text[start - 1 : start]
    if before == "/":
        return word_before(text, start - 1).lower() in _PRODUCTS
    return before in ("-", "_") and text[start - 2 : start - 1].isalpha() and _FILE_SUFFIX.match(rest) is not None
