"""A caption document, as YouTube's timedtext gives it, read as what it is: hostile. Whoever uploads a video writes it.

    <transcript><text start="1.2" dur="3.4">it&amp;#39;s &amp;lt;i&amp;gt;here&amp;lt;/i&amp;gt;</text>...</transcript>

The text is escaped twice, as XML and as HTML. youtube-transcript-api has a reader of its own, whose time is quadratic in the
number of `<` in a text: 2 MB of them take 20 minutes. This one is linear, declares no entities, builds no tree, and runs in a
child process all the same.
"""

from __future__ import annotations

import html
import re
from xml.parsers import expat

import msgspec

from shared.outcome import UpstreamFailed

MAX_SEGMENTS = 50_000
"""A day of speech has 40,000."""

_MAX_DEPTH = 64
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{0,20})?|\.[0-9]{1,20}", re.ASCII)
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>|<[0-9:.]+>", re.ASCII)
_BLANK = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*")


class Segment(msgspec.Struct, frozen=True):
    """A text and when it is shown. `start`, `dur`: seconds. Segments may overlap."""

    start: float
    dur: float
    text: str


class _Unreadable(Exception):
    pass


def calculate(document: bytes) -> bytes:
    """The segments of a document, as JSON. A calculation (jobs/calculations.py)."""
    return msgspec.json.encode(segments(document))


def decode(calculated: bytes) -> list[Segment]:
    """What `calculate` gave."""
    return msgspec.json.decode(calculated, type=list[Segment])


def segments(document: bytes) -> list[Segment]:
    """What has a text, in the document's order.

    Raises:
        UpstreamFailed: `bad_content`: it is no caption document. `too_large`.
    """
    reader = _Reader()
    try:
        reader.read(document.decode("utf-8", "replace"))
    except _Unreadable as error:
        raise UpstreamFailed(f"The captions cannot be read: {error}.", reason="bad_content") from None
    except ValueError:  # a character reference of more digits than Python reads
        raise UpstreamFailed("The captions cannot be read: they are not text.", reason="bad_content") from None
    except expat.ExpatError:
        raise UpstreamFailed("The captions cannot be read: they are not XML.", reason="bad_content") from None
    return reader.segments


class _Reader:
    """The children of the root, whatever they are called, as segments."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._depth = 0
        self._attributes: dict[str, str] = {}
        self._parts: list[str] = []

    def read(self, document: str) -> None:
        parser = expat.ParserCreate("utf-8")  # a declared encoding is not that of the text any more
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._declaration
        parser.EntityDeclHandler = self._declaration
        parser.Parse(document, True)

    def _declaration(self, *_: object) -> None:
        raise _Unreadable("they have a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Unreadable("they are nested too deeply")
        if self._depth == 2:
            self._attributes = attributes
            self._parts = []

    def _text(self, text: str) -> None:
        if self._depth > 1:
            self._parts.append(text)

    def _end(self, name: str) -> None:
        if self._depth == 2:
            self._add(plain("".join(self._parts)))
        self._depth -= 1

    def _add(self, text: str) -> None:
        if _BLANK.fullmatch(text):
            return
        if len(self.segments) >= MAX_SEGMENTS:
            raise UpstreamFailed(f"The captions have more than {MAX_SEGMENTS} segments.", reason="too_large")
        start, dur = self._attributes.get("start"), self._attributes.get("dur", "0")
        if start is None:
            raise _Unreadable("a text has no time")
        self.segments.append(Segment(_seconds(start), _seconds(dur), text))


def plain(escaped: str) -> str:
    """A text without its second escaping and without tags. `a < b` and `<3` are no tags."""
    return _TAG.sub("", html.unescape(escaped))


def _seconds(text: str) -> float:
    if not _SECONDS.fullmatch(text):
        raise _Unreadable("a time is no number of seconds")
    return float(text)
