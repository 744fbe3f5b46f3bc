"""Fits the linear model: features of windows, logistic regression, calibration on sources that a fit has not seen."""

from __future__ import annotations

import json
import zlib
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args
from zlib import crc32

import numpy as np  # type: ignore[import-not-found]
import scipy.sparse  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression, SGDClassifier  # type: ignore[import-not-found]

from jobs.prompt_injection_scan.features import BUCKETS, of_phrase, of_token, phrases, sentences
from jobs.prompt_injection_scan.labels import AttackCategory
from jobs.prompt_injection_scan.model import LENGTHS, MORE, WINDOW
from jobs.prompt_injection_scan.training.texts import Text

FOLDS = 5
_TAUGHT = 3
"""Sentences of a window that a fit learns from. Scores are of shorter ones (`WINDOW`): that finds more in sources unseen."""
_SPLIT = 102
"""Chosen so that the folds have about as many attacks and harmless texts each."""
LEAST_TEXTS = 3
"""A bucket that fewer texts have gets no weight."""
_LONGEST = 20_000
_PENALTY = 3e-6
_ATTACK = 2.0
"""An attack weighs as much as so many harmless windows, and less for each of its own windows."""
_TABLES = 5.0
"""The harmless texts of the unit tests weigh more: they are few, and most are near an attack."""
_STEPS = 1023
"""The largest weight, in units."""
_KIND_BUCKETS = 1 << 15
_KINDS: tuple[AttackCategory, ...] = tuple(kind for kind in get_args(AttackCategory) if kind != "hidden_unicode")

Array = Any


@dataclass(slots=True)
class Example:
    """A text with the buckets of each of its sentences."""

    text: Text
    sentences: list[Array]

    @property
    def length(self) -> int:
        """Its class of lengths, an index."""
        return bisect(LENGTHS, len(self.sentences))

    def windows(self, size: int, step: int = 1) -> list[Array]:
        """The buckets of each window of so many sentences."""
        count = len(self.sentences)
        if count <= size:
            return [np.concatenate(self.sentences)]
        return [np.concatenate(self.sentences[i : i + size]) for i in range(0, count - size + 1, step)]


@dataclass(frozen=True, slots=True)
class Fit:
    """A weight of each bucket, and the bias."""

    weights: Array
    bias: float

    def scores(self, windows: Iterable[Array], more: int = 0) -> Array:
        """The score of each window, with so many more features that have no weight."""
        return np.array([self.weights[window].sum() / np.sqrt(len(window) + more) + self.bias for window in windows])

    def score(self, example: Example) -> float:
        """The score of a text is that of its worst window. A fit without `MORE`, and scores with it, find the most."""
        return float(self.scores(example.windows(WINDOW), MORE).max())


def examples(texts: Iterable[Text]) -> list[Example]:
    """The features of the texts that have a word."""
    known: dict[str, list[int]] = {}
    found = [Example(text, list(_of_sentences(text.text[:_LONGEST], known))) for text in texts]
    return [example for example in found if example.sentences]


def _of_sentences(text: str, known: dict[str, list[int]]) -> Iterable[Array]:
    for sentence in sentences(text):
        buckets = [of_phrase(phrase) for phrase in phrases(sentence.tokens)]
        for token in dict.fromkeys(sentence.tokens):
            if token not in known:
                known[token] = of_token(token)
            buckets += known[token]
        yield np.array(buckets, dtype=np.int32)


def fit(taught: Sequence[Example]) -> Fit:
    """Fit twice: the second time each attack counts with those of its windows only that the first fit finds suspicious."""
    attacks = [example for example in taught if example.text.category]
    peaceful = [example for example in taught if not example.text.category]
    shown = [example.windows(_TAUGHT, step=2) for example in peaceful]
    harmless = [window for windows in shown for window in windows]
    cost = [
        _TABLES if example.text.source == "tables" else 1.0
        for example, windows in zip(peaceful, shown, strict=True)
        for _ in windows
    ]
    seen = np.zeros(BUCKETS, dtype=np.int32)
    for example in taught:
        seen[np.unique(np.concatenate(example.sentences))] += 1
    scale = _rarity(harmless) * (seen >= LEAST_TEXTS)
    negative = _matrix(harmless, scale)
    chosen = [example.windows(_TAUGHT) for example in attacks]
    first = _fitted(chosen, negative, cost, scale)
    return _fitted([_suspicious(first, windows) for windows in chosen], negative, cost, scale)


