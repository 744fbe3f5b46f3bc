"""The calculation that reads a caption document of YouTube's timedtext. It is hostile input: who uploads a video writes it.

    <transcript><text start="1.2" dur="3.4">it&amp;#39;s &amp;lt;i&amp;gt;here&amp;lt;/i&amp;gt;</text>...</transcript>

The text is escaped twice, as XML and as HTML. The reader of youtube-transcript-api needs time quadratic in the number of `<`
in a text: 2 MB of them take 20 minutes. This reader is linear, declares no entities and builds no tree.
"""

import html
import re
from collections.abc import Iterator
from typing import Annotated
from xml.parsers import expat

import msgspec

from jobs.fields import doc
from shared.outcome import UpstreamFailed

NAME = "caption_document"

MAX_SEGMENTS = 50_000
"""A day of speech has about 40,000."""

_MAX_DEPTH = 64
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{0,20})?|\.[0-9]{1,20}", re.ASCII)
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>|<[0-9:.]+>", re.ASCII)
_BLANK = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*")


class Segment(msgspec.Struct, frozen=True):
    """A text and the time at which it is shown. Segments may overlap."""

    start: Annotated[float, doc("When it is shown first, in seconds from the start of the video.")]
    dur: Annotated[float, doc("For how long it is shown, in seconds.")]
    text: Annotated[str, doc("The text, without markup.")]


class _Unreadable(Exception):
    pass


def calculate(argument: bytes) -> bytes:
    """Read a caption document and return its segments as JSON. Raises UpstreamFailed, as `segments` does."""
    return msgspec.json.encode(segments(argument))


def examples() -> Iterator[bytes]:
    """A document with both escapings and a tag."""
    yield (
        b'<transcript><text start="1.2" dur="3.4">it&amp;#39;s &amp;lt;i&amp;gt;here&amp;lt;/i&amp;gt;</text></transcript>'
    )


def decode(calculated: bytes) -> list[Segment]:
    """Decode the result of `calculate`."""
    return msgspec.json.decode(calculated, type=list[Segment])


def segments(document: bytes) -> list[Segment]:
    """The segments that have a text, in the document's order.

    Raises:
        UpstreamFailed: `bad_content` when this is not a caption document, `too_large` when it has too many segments.
    """
    reader = _Reader()
    try:
        reader.read(document.decode("utf-8", "replace"))
    except _Unreadable as error:
        raise UpstreamFailed(f"The captions cannot be read: {error}.", reason="bad_content") from None
    except ValueError:  # Python cannot read a character reference with so many digits
        raise UpstreamFailed("The captions cannot be read: they are not text.", reason="bad_content") from None
    except expat.ExpatError:
        raise UpstreamFailed("The captions cannot be read: they are not XML.", reason="bad_content") from None
    return reader.segments


class _Reader:
    """Collects the children of the root as segments, whatever their names are."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._depth = 0
        self._attributes: dict[str, str] = {}
        self._parts: list[str] = []

    def read(self, document: str) -> None:
        parser = expat.ParserCreate("utf-8")  # the text was decoded: its declared encoding no longer applies
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
            detail = f"The captions have more than {MAX_SEGMENTS} segments."
            raise UpstreamFailed(detail, reason="too_large", is_final=True)
        start, dur = self._attributes.get("start"), self._attributes.get("dur", "0")
        if start is None:
            raise _Unreadable("a text has no time")
        self.segments.append(Segment(_seconds(start), _seconds(dur), text))


def plain(escaped: str) -> str:
    """Remove the second escaping and the tags. `a < b` and `<3` are not tags."""
    return _TAG.sub("", html.unescape(escaped))


def _seconds(text: str) -> float:
    if not _SECONDS.fullmatch(text):
        raise _Unreadable("a time is no number of seconds")
    return float(text)
