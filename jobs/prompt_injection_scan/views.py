"""Makes every form of a text that the rules search: unchanged, and with each kind of disguise undone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from jobs.engines.text.layer import Layer, joined
from jobs.prompt_injection_scan import encoded, lookalikes, spacing
from jobs.prompt_injection_scan.folding import plain
from jobs.prompt_injection_scan.hidden import Hidden
from jobs.prompt_injection_scan.rules import RuleBook, signature
from jobs.prompt_injection_scan.words import words

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_GAPS = str.maketrans(".:\n#@", "     ")
_ROT13 = str.maketrans(_LETTERS, _LETTERS[13:] + _LETTERS[:13])
_ATBASH = str.maketrans(_LETTERS, _LETTERS[::-1])


@dataclass(frozen=True, slots=True)
class Views:
    """The forms of one text, the plainest first.

    Attributes:
        lines: without invisible characters.
        words: in the form of jobs/prompt_injection_scan/words.py.
        read: those that the statistical layer reads: signs and line ends as they are.
    """

    lines: tuple[Layer, ...]
    words: tuple[Layer, ...]
    read: tuple[Layer, ...]


def views_of(text: str, concealed: Iterable[Hidden], book: RuleBook) -> Views:
    """All forms that differ from the original."""
    base = plain(Layer(text))
    plainest = words(base)
    disguised = list(_undisguised(base, book))
    revealed = [
        layer
        for layer in (_unescaped(base), encoded.decoded(base), _said(concealed))
        if layer is not None and layer.text
    ]
    letters = (
        plainest.same_length(plainest.text.translate(_ROT13)).named("once ROT13 is undone"),
        plainest.same_length(plainest.text.translate(_ATBASH)).named("once Atbash is undone"),
        plainest.backwards().named("read backwards"),
    )
    return Views(
        lines=(base, *disguised, *revealed),
        words=(plainest, *(_respelt(words(layer), book) for layer in disguised), *map(words, revealed), *letters),
        read=(base, *revealed),
    )


def _undisguised(base: Layer, book: RuleBook) -> Iterator[Layer]:
    """Undo look-alikes, digits for letters and separated letters. `1` may be an i or an l."""
    apart = spacing.rejoined(base)
    readings = (lookalikes.undone(apart), lookalikes.undone(lookalikes.other_reading(apart)))
    for reading in readings if readings[0].text != readings[1].text else readings[:1]:
        yield spacing.divided(reading, book.vocabulary).named("once its disguise is undone")


def _unescaped(base: Layer) -> Layer | None:
    layer = encoded.unescaped(base)
    return plain(layer) if layer is not base else None


def _said(concealed: Iterable[Hidden]) -> Layer:
    """The text that is written in invisible characters."""
    return plain(joined(((item.decoded, item.start, item.end) for item in concealed if item.decoded), _HIDDEN))


_HIDDEN = "in invisible characters"


def _respelt(view: Layer, book: RuleBook) -> Layer:
    """Correct the spelling of known words: `ignroe prevoius instrctions`, `ignooore`."""
    pieces: list[tuple[int, int, str]] = []
    at = 0
    for token in view.text.translate(_GAPS).split(" "):
        known = _known(token, book)
        if known != token:
            pieces.append((at, at + len(token), known))
        at += len(token) + 1
    return view.replaced(pieces) if pieces else view


def _known(token: str, book: RuleBook) -> str:
    if len(token) < 6 or token in book.vocabulary:
        return token
    if any(a == b == c for a, b, c in zip(token, token[1:], token[2:], strict=False)):
        token = "".join(letter for letter, _ in groupby(token))
    return book.misspelt.get(signature(token), token)
