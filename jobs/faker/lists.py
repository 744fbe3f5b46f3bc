"""Reads lists.txt, the names that methods draw from."""

from pathlib import Path
from typing import Final

from jobs.tables import sections


def _names(text: str) -> tuple[str, ...]:
    names: list[str] = []
    for line in text.splitlines():
        kind, _, firsts = line.rpartition(":")
        names += [f"{first.strip()} {kind}".strip() for first in firsts.split(",") if first.strip()]
    return tuple(names)


LISTS: Final = {section: _names(text) for section, text in sections(Path(__file__).with_name("lists.txt")).items()}
"""The names of each section. A section has the name of its method, such as `animal.petName`, or of what several methods use."""
