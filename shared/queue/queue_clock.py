"""The time of the queue's server, which decides when a caller has waited too long. A machine's own clock may be wrong, or be
changed while calls run. The API and the workers measure how far the server's clock is from their monotonic clock, and carry
its time from one measurement to the next with the monotonic clock."""

import time
from collections.abc import Iterable

MEASURED_EVERY_S = 1.0
MOST_OFFSET_S = 1.0
"""Operators see a notice about a machine whose clock is further from the queue's: it judges when payments begin and lapse."""
NOTES = "coinslot:clocks"
"""A hash in the queue Redis, a note by machine: which workers run where the clock is that wrong."""
STALE_S = 60.0
_DRIFT = 1e-3
"""Seconds that two clocks may lose each second: far more than clocks do."""


class QueueClock:
    """What time the queue's server has. Until it is measured, this machine's own time."""

    def __init__(self) -> None:
        self._ahead_s = time.time() - time.monotonic()
        self._error_s = float("inf")
        self._measured_at = float("-inf")

    def now_s(self) -> float:
        """Unix seconds. It costs 0.1 us."""
        return time.monotonic() + self._ahead_s

    @property
    def is_due(self) -> bool:
        """Whether the next measurement is."""
        return time.monotonic() - self._measured_at >= MEASURED_EVERY_S

    @property
    def offset_s(self) -> float:
        """How far this machine's own clock is ahead of the server's."""
        return time.time() - self.now_s()

    def measured(self, asked_at: float, answered_at: float, server_s: float) -> None:
        """Learn what the server answered to TIME. The server read its clock at some moment between the question and the answer,
        so half of the round trip is the error. A better measurement is kept, unless this one contradicts it.

        Args:
            asked_at, answered_at: monotonic seconds.
            server_s: Unix seconds.
        """
        ahead_s, error_s = server_s - (asked_at + answered_at) / 2, (answered_at - asked_at) / 2
        known_error_s = self._error_s + _DRIFT * (answered_at - self._measured_at)
        self._measured_at = answered_at
        if error_s <= known_error_s or abs(ahead_s - self._ahead_s) > error_s + known_error_s:
            self._ahead_s, self._error_s = ahead_s, error_s
        else:
            self._error_s = known_error_s


def note(now_s: float, machine: str, offset_s: float) -> str:
    """The value of a machine's field.

    Args:
        now_s: Unix seconds of the queue's clock.
    """
    return f"{now_s:.0f} {sentence(machine, offset_s)}"


def sentence(machine: str, offset_s: float, *, beside: str = "the queue's") -> str:
    """For people, without a stop."""
    return f"The clock of {machine} is {abs(offset_s):.1f} s {'ahead of' if offset_s > 0 else 'behind'} {beside}"


def sentences(notes: Iterable[bytes], now_s: float) -> list[str]:
    """The notes that count."""
    found = (text.decode("utf-8", "replace").partition(" ") for text in notes)
    return [text for noted_s, _, text in sorted(found) if noted_s.isdecimal() and now_s - int(noted_s) < STALE_S]