def _rarity(windows: Sequence[Array]) -> Array:
    """How large each bucket's feature is: large where few harmless windows have it, so that it costs less to use."""
    count = np.ones(BUCKETS, dtype=np.float64)
    for window in windows:
        count[np.unique(window)] += 1
    return np.maximum(0, np.log(len(windows) / count) / 5).astype(np.float32)


def _suspicious(first: Fit, windows: list[Array]) -> list[Array]:
    scores = first.scores(windows)
    least = max(0.0, np.sort(scores)[-max(1, len(scores) // 2)])
    kept = [window for window, score in zip(windows, scores, strict=True) if score >= least]
    return kept or [windows[int(scores.argmax())]]


def _fitted(attacks: list[list[Array]], negative: Array, cost: list[float], scale: Array) -> Fit:
    positive = _matrix([window for windows in attacks for window in windows], scale)
    weight = [_ATTACK / len(windows) ** 0.7 for windows in attacks for _ in windows]
    model = SGDClassifier(loss="log_loss", alpha=_PENALTY, max_iter=8, tol=None, random_state=0, average=True)
    labels = np.r_[np.ones(len(weight)), np.zeros(negative.shape[0])]
    model.fit(scipy.sparse.vstack([positive, negative]).tocsr(), labels, sample_weight=np.r_[weight, cost])
    return Fit(model.coef_[0] * scale, float(model.intercept_[0]))


def _matrix(windows: Sequence[Array], scale: Array) -> Array:
    rows = [window[scale[window] > 0] for window in windows]
    values = [scale[row] / np.float32(np.sqrt(len(window))) for row, window in zip(rows, windows, strict=True)]
    ends = np.r_[0, np.cumsum([len(row) for row in rows])]
    matrix = scipy.sparse.csr_matrix((np.concatenate(values), np.concatenate(rows), ends), shape=(len(rows), BUCKETS))
    matrix.sum_duplicates()
    return matrix


def group(source: str) -> str:
    """Sources that are in one fold: packages, families, and the collections that copy from each other."""
    if source.startswith(("pyrit/", "superred", "prompt-armor/in-the-wild")):
        return "jailbreaks"
    return (
        source.split("/")[0] if not source.startswith(("own/", "prompt-armor/")) else source.removesuffix(", combined")
    )


def unseen_scores(taught: Sequence[Example]) -> Array:
    """The score of each text in a fit that has seen nothing of its group. The tables of the unit tests are in every fit."""
    fold = [
        -1 if example.text.source == "tables" else crc32(f"{_SPLIT}{group(example.text.source)}".encode()) % FOLDS
        for example in taught
    ]
    scores = np.full(len(taught), np.nan)
    for number in range(FOLDS):
        fitted = fit([example for example, own in zip(taught, fold, strict=True) if own != number])
        for place, (example, own) in enumerate(zip(taught, fold, strict=True)):
            if own == number:
                scores[place] = fitted.score(example)
    return scores


def calibrated(scores: Array, is_attack: Array) -> tuple[float, float]:
    """Slope and offset that turn a score into a probability (Platt), as if half of all texts were attacks."""
    model = LogisticRegression(class_weight="balanced").fit(scores.reshape(-1, 1), is_attack)
    return float(model.coef_[0][0]), float(model.intercept_[0])


def kinds(taught: Sequence[Example]) -> Array:
    """Weights that distinguish the categories of attacks, a row for each of `_KINDS`."""
    attacks = [example for example in taught if example.text.category]
    rows = [np.concatenate(example.sentences[:9]) % _KIND_BUCKETS for example in attacks]
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
