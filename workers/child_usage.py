"""What a child has used, as the kernel counts it: the child cannot change it."""

import os
import time

_PROCESS_CPU_CLOCK = 2
"""The kernel's clock of the time that a process, as others see it, was running (clock_getcpuclockid(3))."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def cpu_time_s(pid: int) -> float:
    """The CPU time that a process has spent; 0 when it is gone. Any user may ask, and the process cannot change it."""
    try:
        return time.clock_gettime((~pid << 3) | _PROCESS_CPU_CLOCK)
    except OSError:
        return 0.0


def data_bytes(pid: int) -> int:
    """The bytes that RLIMIT_DATA counts (proc(5), statm); 0 when the process has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as statm:
            return int(statm.read().split()[5]) * _PAGE_BYTES
    except OSError:
        return 0
