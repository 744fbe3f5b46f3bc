"""Who gets the processor: what an ordinary process may tell Linux about itself (sched(7)). Elsewhere nothing happens."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
from pathlib import Path

SLICE_NS = 10_000_000
"""Linux's own is 1 to 3 ms."""

_AUTOGROUP = Path("/proc/self/autogroup")
_TASKS = Path("/proc/self/task")
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
_SCHED_ATTR = struct.Struct("=IIQiIQQQII")


def schedule_as_batch() -> None:
    """For a process that was started with `nice`, before it starts threads and children, which follow it: calculations take
    what others leave, and give it up at once. Other processes are left as they are.

    Niceness counts only among the processes of one session (autogroup), and supervisors start each in a session of its own.
    And whoever runs may use up his slice before another that wakes gets the processor, however nice he is. From Linux 6.12 on
    the one with the shorter slice is let in (sched_runtime of sched_setattr(2)): so those that calculate ask for a longer one,
    and as SCHED_BATCH they drive nobody out when they wake themselves. Echo's p99 beside catastrophic patterns: 2.3 times its
    p99 alone without all this, 1.3 times with it (tests/bench/bench_hostile.py).

    Who runs it with a policy of another kind (chrt -i, systemd's CPUSchedulingPolicy) keeps that.
    """
    niceness = os.nice(0)
    if niceness <= 0 or not _is_scheduled_as("SCHED_OTHER", "SCHED_BATCH"):
        return
    # The group is this pool's alone when Dramatiq's master leads the session. A terminal's would be everybody's.
    if os.getsid(0) in (os.getpid(), os.getppid()):
        with contextlib.suppress(OSError):
            _AUTOGROUP.write_text(str(niceness))
    if number := _SCHED_SETATTR.get(platform.machine()):
        attributes = _SCHED_ATTR.pack(_SCHED_ATTR.size, os.SCHED_BATCH, 0, niceness, 0, SLICE_NS, 0, 0, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)


class BatchScheduling:
    """Makes this process SCHED_BATCH while many wait for it.

    The threads of an API process wake each other several times a call, and each time the one that wakes drives out the one that
    woke it: 4.2 switches a call, and 1.8 without (perf sched, 64 in flight; 13 % more calls). But who may drive nobody out
    waits beside a calculation until the clock ticks, which a caller notices when there is no crowd.

    A process that was started with a policy keeps it.

    Args:
        many: that is a crowd.
        few: that is none any more.
    """

    def __init__(self, *, many: int, few: int) -> None:
        self._many = many
        self._few = few
        self._is_there = False
        self._is_ordinary = _is_scheduled_as("SCHED_OTHER")

    def look(self, waiting: int) -> None:
        """Say now and then how many wait."""
        if waiting < self._few if self._is_there else waiting >= self._many:
            self._is_there = not self._is_there
            if self._is_ordinary:
                _schedule("SCHED_BATCH" if self._is_there else "SCHED_OTHER")


def _is_scheduled_as(*policies: str) -> bool:
    """False where there are no policies."""
    return hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) in {getattr(os, each) for each in policies}


def _schedule(policy: str) -> None:
    with contextlib.suppress(OSError):
        for thread in os.listdir(_TASKS):
            os.sched_setscheduler(int(thread), getattr(os, policy), os.sched_param(0))
