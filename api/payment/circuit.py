"""A circuit breaker: a facilitator that fails gets no payments until it has answered a question that costs nothing.

closed ── failures in a row ──▶ open ── it answers a trial ──▶ on probation ── it answers a settlement ──▶ closed
                                ▲  └─ it does not: longer ─┐         │
                                └──────────────────────────┴─ or it fails
"""

from collections.abc import Callable


class Circuit:
    """Counts the failures of one facilitator. It has no clock: the caller waits `pause_s` before each trial.

    Args:
        failures: failures in a row that open it.
        pause_s: seconds until the first trial.
        longest_pause_s: the longest pause. A pause doubles with each opening until a settlement was answered.
    """

    def __init__(self, *, failures: int = 5, pause_s: float = 2.0, longest_pause_s: float = 60.0) -> None:
        self.is_open = False
        self.has_reopened = False
        """Whether it has opened again before a settlement was answered."""
        self.pause_s = 0.0
        self.openings = 0
        """How often it has opened. A caller notes it first: its failure does not count if the circuit opened meanwhile."""
        self.on_change: Callable[[], None] = lambda: None
        self._limit = failures
        self._first_s = pause_s
        self._longest_s = longest_pause_s
        self._failures = 0

    def failed(self, openings: int) -> None:
        """A call failed.

        Args:
            openings: the value when the call began.
        """
        if self.is_open or openings != self.openings:
            return
        self._failures += 1
        if self._failures >= self._limit:
            self._open()

    def worked(self) -> None:
        """A call was answered, whatever the answer."""
        self._failures, self.pause_s = 0, 0.0
        self._close()

    def tried(self, *, passed: bool) -> None:
        """Record the result of a trial of an open circuit."""
        if not self.is_open:
            return
        if passed:
            self._failures = self._limit - 1
            self._close()
        else:
            self._open()

    def _open(self) -> None:
        self.has_reopened = self.pause_s > 0
        self.pause_s = min(max(self._first_s, 2 * self.pause_s), self._longest_s)
        self.openings += 1
        self.is_open = True
        self.on_change()

    def _close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.on_change()
