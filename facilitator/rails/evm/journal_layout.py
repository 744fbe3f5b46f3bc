"""The layout of the settler's journal. Each line has its number, so a file that was cut off or written anew has it, too."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from shared.settings import InvalidSetting

LAYOUT = 1
"""The number of what journal.py writes. Lines that other versions cannot read get another one. The first versions wrote the
same lines without a number."""


class _Line(msgspec.Struct, frozen=True):
    layout: int = LAYOUT


def refuse_other_layout(path: Path) -> None:
    """Raises InvalidSetting when another version has written the file in a way that this one would not understand."""
    with contextlib.suppress(OSError), path.open("rb") as file:  # what cannot be read is reported where it is needed
        for line in file:
            with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
                if (found := msgspec.json.decode(line, type=_Line).layout) != LAYOUT:
                    raise InvalidSetting(
                        f"{path} has layout {found}, and this version reads layout {LAYOUT}: start the version that wrote it, "
                        "and see docs/operations.md, Updating"
                    )
