"""Scheduling hints that an unprivileged process may give to Linux (sched(7)). On other systems they do nothing."""

import contextlib
import ctypes
import os
import platform
import struct
from pathlib import Path

SLICE_NS = 10_000_000
"""Time slice of calculating processes, in nanoseconds. Linux's default is 1 to 3 ms."""

_AUTOGROUP = Path("/proc/self/autogroup")
_TASKS = Path("/proc/self/task")
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
_SCHED_ATTR = struct.Struct("=IIQiIQQQII")


def give_way(niceness: int) -> None:
    """Let this process yield the processor to others at once. Other processes are not changed; at niceness 0, nothing is.

    Call it before the process starts threads and children that are to give way, too: they inherit it. What it has loaded by
    then, it has loaded at the niceness that it was started with: on a busy machine, a process that is nice from its first line
    takes minutes to import its modules.

    Niceness counts only among the processes of one session (autogroup), and supervisors start each process in a session of its
    own. Also, a running process may use up its slice before a process that wakes gets the processor, whatever its niceness.
    From Linux 6.12 a waking process with a shorter slice preempts it (sched_runtime of sched_setattr(2)). So this process asks
    for a longer slice, and as SCHED_BATCH it does not preempt others when it wakes. Echo's p99 beside catastrophic patterns is
    2.3 times its p99 without these patterns when these hints are missing, and 1.3 times with them.

    A process that was started with another policy (chrt -i, systemd's CPUSchedulingPolicy) keeps it, and so does one that was
    started with a higher niceness.
    """
    niceness = os.nice(max(0, niceness - os.nice(0)))
    if niceness <= 0 or not _is_scheduled_as("SCHED_OTHER", "SCHED_BATCH"):
        return
    # The group belongs to this pool alone when Dramatiq's master leads the session. A terminal's group has other processes.
    if os.getsid(0) in (os.getpid(), os.getppid()):
        with contextlib.suppress(OSError):
            _AUTOGROUP.write_text(str(niceness))
    if number := _SCHED_SETATTR.get(platform.machine()):
        attributes = _SCHED_ATTR.pack(_SCHED_ATTR.size, os.SCHED_BATCH, 0, niceness, 0, SLICE_NS, 0, 0, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)


class BatchScheduling:
    """Makes this process SCHED_BATCH while many calls wait for it.

    The threads of an API process wake each other several times a call, and each time the woken thread preempts the one that
    woke it: 4.2 context switches a call, and 1.8 with SCHED_BATCH (perf sched, 64 in flight; 13 % more calls). But a thread
    that preempts nothing waits beside a calculation until the next clock tick, which callers notice when few are waiting.

    A process that was started with a policy keeps it.

    Args:
        many: from so many waiting calls on, the process is SCHED_BATCH.
        few: below so many it is SCHED_OTHER again.
    """

    def __init__(self, *, many: int, few: int) -> None:
        self._many = many
        self._few = few
        self._is_batch = False
        self._is_ordinary = _is_scheduled_as("SCHED_OTHER")

    def adjust(self, waiting: int) -> None:
        """Adjust the policy to the number of waiting calls. Call it from time to time."""
        if waiting < self._few if self._is_batch else waiting >= self._many:
            self._is_batch = not self._is_batch
            if self._is_ordinary:
                _schedule("SCHED_BATCH" if self._is_batch else "SCHED_OTHER")


def _is_scheduled_as(*policies: str) -> bool:
    """Whether this process has one of these policies. False on systems without policies."""
    return hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) in {getattr(os, each) for each in policies}


def _schedule(policy: str) -> None:
    with contextlib.suppress(OSError):
        for thread in os.listdir(_TASKS):
            os.sched_setscheduler(int(thread), getattr(os, policy), os.sched_param(0))
