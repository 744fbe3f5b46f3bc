"""Calculations in child processes."""

import time

from shared import outcome
from shared.outcome import DeadlineExceeded, Failed, Forbidden, UpstreamFailed
from workers import children
from workers.child import Work
from workers.children import FORBIDDEN, ChildPool, Exhausted


class ChildCalculations:
    """Implements jobs.ports.Calculations."""

    def __init__(self, children: ChildPool) -> None:
        self._children = children

    def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
        """Run a calculation and return its result.

        Args:
            limit_s: seconds of CPU time.
            deadline: monotonic seconds until which it waits for a free child and its answer; in 10 s without it.

        Raises:
            UpstreamFailed: `bad_content` when it took too much time or memory, or what the calculation raises.
            DeadlineExceeded: no child was free, or answered, in time.
            Forbidden: the child was killed for a system call.
            NotStarted: this worker has no children.
        """
        wait_s = 10.0 if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            result = outcome.decode(self._children.call(Work(name, "", argument), limit_s=limit_s, wait_s=wait_s))
        except TimeoutError:
            raise DeadlineExceeded("The call took too long, or waited too long to be started.") from None
        except Exhausted:
            raise UpstreamFailed("What came back takes too much to read.", reason="bad_content") from None
        except children.Forbidden:
            raise Forbidden(FORBIDDEN) from None
        if not isinstance(result, Failed):
            return result.body
        if result.code == UpstreamFailed.code:
            raise UpstreamFailed(result.detail, reason=result.reason, is_final=not result.retryable)
        raise RuntimeError(f"{name} failed: {result.code}")
