"""Reads lists.txt, the names that methods draw from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final


def _read() -> dict[str, tuple[str, ...]]:
    _, *parts = re.split(
        r"^\[(.+)\]\n", Path(__file__).with_name("lists.txt").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return {section: _names(text) for section, text in zip(parts[::2], parts[1::2], strict=True)}


def _names(text: str) -> tuple[str, ...]:
    names: list[str] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            kind, _, firsts = line.rpartition(":")
            names += [f"{first.strip()} {kind}".strip() for first in firsts.split(",") if first.strip()]
    return tuple(names)


LISTS: Final = _read()
"""The names of each section. A section has the name of its method, such as `animal.petName`, or of what several methods use."""
