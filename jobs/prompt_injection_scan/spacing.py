"""Joins separated letters and words: `i g n o r e`, `i.g.n.o.r.e`, `ig-nore`, `ig<b></b>nore`; splits `ignoreallprevious`."""

from collections import Counter
from collections.abc import Iterator

from jobs.engines.text.layer import Layer
from jobs.engines.text.linear import Haystack, Pattern

_SEPARATORS = ".,-_*·•|/\\~+="
_APART = Pattern(r"(?:^|[^\pL\pN])((?:[\pL\pN@$][\s.,\-_*·•|/\\~+=]{1,4}){5,}[\pL\pN@$])(?:$|[^\pL\pN])")
_SPLIT = Pattern(r"\pL([\-_*·•~^`\\]{1,2}|-[ \t]?\r?\n[ \t]*)\pL")
_TAGGED = Pattern(
    r"(?i)\pL((?:<!--[^<>]{0,100}-->|</?(?:b|em|font|i|mark|s|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]{0,100})?/?>){1,8})\pL"
)
"""Texts inside a word that a page does not show."""
_TOGETHER = Pattern(r"(?:^|[^\pL])([A-Za-z]{15,300})(?:$|[^\pL])")
_LONGEST_WORD = 16
_MOST = 20_000
"""How many letters are searched for words."""


def rejoined(layer: Layer) -> Layer:
    """Join separate letters to words, and words that a sign splits."""
    haystack = Haystack(layer.text)
    gaps: list[tuple[int, int]] = []
    for start, end in _APART.spans(haystack, len(layer.text)):
        gaps += _inside_words(layer.text, start, end)
    if any(sign in layer.text for sign in "-_*·•~^`\\"):
        gaps += _SPLIT.spans(haystack, len(layer.text))
    if "<" in layer.text:
        gaps += _TAGGED.spans(haystack, len(layer.text))
    return layer.without(_disjoint(gaps)) if gaps else layer


def _inside_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The separators between the letters of a word. The most frequent one is inside words; others are between words."""
    separators: list[tuple[int, int]] = []
    at = start + 1
    while at < end:
        following = at
        while text[following] in _SEPARATORS or text[following].isspace():
            following += 1
        separators.append((at, following))
        at = following + 1
    common = Counter(text[a:b] for a, b in separators).most_common(1)[0][0]
    for a, b in separators:
        between = text[a:b]
        if between == common or (len(between) <= len(common) and not between.isspace()):
            yield a, b


def _disjoint(gaps: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    done = 0
    for start, end in sorted(gaps):
        if start >= done:
            yield start, end
            done = end


def divided(layer: Layer, vocabulary: frozenset[str]) -> Layer:
    """Put blanks between words of the vocabulary that were run together."""
    pieces: list[tuple[int, int, str]] = []
    letters = 0
    for start, end in _TOGETHER.spans(Haystack(layer.text), len(layer.text)):
        letters += end - start
        if letters > _MOST:
            break
        cuts = _cuts(layer.text[start:end].lower(), vocabulary)
        pieces += ((start + cut, start + cut + 1, " " + layer.text[start + cut]) for cut in cuts)
    return layer.replaced(pieces) if pieces else layer


def _cuts(run: str, vocabulary: frozenset[str]) -> list[int]:
    """The starts of all words but the first: as few and as long words as possible, with as few letters outside as possible."""
    best: list[tuple[int, int]] = [(0, 0)]
    for end in range(1, len(run) + 1):
        options = [(best[end - 1][0] + 4, end - 1)]
        options += (
            (best[start][0] + 1, start)
            for start in range(max(0, end - _LONGEST_WORD), end - 1)
            if run[start:end] in vocabulary
        )
        best.append(min(options))
    cuts: list[int] = []
    at = len(run)
    while at > 0:
        at = best[at][1]
        cuts.append(at)
    return [cut for cut in reversed(cuts) if cut]
