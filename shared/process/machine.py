"""What this process may use: the machine's cores and memory, or less where a container is limited (cgroup v2).

In a container the kernel's files of the whole machine are seen, and /sys/fs/cgroup has the container's own limits.
"""

import math
import os
import re
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
PROC = Path("/proc")


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


def free_memory_bytes(cgroup: Path = CGROUP, proc: Path = PROC) -> int:
    """How much memory more: what the machine has with its swap, or less where a container or systemd limits this process, with
    cgroup v1 or v2. Files that the kernel keeps in memory count as free."""
    fields = dict(line.split(":", 1) for line in _read(proc / "meminfo").splitlines())
    free: float = sum(int(fields.get(name, "0").split()[0]) * 1024 for name in ("MemAvailable", "SwapFree"))
    for line in _read(proc / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            free = min(free, _left(cgroup, path, "memory.max", "memory.current"))
        elif controllers == "memory":
            free = min(free, _left(cgroup / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes"))
    return max(0, int(free))


def _left(root: Path, path: str, limit_file: str, usage_file: str) -> float:
    """What the limits of a group and of those above it leave; inf without a limit. A container may not see its own group: then
    only the root is there, which is the container's."""
    own = root / path.lstrip("/")
    left = math.inf
    for group in (own, *own.parents):
        limit, usage = _read(group / limit_file), _read(group / usage_file)
        if group.is_relative_to(root) and limit.isdecimal() and usage.isdecimal():
            cached = re.search(r"^(?:total_)?inactive_file (\d+)", _read(group / "memory.stat"), re.MULTILINE)
            left = min(left, int(limit) - int(usage) + int(cached[1] if cached else 0))
    return left


def _read(path: Path) -> str:
    """The text of a file; "" when there is no such limit here."""
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
