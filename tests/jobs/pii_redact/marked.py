"""The texts of texts/: in each of `found` the values to redact are between guillemets; those of `left` have none.

"call «415-555-0132» now" is a text with one phone.
"""

import re
import tomllib
from pathlib import Path

from jobs.pii_redact.spans import PLACEHOLDERS, PiiKind, Span


def texts(kind: PiiKind) -> dict[str, list[str]]:
    """The texts of a kind: `found` and `left`."""
    return tomllib.loads((Path(__file__).parent / "texts" / f"{kind}.toml").read_text())


def read(marked: str, kind: PiiKind) -> tuple[str, str, list[Span]]:
    """The plain text, the redacted text, and what is found in it, all of one kind."""
    text, redacted = "", ""
    spans = []
    for place, piece in enumerate(marked.replace("»", "«").split("«")):
        if place % 2:
            spans.append(Span(len(text), len(text) + len(piece), kind))
            redacted += PLACEHOLDERS[kind]
        else:
            redacted += piece
        text += piece
    return text, redacted, spans


_LETTERS = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2bC3dE4"
_BLANK = re.compile(r"\{([xdu]?)(\d+)\}")
_ALPHABETS = {"": _LETTERS, "x": "3f9a1c7e5b20d864", "d": "7301946285", "u": "QX7LK2MZ9TBV4RWP"}


def filled(text: str) -> str:
    """The text with made-up keys: {24} is 24 letters and digits, {x40} hexadecimal, {d12} decimal digits, {u16} capitals."""
    return _BLANK.sub(lambda blank: (_ALPHABETS[blank[1]] * 20)[: int(blank[2])], text)
