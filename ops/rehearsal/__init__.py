"""`coinslot-ops rehearse`: buys calls of our own service as a customer would, and looks at what the chains show of it."""

from typing import Any, Final, Literal, NamedTuple

from ops.queries import Failed

Level = Literal["ok", "note", "fail"]
OK: Final = "ok"
NOTE: Final = "note"
"""Not wrong, and other than in the sandbox."""
FAIL: Final = "fail"


class Step(NamedTuple):
    """What one step of a rehearsal saw.

    Attributes:
        rail, call: that it is about; empty for all of them.
        step: challenge, payment, receipt, finality, transfer, balance, fee, or sandbox for what differs from it.
        seen: the same for programs.
    """

    level: Level
    rail: str
    call: str
    step: str
    detail: str
    seen: dict[str, Any]


class Refused(Failed):
    """The rehearsal does not start, and nothing was signed. The text says why and what to do."""

    code = 2
