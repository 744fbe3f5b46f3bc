"""The statistical layer: a linear model over windows of sentences. scripts/train-injection makes its weights.

The score of a window is the sum of its features' weights, divided by the square root of their number and `MORE`. So it needs
one look-up for each feature of the text, and sums that start at the text's beginning give each window's in one step.
"""

from __future__ import annotations

import json
import math
import sys
import zlib
from array import array
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from jobs.prompt_injection_scan.features import Sentence, of_phrase, of_token, phrases, sentences
from jobs.prompt_injection_scan.labels import AttackCategory, Severity

FILE = Path(__file__).parent / "weights.bin"
"""One line of JSON (what it was made of, and the constants), and then the weights, two bytes each, compressed."""
WINDOW = 2
"""Sentences."""
MORE = 50
"""So many features without a weight are added to each window: a few words alone are little evidence."""
LENGTHS = (3, 7, 18)
"""Numbers of sentences from which other thresholds hold: many windows have many chances to look bad."""
_MOST = 20
"""The most places of one text that are reported."""
_REASONS = 4


@dataclass(frozen=True, slots=True)
class Place:
    """A window that reads like an attack: its place in the text, and the words in it that weighed most."""

    category: AttackCategory
    severity: Severity
    start: int
    end: int
    confidence: float
    reasons: list[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model says of a text.

    Attributes:
        places: the windows that are likely attacks, which do not overlap, the likeliest first.
        doubtful: some window may be an attack, likely or not, or the text is too short to judge.
    """

    places: list[Place]
    doubtful: bool


@dataclass(frozen=True, slots=True)
class Model:
    """The weights and the constants.

    Attributes:
        weights: of each bucket, in units of `unit`.
        kinds: of each category, the weights of `len(kinds[...])` buckets. Only their differences count.
        slope, offset: turn a score into a probability (Platt).
        medium, high: the least score of each severity, for each class of lengths (`LENGTHS`).
        doubt: the least score of a window that may be an attack. A text of less than `LENGTHS[1]` sentences always may.
    """

    weights: array[int]
    kinds: dict[AttackCategory, array[int]]
    unit: float
    bias: float
    slope: float
    offset: float
    medium: list[float]
    high: list[float]
    doubt: list[float]

    def read(self, text: str) -> Reading:
        """Judge every window of a text."""
        found = sentences(text)
        if not found:
            return Reading([], doubtful=False)
        known: dict[str, tuple[int, int]] = {}
        totals = [self._of_sentence(sentence.tokens, known) for sentence in found]
        sums = [0, *accumulate(total for total, _ in totals)]
        counts = [0, *accumulate(count for _, count in totals)]
        length = bisect(LENGTHS, len(found))
        medium, high, doubt = self.medium[length], self.high[length], self.doubt[length]
        doubtful = len(found) < LENGTHS[1]
        likely: list[tuple[float, int]] = []
        for first in range(max(1, len(found) - WINDOW + 1)):
            last = min(len(found), first + WINDOW)
            score = self._score(sums[last] - sums[first], counts[last] - counts[first])
            doubtful = doubtful or score >= doubt
            if score >= medium:
                likely.append((-score, first))
        best = _apart(sorted(likely))
        return Reading([self._place(-score, found[first : first + WINDOW], high) for score, first in best], doubtful)

    def _score(self, total: int, count: int) -> float:
        return self.unit * total / math.sqrt(count + MORE) + self.bias

    def _of_sentence(self, tokens: list[str], known: dict[str, tuple[int, int]]) -> tuple[int, int]:
        """The sum of the weights, and how many there are."""
        weights, total, count = self.weights, 0, 0
        for token in dict.fromkeys(tokens):
            own = known.get(token)
            if own is None:
                buckets = of_token(token)
                own = known[token] = (sum([weights[bucket] for bucket in buckets]), len(buckets))
            total += own[0]
            count += own[1]
        pairs = phrases(tokens)
        return total + sum([weights[of_phrase(phrase)] for phrase in pairs]), count + len(pairs)

    def _place(self, score: float, window: list[Sentence], high: float) -> Place:
        return Place(
            category=self._category(window),
            severity=Severity.HIGH if score >= high else Severity.MEDIUM,
            start=window[0].start,
            end=window[-1].end,
            confidence=round(1 / (1 + math.exp(-self.slope * score - self.offset)), 3),
            reasons=self._reasons(window),
        )

    def _category(self, window: list[Sentence]) -> AttackCategory:
        buckets = [bucket for sentence in window for bucket in _buckets(sentence.tokens)]
        totals = {
            kind: sum([weights[bucket % len(weights)] for bucket in buckets]) for kind, weights in self.kinds.items()
        }
        return max(totals, key=lambda kind: totals[kind])

    def _reasons(self, window: list[Sentence]) -> list[str]:
        """The words and phrases that weighed most, none of which contains another."""
        weighed: dict[str, int] = {}
        for sentence in window:
            for token in sentence.tokens:
                weighed[token] = sum([self.weights[bucket] for bucket in of_token(token)])
            weighed |= {phrase: self.weights[of_phrase(phrase)] for phrase in phrases(sentence.tokens)}
        reasons: list[str] = []
        for words, weight in sorted(weighed.items(), key=lambda item: (-item[1], item[0])):
            said = words.removeprefix("^ ")
            if weight <= 0 or len(reasons) == _REASONS:
                break
            if len(said) > 1 and not any(said in reason or reason in said for reason in reasons):
                reasons.append(said)
        return reasons


def _buckets(tokens: list[str]) -> Iterator[int]:
    for token in dict.fromkeys(tokens):
        yield from of_token(token)
    yield from map(of_phrase, phrases(tokens))


def _apart(scores: list[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """The best windows that neither share a sentence nor touch, at most `_MOST`."""
    taken: set[int] = set()
    count = 0
    for score, first in scores:
        if count == _MOST:
            return
        if not taken & set(range(first, first + WINDOW)):
            taken |= set(range(first - 1, first + WINDOW + 1))
            count += 1
            yield score, first


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
    constants = {name: float(header[name]) for name in ("unit", "bias", "slope", "offset")}
    medium, high, doubt = header["medium"], header["high"], header["doubt"]
    weights = raw[: header["buckets"]]
    return Model(weights=weights, kinds=kinds, medium=medium, high=high, doubt=doubt, **constants)
