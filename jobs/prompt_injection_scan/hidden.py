"""Finds invisible characters without a legitimate reason, and decodes what they say."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from jobs.prompt_injection_scan import invisible, mixed_names, payloads
from jobs.prompt_injection_scan.code_lines import CodeLines
from jobs.prompt_injection_scan.labels import Severity

_CLUSTER_GAP = 12
"""The most characters between two invisible ones of one cluster."""
_CLUSTER = 3
"""With fewer invisible characters, words were probably copied from a page that let them wrap."""
_LONG = 4
"""A shorter run of invisible characters is probably left over from editing."""
_HYPHENS = 4
_SYLLABLE = 2
"""Letters between soft hyphens that only separate syllables: `re-ge-ne-ra-ti-ve`."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Invisible characters without a reason.

    Attributes:
        rule: the rule of rules/hidden_unicode.toml that describes them.
        decoded: their hidden text; None when they have none.
    """

    rule: str
    severity: Severity
    start: int
    end: int
    decoded: str | None = None


def find(text: str) -> list[Hidden]:
    """Find the hidden characters of a text, in order. None of them is ASCII."""
    if text.isascii():
        return []
    concerns = {sign for sign in set(text) if sign in _CONCERNS or invisible.is_private(sign)}
    places = [i for i, sign in enumerate(text) if sign in concerns] if concerns else []
    found: list[Hidden] = []
    single: list[int] = []
    for start, end, kind in _runs(text, places):
        if kind == "blank" and end - start == 1:
            single.append(start)
            continue
        hidden = _READERS[kind](text, start, end)
        if hidden is not None:
            found.append(hidden)
    code = CodeLines(text)
    found += _scattered(text, single, code)
    found += _bidi(text, [i for i in places if text[i] in invisible.BIDI], code)
    found += [
        Hidden("mixed-script-name", Severity.MEDIUM, start, end)
        for start, end in mixed_names.places(text)
        if code.holds(start)
    ]
    return sorted(found, key=lambda hidden: (hidden.start, hidden.end, hidden.rule))


_CONCERNS = invisible.TAGS | invisible.SELECTORS | invisible.BLANK | invisible.BIDI


def _kind(sign: str) -> str:
    if sign in invisible.TAGS:
        return "tags"
    if sign in invisible.SELECTORS:
        return "selectors"
    if sign in invisible.BLANK:
        return "blank"
    return "bidi" if sign in invisible.BIDI else "private"


def _runs(text: str, places: list[int]) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of neighbours of one kind, without bidirectional controls."""
    start = 0
    for i, place in enumerate(places):
        kind = _kind(text[place])
        following = places[i + 1] if i + 1 < len(places) else -1
        if following == place + 1 and _kind(text[following]) == kind:
            continue
        if kind != "bidi":
            yield places[start], place + 1, kind
        start = i + 1


def _tags(text: str, start: int, end: int) -> Hidden | None:
    if start and invisible.is_flag(text[start - 1], text[start:end]):
        return None
    return Hidden("hidden-tags", Severity.HIGH, start, end, payloads.from_tags(text[start:end]) or None)


def _selectors(text: str, start: int, end: int) -> Hidden | None:
    run = text[start:end]
    base = text[start - 1] if start else ""
    if set(run) <= invisible.PRESENTATION and len(run) <= _LONG:
        return None
    if len(run) == 1:
        expected = invisible.is_ideograph(base) if run >= "\U000e0100" else base != "" and not base.isascii()
        return None if expected else Hidden("hidden-selectors", Severity.LOW, start, end)
    decoded = payloads.from_selectors(run)
    severity = Severity.HIGH if decoded or len(run) >= 2 * _LONG else Severity.MEDIUM
    return Hidden("hidden-selectors", severity, start, end, decoded)


def _blank(text: str, start: int, end: int) -> Hidden | None:
    """A run of two or more blank characters."""
    run = text[start:end]
    before, after = text[start - 1 : start], text[end : end + 1]
    if before and invisible.joins(before) and len(run) < 2 * _LONG and payloads.from_bits(run) is None:
        return None
    if invisible.is_jamo(before) or invisible.is_jamo(after) or set(run) <= {"\u115f", "\u1160"}:
        return None
    decoded = payloads.from_bits(run)
    if decoded is not None:
        return Hidden("hidden-zero-width", Severity.HIGH, start, end, decoded)
    rule = "hidden-zero-width"
    if set(run) == {invisible.SOFT_HYPHEN}:
        rule = "hidden-soft-hyphens"
    elif set(run) <= invisible.FILLERS:
        rule = "hidden-fillers"
    # Newsletters fill their first line with one of each kind, between blanks.
    padding = not before.strip() and not after.strip() and len(set(run)) == len(run)
    return Hidden(rule, Severity.LOW if padding or len(run) < _LONG else Severity.MEDIUM, start, end)


