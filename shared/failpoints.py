"""Named places where a process can be killed, for tests of what survives it (tests/chaos).

COINSLOT_FAILPOINT=settled kills the process when it first calls `reach("settled")`, settled@3 at the third call. As with
kill -9, no code runs afterwards. The setting is read when this module is imported. Without it, a call does nothing.
"""

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
    """Read a name and the number of the call that kills. Raises ValueError unless it is ``name`` or ``name@N``."""
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in NAMES:
        raise ValueError("one of " + ", ".join(sorted(NAMES)) + ", with @N for the Nth time")
    return match[1], int(match[2] or 1)


def _nothing(name: str) -> None:
    """Do nothing."""


def deadly(deadly_name: str, visits: int) -> Callable[[str], None]:
    """The function that kills the process at this call."""

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
        return _nothing  # Settings refuses the value with a sentence


reach: Callable[[str], None] = _armed(os.environ.get("COINSLOT_FAILPOINT", "").strip())
"""Each place calls it with its name."""
