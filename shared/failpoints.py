"""Named places at which a process can be made to die, for the tests that prove what survives it (tests/chaos).

COINSLOT_FAILPOINT=settled kills the process when it first comes to `reach("settled")`, settled@3 at the third time. Nothing
runs after it, as with kill -9. Unset, which is decided when this module is imported, a place costs one empty call.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable

API = (
    "claimed",
    "before-settle",
    "facilitator-answered",
    "declined",
    "undecided",
    "evidence-read",
    "settled",
    "rejected",
    "unknown",
    "enqueued",
    "reply-received",
)
WORKER = ("job-fetched", "handler-done", "answer-stored", "reply-sent")
OBSERVED = ("observation-pending",)
"""Of a worker, when it keeps observations on a Redis of their own."""
NAMES = frozenset(API + WORKER + OBSERVED)

_FORM = re.compile(r"([a-z-]+)(?:@([1-9][0-9]{0,3}))?", re.ASCII)


def parse(text: str) -> tuple[str, int]:
    """A place, and at which visit the process ends. Raises ValueError for what is neither ``name`` nor ``name@N``."""
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in NAMES:
        raise ValueError("one of " + ", ".join(sorted(NAMES)) + ", with @N for the Nth time")
    return match[1], int(match[2] or 1)


def _nothing(name: str) -> None:
    """Go on."""


def deadly(deadly_name: str, visits: int) -> Callable[[str], None]:
    """What kills the process at that visit."""

    def reach(name: str) -> None:
        nonlocal visits
        if name == deadly_name:
            visits -= 1
            if visits == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return reach


def _armed(text: str) -> Callable[[str], None]:
    try:
        return deadly(*parse(text)) if text else _nothing
    except ValueError:
        return _nothing  # Settings refuses it, with a sentence


reach: Callable[[str], None] = _armed(os.environ.get("COINSLOT_FAILPOINT", "").strip())
"""Called at each place with its name."""