def _private(text: str, start: int, end: int) -> Hidden | None:
    """A run of private-use characters. Icon fonts leave single ones in copied text."""
    if end - start < _CLUSTER:
        return None
    severity = Severity.MEDIUM if end - start >= 2 * _LONG else Severity.LOW
    return Hidden("hidden-private-use", severity, start, end)


_READERS = {"tags": _tags, "selectors": _selectors, "blank": _blank, "private": _private}


def _scattered(text: str, single: list[int], code: CodeLines) -> Iterator[Hidden]:
    """Single characters that repeatedly break up words, or once a name in a program."""
    breaking = [i for i in single if breaks_word(text, i)]
    for cluster in _clusters([i for i in breaking if text[i] != invisible.SOFT_HYPHEN], _CLUSTER_GAP):
        if len(cluster) >= _CLUSTER:
            decoded = payloads.from_bits("".join(text[i] for i in cluster))
            severity = Severity.HIGH if decoded else Severity.MEDIUM
            yield Hidden("hidden-zero-width", severity, cluster[0], cluster[-1] + 1, decoded)
        else:
            yield from (Hidden("hidden-zero-width", Severity.MEDIUM, i, i + 1) for i in cluster if code.holds(i))
    for cluster in _clusters([i for i in breaking if text[i] == invisible.SOFT_HYPHEN], _SYLLABLE - 1):
        if len(cluster) >= _HYPHENS:
            yield Hidden("hidden-soft-hyphens", Severity.MEDIUM, cluster[0], cluster[-1] + 1)
        else:
            yield from (Hidden("hidden-soft-hyphens", Severity.MEDIUM, i, i + 1) for i in cluster if code.holds(i))
    for i in single:
        beside = text[i - 1 : i] + text[i + 1 : i + 2]
        if text[i] in "\u3164\uffa0" and not any(map(invisible.is_jamo, beside)):
            yield Hidden("hidden-fillers", Severity.LOW, i, i + 1)


def breaks_word(text: str, i: int) -> bool:
    """Whether a single invisible character is inside a word that needs none."""
    return 0 < i < len(text) - 1 and _in_word(text[i - 1]) and _in_word(text[i + 1])


def _in_word(sign: str) -> bool:
    return sign == "_" or invisible.is_spelled(sign)


def _clusters(places: list[int], gap: int) -> Iterator[list[int]]:
    cluster = places[:1]
    for before, place in pairwise(places):
        if place - before > gap + 1:
            yield cluster
            cluster = []
        cluster.append(place)
    if cluster:
        yield cluster


def _bidi(text: str, places: list[int], code: CodeLines) -> Iterator[Hidden]:
    """Checks each line: an override is never needed; embeddings and isolates that close in their line are ordinary, and so is
    one embedding left over from a copied path. What stays open in a program shows another program than it is."""
    line: list[int] = []
    for i, place in enumerate(places):
        line.append(place)
        following = places[i + 1] if i + 1 < len(places) else len(text)
        if i + 1 == len(places) or "\n" in text[place:following]:
            controls = [text[at] for at in line]
            if any(sign in invisible.OVERRIDES for sign in controls):
                yield Hidden("hidden-bidi", Severity.MEDIUM, line[0], line[-1] + 1)
            elif not _balanced(controls):
                if code.holds_near(line[0]):
                    yield Hidden("hidden-bidi", Severity.MEDIUM, line[0], line[-1] + 1)
                elif len(line) > 1 or controls[0] in invisible.ISOLATES:
                    yield Hidden("hidden-bidi", Severity.LOW, line[0], line[-1] + 1)
            line = []


def _balanced(controls: list[str]) -> bool:
    depth = {"\u202c": 0, "\u2069": 0}
    for sign in controls:
        closing = sign if sign in depth else "\u202c" if sign in invisible.EMBEDDINGS else "\u2069"
        depth[closing] += -1 if sign in depth else 1
        if depth[closing] < 0:
            return False
    return not any(depth.values())
