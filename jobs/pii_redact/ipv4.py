"""Finds IPv4 addresses in dotted form. A port or prefix length after an address stays.

Leading zeros are accepted ("010.000.000.001"), because log files use them. Whether they mean octal does not matter here.
"""

from collections.abc import Iterable

from jobs.engines.text.linear import compiled
from jobs.pii_redact import software
from jobs.pii_redact.labels import Label, Labels
from jobs.pii_redact.spans import Span
from jobs.pii_redact.surroundings import is_latin, joins, joins_before

_DOTTED = compiled(r"\d+(?:\.\d+)+")
_VERSION_SUFFIX = compiled(
    r"(?i)[-+~]\d*(?:alpha|beta|rc|snapshot|release|final|dev|pre|post|nightly|build|ga|sp|py|deb|ubuntu|el|fc|r)\d*(?:[^a-z]|$)"
)
_FILE_SUFFIX = compiled(
    r"(?i)\.(?:tar|t?gz|bz2|xz|zip|7z|jar|war|whl|exe|msi|dmg|pkg|deb|rpm|apk|ipa|so|dll|dylib|nupkg|gem|iso|img|bin|js|css|pdf)"
    r"(?:[^a-z]|$)"
)
_RANGE = compiled(r"(?i) ?(?:->|→) ?| (?:to|and|or|through|bis|und) | \((?:from|was) |, ?[<!]=? ?")
"""Text between two versions. After a comma there may also be an address."""
_NETWORKS = frozenset(("10", "127", "172", "192"))
"""First numbers of private networks. Few packages have such a version."""
_HOST = compiled(
    r"(?is).*(?:ip|ipv|addr|address|host|src|dst|source|dest|destination|server|client|peer|remote|local|gateway|router|dns|net"
    r"|network|subnet|node|target|origin|proxy|endpoint|hop|record|connection|request|traffic|socket|session|tunnel|link"
    r"|attempt|handshake|call|user)(?:s|es)?[0-9_-]*"
)
"""Words for something with an address, and endings of such names."""
_HEAD = 48
"""How many characters before a version are searched for the name of a package."""
_PESSIMISTIC = ("~=", "~> ", "~>")
_REQUIREMENT = compiled(r"(?s)(?:.*[^\w.-])?([A-Za-z][\w.-]*)(?:[=<>!]=| \((?:[<>]?=|<<|>>) )")
_PACKAGE = compiled(r"(?s)(?:.*[^a-z0-9+.-])?[a-z][a-z0-9+.]*[-+0-9:][a-z0-9+.:-]* \(")
_DEBIAN_REVISION = compiled(r"-\d(?:[,) ]|\+b\d)")
_ARCHITECTURE = compiled(
    r"(?:-[0-9a-z.+~]+)?_(?:all|any|noarch|amd64|arm64|armhf|armel|i[36]86|x86|x64|aarch64|ppc64el|s390x|riscv64)"
)
_CHANGE = compiled(
    r"(?is)(?:.*\W)?(?:upgrad|downgrad|bump)[a-z]* (?:[`*]*([\w./@-]+)[`*]* )?to [`*]*"
    r"|(?:.*[^a-z])?(?:(?:introduced|fixed|deprecated) (?:in|since)|(?:backported|merged) (?:in|to|into)) [`*]*"
)
_CHANGE_FROM = compiled(r"(?is)(?:.*\W)?(?:upgrad|downgrad|bump)[a-z]* [`*]*([\w./@-]+)[`*]* from [`*]*")
_TO = compiled(r"[`*]* to [`*]*\d")
_OBJECT = compiled(r"(?is)(?:.*[^a-z])?(?:oids?|object ?identifier)[a-z0-9_]*['\"]?[ =:(]{1,4}['\"]?")
_OBJECT_ROOTS = ("0.", "1.", "2.")
_NUMBERED = compiled(r"(?is)(?:.*[^a-z])?(?:figure|fig\.?|step|requirement|equation|eq\.?|theorem|lemma|EC) ")


def find(text: str, labels: Labels, paths: Iterable[tuple[int, int]]) -> list[Span]:
    """Find the addresses in a text, outside of the ranges of `paths`."""
    drawn = bytearray(len(text))
    for start, end in paths:
        drawn[start:end] = b"\1" * (end - start)
    found = []
    version_end = -1
    for match in _DOTTED.finditer(text):
        start, end = match.start(), match.end()
        if drawn[start] or not is_address(match[0] or "") or _is_part(text, start, end):
            continue
        follows_version = version_end >= 0 and _RANGE.fullmatch(text[version_end : min(start, version_end + 12)])
        if follows_version or _is_version(text, start, end, labels):
            version_end = end
        else:
            found.append(Span(start, end, "ipv4"))
    return found


def is_address(dotted: str) -> bool:
    """Whether dotted digits are four numbers of one byte each."""
    parts = dotted.split(".")
    return len(parts) == 4 and all(len(part) <= 3 and int(part) <= 255 for part in parts)


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether more of a name or of a dotted number is beside it."""
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
    if before in ("-", "_") and text[start - 2 : start - 1].isalpha() and _FILE_SUFFIX.match(rest):
        return True
    is_private = text[start:end].partition(".")[0] in _NETWORKS
    rest = text[end : end + 24]
    if software.is_version(text[max(0, start - _HEAD) : start], rest, is_private=is_private):
        return True
    return not is_private and _is_of_package(text, start, rest)


def _is_of_package(text: str, start: int, rest: str) -> bool:
    """Whether a list of packages or changes gives the number as a version, or a document as a section."""
    head = text[max(0, start - _HEAD) : start]
    if head.endswith(_PESSIMISTIC) or _NUMBERED.fullmatch(head):
        return True
    if text.startswith(_OBJECT_ROOTS, start) and _OBJECT.fullmatch(head):
        return True
    if required := _REQUIREMENT.fullmatch(head):
        return _HOST.fullmatch(required[1] or "") is None
    if head.endswith("-"):
        return rest[:1] == "/" and rest[1:2].isalpha() and is_latin(head[-2:-1]) and not _HOST.fullmatch(head[:-1])
    if head.endswith("_"):
        return head[-2:-1].isalnum() and _ARCHITECTURE.match(rest) is not None
    if _PACKAGE.fullmatch(head):
        return _DEBIAN_REVISION.match(rest) is not None
    change = _CHANGE_FROM.fullmatch(head) if _TO.match(rest) else _CHANGE.fullmatch(head)
    return change is not None and rest[:1] != ":" and _HOST.fullmatch(change[1] or "") is None
