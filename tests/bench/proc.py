"""What a process and its descendants cost, from /proc."""

import os
import resource
import time
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Others:
    """How much of the machine the programs took that are none of ours, since this object was made."""

    def __init__(self) -> None:
        self._started = time.monotonic(), _machine_s(), _own_s()

    def share(self) -> float:
        """Of all cores, from 0 to 1. Ask when all children have ended: the living ones count as others."""
        started, machine_s, own_s = self._started
        others_s = (_machine_s() - machine_s) - (_own_s() - own_s)
        return max(0.0, others_s / ((time.monotonic() - started) * (os.cpu_count() or 1)))


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


def _machine_s() -> float:
    """CPU seconds that all cores were not idle for."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = (
        int(ticks) for ticks in Path("/proc/stat").read_text().split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) * _TICK_S


def _own_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


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
