"""Converts tokens to entries: finds each line's section, and reads headings, continuations and objects."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from jobs.whois.keys import Place, is_heading, place_of
from jobs.whois.lines import Token, fold

LONGEST_HEADING = 40


class Entry(NamedTuple):
    """A key with a value.

    Attributes:
        key: the line's own key, or that of the heading above a bare line, or of the line that it continues.
        place: the owner that the heading above names.
        object: the owner that the first key of the paragraph names.
        paragraph: number of the paragraph.
        is_bare: the line itself has no key.
    """

    key: str
    value: str
    place: Place
    object: Place
    paragraph: int
    is_bare: bool


class _Section:
    """The current heading."""

    def __init__(self) -> None:
        self.key = ""
        self.indent = -1
        self.is_indented = False
        self.is_used = False

    def begin(self, key: str, indent: int, following: Token | None) -> None:
        self.key, self.indent, self.is_used = key, indent, False
        self.is_indented = following is not None and following.indent > indent

    def ends_before(self, token: Token) -> bool:
        if self.is_indented:
            return token.indent <= self.indent
        return token.is_after_gap and self.is_used

    @property
    def place(self) -> Place:
        return place_of(self.key) if self.key else Place.DOMAIN


def entries(tokens: Sequence[Token]) -> list[Entry]:
    """The entries in their order, without notes."""
    lines = [token for token in tokens if not token.is_note]
    found: list[Entry] = []
    section = _Section()
    head, paragraph, previous = Place.DOMAIN, 0, None
    for token, following in zip(lines, chain(lines[1:], [None]), strict=False):
        if token.is_after_gap:
            paragraph += 1
            head = place_of(token.key) if token.key and token.value else Place.DOMAIN
            previous = None
        if section.key and section.ends_before(token):
            section.key = ""
        heading = _heading(token, following)
        if heading and not (section.key and section.is_indented and not token.key):
            section.begin(heading, token.indent, following)
            previous = None
            continue
        section.is_used = True
        if token.key:
            found.append(Entry(token.key, token.value, section.place, head, paragraph, is_bare=False))
            previous = token
        elif previous is not None and token.indent > previous.indent:
            found.append(Entry(previous.key, token.text, section.place, head, paragraph, is_bare=True))
        elif section.key:
            found.append(Entry(section.key, token.text, section.place, head, paragraph, is_bare=True))
    return found


def _heading(token: Token, following: Token | None) -> str:
    """The section that a line begins; empty when it begins none."""
    if token.key:
        if token.value or following is None:
            return ""
        # A key without a value among lines of the same form is an empty field, not a heading.
        is_field = following.indent <= token.indent and not following.is_after_gap and following.key != ""
        return "" if is_field and not is_heading(token.key) else token.key
    if len(token.text) > LONGEST_HEADING or following is None:
        return ""
    name = fold(token.text)
    if is_heading(name):
        return name
    return name if following.indent > token.indent and following.key and not following.is_after_gap else ""
