"""The namespaces of browsers' processes: who is in one was started by a browser, whoever is its parent now."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from tests.bench import proc


class Namespaces:
    """Those that were seen. They are kept open: the kernel gives the number of one that is gone to another browser's."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._own = os.readlink("/proc/self/ns/pid")

    def __len__(self) -> int:
        return len(self._open)

    def note(self, pids: Iterable[int]) -> None:
        """Look at processes."""
        for pid in pids:
            name = _namespace(pid)
            if name and name != self._own and name not in self._open:
                try:
                    kept = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY)
                except OSError:
                    continue  # it has ended
                self._open[name] = kept

    def left(self) -> list[str]:
        """The processes that are in one of them now, in words."""
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [f"process {pid} is left: {command(pid)[:200]}" for pid in pids if _namespace(pid) in self._open]

    def close(self) -> None:
        """Forget them."""
        for kept in self._open.values():
            os.close(kept)
        self._open.clear()


def command(pid: int) -> str:
    """The command line of a process; "" when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def renderers(parent: int | None = None) -> list[int]:
    """The processes in which pages of this process' browsers run, or of those that another one has started."""
    return [pid for pid in proc.family(parent or os.getpid()) if "--type=renderer" in command(pid)]


def children_of(parent: int) -> set[int]:
    """The processes that a process has started, zombies too."""
    found = set()
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                if int((path / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                    found.add(int(path.name))
    return found
