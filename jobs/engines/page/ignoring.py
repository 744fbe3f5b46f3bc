"""What a caller does not want to hear about: parts of a page, lines with a text, numbers and dates.

Elements are taken out of the page before it is read, so they are in no text. Lines, numbers and dates stay in the text that is
returned and kept, and are left out when two texts are compared: an observation is comparable with every later one.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec

from jobs.engines.page.text import lines_of
from jobs.engines.page.tree import Element
from jobs.fields import doc
from shared.endpoint import InvalidField

MOST = 20
MAX_SELECTOR = 200
MAX_TEXT = 500

_NUMBER = re.compile(r"(?<!\w)[-+\u2212\u00b1~]?\d(?:[\d.,:/'\u2019-]*\d)?(?:st|nd|rd|th)?(?!\w)|\d(?:[\d.,:]*\d)?")
MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    "|dec(?:ember)?|januar|jänner|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août"
    "|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre"
    "|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|janeiro|fevereiro|março|maio|junho"
    "|julho|setembro|outubro|novembro|dezembro|janv|févr|avr|juil|déc|ene|abr|dic|giu|lug|ott|fev|dez|okt"
    "|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
)
_WEEKDAYS = (
    "(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
)
_BESIDE = rf"(?:{MONTHS}|{_WEEKDAYS}|am|pm|utc|gmt|uhr|at|de|um)"
_DATE = re.compile(
    rf"(?:\b{_BESIDE}\b[.,]? ?){{0,4}}\b0\b(?:(?:[.,]? |-)(?:0(?:[ap]m)?|{_BESIDE})\b){{0,6}}", re.IGNORECASE
)
_UNITS = "(?:sec(?:ond)?|min(?:ute)?|h(?:ou)?r|day|week|month|year)s?"
_AGO = re.compile(
    rf"\b(?:just now|yesterday|today|tomorrow|moments? ago|(?:an?|0) {_UNITS} ago|0(?:mo|[smhdwy]) ago|in (?:an?|0) {_UNITS}"
    r"|vor (?:einem|einer|0) \w+|il y a (?:une?|0) \w+|hace (?:una?|0) \w+)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\b(0 \w{2,30}?)(?:en|[sn])?\b")
"""The plural of what is counted: "1 comment" and "2 comments" differ in their number alone."""

Selector = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_SELECTOR)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT)]


class Ignore(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What does not count as a change."""

    selectors: Annotated[
        list[Selector],
        msgspec.Meta(
            max_length=MOST,
            description="CSS selectors. These elements are taken out of the page before it is read. Calls with other selectors "
            "have another baseline.",
        ),
    ] = []
    texts: Annotated[
        list[Text],
        msgspec.Meta(
            max_length=MOST,
            description="Lines that contain one of these texts, in upper or lower case, are not compared.",
        ),
    ] = []
    numbers_and_dates: Annotated[
        bool, doc("Whether lines that differ in nothing but numbers, dates and times are the same.")
    ] = False

    def __post_init__(self) -> None:
        for number, selector in enumerate(self.selectors):
            try:
                _xpath(selector)
            except (ValueError, RuntimeError, SyntaxError) as error:  # cssselect's derive from these
                raise InvalidField(
                    f"This is no CSS selector that can be used here: {error}", field=f"ignore.selectors[{number}]"
                ) from None

    @property
    def elements(self) -> tuple[str, ...]:
        """The selectors, each once, in one order."""
        return tuple(sorted({selector.strip() for selector in self.selectors}))


class Compared(NamedTuple):
    """The lines of a text that are compared, and what each is compared as."""

    lines: list[str]
    keys: list[str]


def without_elements(root: Element, selectors: Sequence[str]) -> int:
    """Take the elements out of a page, and return how many there were. The text behind them stays."""
    found = 0
    for selector in selectors:
        for element in root.xpath(_xpath(selector)):
            if element.getparent() is not None:
                element.drop_tree()
                found += 1
    return found


def compared_lines(text: str, ignore: Ignore | None) -> Compared:
    """The lines of a normalised text without those that are ignored."""
    lines = lines_of(text)
    if ignore is None:
        return Compared(lines, lines)
    if ignore.texts:
        texts = [_folded(text) for text in ignore.texts]
        lines = _joined([line for line in lines if not any(text in _folded(line) for text in texts)])
    return Compared(lines, [_without_numbers(line) for line in lines] if ignore.numbers_and_dates else lines)


def _joined(lines: list[str]) -> list[str]:
    """Without the empty lines at both ends, and those that follow another: lines that were left out had their own."""
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return kept[bool(kept and not kept[0]) : len(kept) - bool(kept and not kept[-1])]


def _without_numbers(line: str) -> str:
    line = _NUMBER.sub("0", line)
    line = _AGO.sub("0", _DATE.sub("0", line) if "0" in line else line)
    return _COUNTED.sub(r"\1", line)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def _xpath(selector: str) -> str:
    from cssselect import HTMLTranslator

    return str(HTMLTranslator().css_to_xpath(selector))
