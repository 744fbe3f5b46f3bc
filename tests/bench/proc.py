"""What a process and its descendants cost, from /proc."""

from __future__ import annotations

import os
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all its descendants, itself first. Empty when it has ended."""
    pids = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                pids += family(int(child))
    except (FileNotFoundError, ProcessLookupError):
        return pids
    return [pid, *pids]


def cpu_s(pid: int) -> float:
    """CPU seconds of the family, in user and kernel mode. In ticks of 10 ms: measure over seconds."""
    return sum(_cpu_s(each) for each in family(pid))


def resident_bytes(pid: int) -> int:
    """Resident set size of the family."""
    return sum(_resident_bytes(each) for each in family(pid))


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) * _TICK_S


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
