"""What a process may use is what its container may."""

import os
from pathlib import Path

from shared.process import machine


def test_a_container_s_limits_count_and_none_is_no_limit(tmp_path: Path) -> None:
    """A quota is rounded up, and never gives more than the machine has."""
    here = len(os.sched_getaffinity(0))
    physical = machine.memory_bytes(tmp_path)

    assert (machine.cores(tmp_path), physical > 0) == (here, True)  # no such files

    for quota, cores in (
        ("max 100000", here),
        ("50000 100000", 1),
        ("150000 100000", min(here, 2)),
        ("900000000 1", here),
    ):
        (tmp_path / "cpu.max").write_text(f"{quota}\n")
        assert machine.cores(tmp_path) == cores, quota
    for limit, size in (("max", physical), ("268435456", 1 << 28), (str(1 << 62), physical)):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        assert machine.memory_bytes(tmp_path) == size, limit


def test_free_memory_is_that_of_the_narrowest_limit(tmp_path: Path) -> None:
    """Of the machine with its swap, or of a group of this process or above it; files in memory are free."""
    proc, cgroup = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    3000 kB\nSwapFree: 1000 kB\n")
    (proc / "self" / "cgroup").write_text("4:memory:/one\n0::/system.slice/shop.service\n")

    def limited(folder: str, **files: str) -> int:
        (cgroup / folder).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (cgroup / folder / name.replace("_", ".", 1)).write_text(text)
        return machine.free_memory_bytes(cgroup, proc)

    assert machine.free_memory_bytes(cgroup, proc) == 4000 * 1024
    assert limited("system.slice/shop.service", memory_max="max\n", memory_current="1000\n") == 4000 * 1024
    assert limited("system.slice", memory_max="2000000\n", memory_current="500000\n") == 1_500_000
    assert limited("system.slice", memory_stat="file 9\ninactive_file 100000\n") == 1_600_000
    v1 = {"memory_limit_in_bytes": "700000\n", "memory_usage_in_bytes": "600000\n"}
    assert limited("memory", **v1, memory_stat="inactive_file 1\ntotal_inactive_file 50000\n") == 100_001
    assert limited("memory/one", **{**v1, "memory_usage_in_bytes": "800000\n"}) == 0
