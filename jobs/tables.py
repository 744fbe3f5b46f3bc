"""Reads tables from text files beside the modules that use them."""

import re
from pathlib import Path


def sections(file: Path) -> dict[str, str]:
    """The text of each section of a file, by the name in brackets before it. Lines that begin with `#` are comments."""
    lines = (line for line in file.read_text(encoding="utf-8").splitlines(keepends=True) if not line.startswith("#"))
    _, *parts = re.split(r"^\[(.+)\]\n", "".join(lines), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))
