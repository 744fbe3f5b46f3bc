"""The statistical layer: a linear model over a whole text. scripts/train-injection makes its weights.

The score of a text is the sum of the weights of its words, pairs of words and parts of words, each word and pair once,
divided by the square root of their number and `MORE`. In a longer text, windows of two sentences have scores as well, with
thresholds of their own: an attack of one sentence changes the score of a page only a little.
"""

import json
import math
import sys
import zlib
from array import array
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jobs.prompt_injection_scan.features import Sentence, of_pair, of_token, pairs, sentences
from jobs.prompt_injection_scan.labels import AttackCategory, Severity

FILE = Path(__file__).parent / "weights.bin"
"""One line of JSON (what it was made of, and the constants), and then the weights, two bytes each, compressed."""
WINDOW = 2
"""Sentences of a window."""
PIECE = 60
"""Sentences that are scored as one text. Longer texts are several."""
LONG = 7
"""Windows are scored in texts of so many sentences."""
MORE = 50
"""So many features without a weight are added to each score: a few words alone are little evidence."""
_MOST = 20
"""The most places of one text that are reported."""
_MOST_JUDGED = 200


@dataclass(frozen=True, slots=True)
class Place:
    """Two sentences that read like an attack, or weigh most in a text that does.

    Attributes:
        is_whole: the text reads so as a whole.
        is_long: the text has `LONG` sentences or more.
    """

    category: AttackCategory
    severity: Severity
    start: int
    end: int
    confidence: float
    is_whole: bool
    is_long: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model says of a text.

    Attributes:
        places: the likely attacks, which do not overlap, the likeliest first.
        doubtful: the text may be an attack, likely or not, or is too short to judge.
    """

    places: list[Place]
    doubtful: bool


@dataclass(frozen=True, slots=True)
class Model:
    """The weights and the constants.

    Attributes:
        weights: of each bucket, in units of `unit`.
        kinds: of each category, the weights of `len(kinds[...])` buckets. Only their differences count.
        slope, offset: turn the distance to the threshold of medium into a probability (Platt).
        whole, window: the least scores of low, medium and high, of a text and of a window.
        measured: for `short` and `long` texts, for each severity: the share of harmless texts and of attacks that reach it, in
            fits that have not seen their sources.
    """

    weights: "array[int]"
    kinds: "dict[AttackCategory, array[int]]"
    unit: float
    bias: float
    slope: float
    offset: float
    whole: list[float]
    window: list[float]
    measured: dict[str, dict[str, list[float]]]

    def read(self, text: str) -> Reading:
        """Judge a text, and the windows of a long one."""
        found = sentences(text)
        if not found:
            return Reading([], doubtful=False)
        weighed: dict[str, int] = {}
        numbers: dict[str, int] = {}
        sums, counts, whole = [0], [0], []
        for start in range(0, len(found), PIECE):
            piece = found[start : start + PIECE]
            rows = [list(dict.fromkeys(sentence.tokens)) for sentence in piece]
            tokens = {token for row in rows for token in row}
            for token in tokens - numbers.keys():
                buckets = of_token(token)
                weighed[token] = sum([self.weights[bucket] for bucket in buckets])
                numbers[token] = len(buckets)
            phrases = [pairs(sentence.tokens) for sentence in piece]
            of_pairs = {phrase: self.weights[of_pair(phrase)] for row in phrases for phrase in row}
            total = sum(map(weighed.__getitem__, tokens)) + sum(of_pairs.values())
            whole.append((self._score(total, sum(map(numbers.__getitem__, tokens)) + len(of_pairs)), start))
            for row, said in zip(rows, phrases, strict=True):
                sums.append(sums[-1] + sum(map(weighed.__getitem__, row)) + sum(map(of_pairs.__getitem__, said)))
                counts.append(counts[-1] + sum(map(numbers.__getitem__, row)) + len(said))
        return self._judged(found, sums, counts, whole)

    def _judged(
        self, found: list[Sentence], sums: list[int], counts: list[int], whole: list[tuple[float, int]]
    ) -> Reading:
        """Compare the scores of the pieces, and of the windows of a long text, with the thresholds.

        Parameters:
            sums, counts: of the weights of all sentences before each one, and before the end.
            whole: the score of each piece, and its first sentence.
        """
        windows = [
            self._score(sums[at + WINDOW] - sums[at], counts[at + WINDOW] - counts[at])
            for at in range(len(found) - WINDOW + 1)
        ] or [0.0]
        likely = [(score, _best(windows, at), True) for score, at in whole if score >= self.whole[0]]
        if len(found) >= LONG:
            likely += [(score, at, False) for at, score in enumerate(windows) if score >= self.window[0]]
        worst = sorted(likely, key=lambda one: self._steps(is_whole=one[2])[1] - one[0])[:_MOST_JUDGED]
        places = [self._place(score, at, found, is_whole=is_whole) for score, at, is_whole in worst]
        return Reading(_apart(places), doubtful=len(found) < LONG or bool(likely))

    def _score(self, total: int, count: int) -> float:
        return self.unit * total / math.sqrt(count + MORE) + self.bias

    def _place(self, score: float, first: int, found: list[Sentence], *, is_whole: bool) -> Place:
        window = found[first : first + WINDOW]
        steps = self._steps(is_whole=is_whole)
        margin = score - steps[1]
        return Place(
            category=self._category(window),
            severity=Severity(bisect(steps, score)),
            start=window[0].start,
            end=window[-1].end,
            confidence=round(1 / (1 + math.exp(-self.slope * margin - self.offset)), 3),
            is_whole=is_whole,
            is_long=len(found) >= LONG,
        )

    def _steps(self, *, is_whole: bool) -> list[float]:
        return self.whole if is_whole else self.window

    def _category(self, window: list[Sentence]) -> AttackCategory:
        buckets = [bucket for sentence in window for bucket in _buckets(sentence.tokens)]
        totals = {
            kind: sum([weights[bucket % len(weights)] for bucket in buckets]) for kind, weights in self.kinds.items()
        }
        return max(totals, key=lambda kind: totals[kind])


def _buckets(tokens: list[str]) -> Iterator[int]:
    for token in dict.fromkeys(tokens):
        yield from of_token(token)
    yield from map(of_pair, pairs(tokens))


def _best(windows: list[float], start: int) -> int:
    """The first sentence of the piece's worst window."""
    return max(
        range(start, max(start + 1, min(start + PIECE, len(windows)))),
        key=lambda at: windows[min(at, len(windows) - 1)],
    )


def _apart(places: list[Place]) -> list[Place]:
    """The worst places that do not overlap, at most `_MOST`."""
    kept: list[Place] = []
    for place in sorted(places, key=lambda one: (-one.severity, -one.confidence, one.start)):
        if len(kept) == _MOST:
            break
        if not any(one.start < place.end and place.start < one.end for one in kept):
            kept.append(place)
    return kept


@cache
def model() -> Model:
    """Read the weights."""
    head, _, packed = FILE.read_bytes().partition(b"\n")
    header = json.loads(head)
    raw = array("h", zlib.decompress(packed))
    if sys.byteorder == "big":
        raw.byteswap()
    at = header["buckets"]
    kinds: dict[AttackCategory, array[int]] = {}
    for kind in header["kinds"]:
        kinds[kind] = raw[at : at + header["kindBuckets"]]
        at += header["kindBuckets"]
    constants = {name: header[name] for name in ("unit", "bias", "slope", "offset", "whole", "window", "measured")}
    return Model(weights=raw[: header["buckets"]], kinds=kinds, **constants)
