"""The texts of this folder's files, and the tokens that generated texts are made of.

In a file, ``␊`` and the other pictures of control characters are those characters, ``␠`` is a blank at the end of a text, and
``⟨00A0⟩`` is the character U+00A0.
"""

import json
import re
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_ENCODED = re.compile("[\u2400-\u2420]|⟨([0-9A-F]{4})⟩")

TOKENS = (
    *("{", "}", "[", "]", "(", ")", ",", ", ", ":", ";", '"', "'", "`", "\u201c", "\u2019", "\\", '\\"', "/", "//"),
    *("/*", "*/", "#", ".", "...", "=", "+", "-", "e", "1", "0", "a", "b1", "b c", "true", "tru", "None", "http://"),
    *("```", "```json", '"a"', '{"a":', "f(", "\uff0c", "\ud800", "\\u", "\\u12", "\x00", "\xa0", " ", "\t", "\n"),
)


def hostile() -> list[str]:
    """Short texts to repeat. Each made some repairer slow, or might."""
    return [_decoded(line) for line in _lines("hostile.txt")]


def rules() -> dict[str, list[tuple[str, Any]]]:
    """The cases of each rule: a text, and its value."""
    sections: dict[str, list[tuple[str, Any]]] = {}
    cases: list[tuple[str, Any]] = []
    text = ""
    for line in _lines("rules.txt"):
        if line.startswith("=== "):
            cases = sections[line[4:]] = []
        elif line.startswith("→ "):
            cases.append((text, json.loads(line[2:])))
        else:
            text = _decoded(line)
    return sections


def _lines(name: str) -> list[str]:
    return (_FOLDER / name).read_text(encoding="utf-8").split("\n")[:-1]


def _decoded(text: str) -> str:
    return _ENCODED.sub(lambda found: chr(int(found[1], 16) if found[1] else ord(found[0]) - 0x2400), text)
