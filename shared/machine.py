"""What this process may use: the machine's cores and memory, or less where a container is limited (cgroup v2).

In a container the kernel's files of the whole machine are seen, and /sys/fs/cgroup has the container's own limits.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def cores(cgroup: Path = CGROUP) -> int:
    """How many cores, at least one: those that it may run on, or the quota of processor time (`cpu.max`), rounded up."""
    able = len(os.sched_getaffinity(0))
    quota, _, period = _read(cgroup / "cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal() and int(period):
        able = min(able, math.ceil(int(quota) / int(period)))
    return max(1, able)


def memory_bytes(cgroup: Path = CGROUP) -> int:
    """How much memory: the machine's, or the container's limit (`memory.max`)."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = _read(cgroup / "memory.max")
    return min(physical, int(limit)) if limit.isdecimal() else physical


def _read(path: Path) -> str:
    """The text of a file; "" when there is no such limit here."""
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
