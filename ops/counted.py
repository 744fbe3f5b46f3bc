"""What the processes of this machine have counted (shared/observability/metrics.py), added up.

The files of processes that have ended are added to one archive for each kind and removed, so the folder does not grow and no
sum falls. A process has ended when nobody holds the lock of its file.
"""

import contextlib
import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

from shared.observability.metrics import FILE_BYTES, KINDS


class CountedSeries:
    """The folder's sums."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plan = folder / "plan.json"

    def read(self) -> Sequence[Metric]:
        """All series. Raises OSError when the folder cannot be used."""
        with self._alone():
            self._carry_out()
            for kind in KINDS:
                self._archive(kind)
            files = sorted(str(path) for path in self._folder.glob("*.db"))
            return list(MultiProcessCollector.merge(files))  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Only one thread of one process reads and archives at a time."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _archive(self, kind: str) -> None:
        """Add the files of ended processes to the archive. The plan is what decides: whoever is killed before it is written has
        done nothing, and the next one carries out what it says."""
        ended = [
            path for path in self._folder.glob(f"{kind}_*.db") if path != self._archive_of(kind) and _has_ended(path)
        ]
        if not ended:
            return
        sums: Counter[str] = Counter()
        for path in [self._archive_of(kind), *ended]:
            if path.exists():
                for key, value, _, _ in MmapedDict.read_all_values_from_file(path):  # type: ignore[no-untyped-call]
                    sums[key] += value
        successor = self._archive_of(kind).with_suffix(".new")
        with successor.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, FILE_BYTES)
        written = MmapedDict(str(successor))  # type: ignore[no-untyped-call]
        for key, value in sums.items():
            written.write_value(key, value, 0.0)  # type: ignore[no-untyped-call]
        written.close()  # type: ignore[no-untyped-call]
        begun = self._plan.with_suffix(".new")
        begun.write_text(json.dumps({"kind": kind, "ended": [path.name for path in ended]}))
        begun.replace(self._plan)
        self._carry_out()

    def _carry_out(self) -> None:
        """Replace the archive and remove what is in it. It may be done twice."""
        try:
            plan = json.loads(self._plan.read_text())
        except FileNotFoundError:
            return
        archive = self._archive_of(plan["kind"])
        with contextlib.suppress(FileNotFoundError):
            archive.with_suffix(".new").replace(archive)
        for name in plan["ended"]:
            (self._folder / name).unlink(missing_ok=True)
        self._plan.unlink()

    def _archive_of(self, kind: str) -> Path:
        return self._folder / f"{kind}_archive.db"


def _has_ended(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
