"""Processes that get a part of a core (Linux control groups; needs root). So two cores can hold what otherwise takes many."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from tests.bench import proc

PERIOD_US = 50_000
ENDED_WITHIN_S = 10.0
_V1 = Path("/sys/fs/cgroup/cpu")
_V2 = Path("/sys/fs/cgroup")


class NoQuota(Exception):
    """This machine lets us limit nothing."""


class Quotas:
    """Groups of processes. Use `quotas`."""

    def __init__(self) -> None:
        self.groups: list[Path] = []

    def limit(self, pid: int, share: float) -> None:
        """From now on, a process and what it has started get this share of one core together. Raises NoQuota."""
        is_v1 = (_V1 / "cpu.cfs_quota_us").exists()
        group = (_V1 if is_v1 else _V2) / f"coinslot-bench-{uuid.uuid4().hex}"
        quota_us = int(share * PERIOD_US)
        try:
            group.mkdir()
            self.groups.append(group)
            if is_v1:
                (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (group / "cpu.cfs_quota_us").write_text(str(quota_us))
            else:
                (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
            for each in proc.family(pid):
                (group / "cgroup.procs").write_text(str(each))
        except OSError as error:
            raise NoQuota(f"no share of a core can be set here: {error}") from None


@contextlib.contextmanager
def quotas() -> Iterator[Quotas]:
    """Groups that are removed in the end, when their processes have ended."""
    made = Quotas()
    try:
        yield made
    finally:
        give_up_at = time.monotonic() + ENDED_WITHIN_S
        for group in made.groups:
            with contextlib.suppress(OSError):
                while group.joinpath("cgroup.procs").read_text() and time.monotonic() < give_up_at:
                    time.sleep(0.05)
                group.rmdir()
