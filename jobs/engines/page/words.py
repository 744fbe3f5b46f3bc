"""Shows which words of replaced lines changed, and counts what they have in common."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from jobs.engines.page.diff import ids

MAX_CHARACTERS = 20_000
"""Of the removed and the added lines of one change. Of more lines no words are shown."""
MAX_CELLS = 20_000_000
"""For all changes of a comparison together: 0.1 s."""

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


class Words(NamedTuple):
    """Replaced lines, word by word.

    Attributes:
        shown: the new lines with ``[-old-]`` and ``{+new+}`` where they differ.
        common: code points that both have.
    """

    shown: str
    common: int


def changed_words(removed: Sequence[str], added: Sequence[str], cells_left: int) -> tuple[Words | None, int]:
    """The words that changed, and the cells that are left. None where nothing was replaced, or it is too much."""
    if not removed or not added:
        return None, cells_left
    old_text, new_text = "\n".join(removed), "\n".join(added)
    if len(old_text) + len(new_text) > MAX_CHARACTERS:
        return None, cells_left
    old, new = _TOKEN.findall(old_text), _TOKEN.findall(new_text)
    if len(old) * len(new) > cells_left:
        return None, cells_left
    return _compared(old, new), cells_left - len(old) * len(new)


def _compared(old: Sequence[str], new: Sequence[str]) -> Words:
    from rapidfuzz.distance import Indel

    shown: list[str] = []
    common = 0
    went: list[str] = []
    came: list[str] = []

    def flush() -> None:
        if went:
            shown.append(f"[-{''.join(went)}-]")
        if came:
            shown.append("{+" + "".join(came) + "+}")
        went.clear()
        came.clear()

    for code in Indel.opcodes(*ids(old, new)):
        if code.tag == "equal":
            same = "".join(old[code.src_start : code.src_end])
            common += len(same)
            # A blank between two changed words belongs to the change, which is easier to read.
            if not same.strip(" ") and (went or came) and code.src_end < len(old):
                went.append(same)
                came.append(same)
                continue
            flush()
            shown.append(same)
        else:
            went += old[code.src_start : code.src_end]
            came += new[code.dest_start : code.dest_end]
    flush()
    return Words("".join(shown), common)
