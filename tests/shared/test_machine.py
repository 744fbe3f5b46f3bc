"""What a process may use is what its container may."""

from __future__ import annotations

import os
from pathlib import Path

from shared import machine


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
