"""Which tests run in one process, and which come first."""

from __future__ import annotations

from pathlib import PurePosixPath

from xdist.scheduler import LoadScopeScheduling

OWN_SERVICES = ("test_by_hand.py", "test_canary.py", "test_other_settings.py", "test_processes.py")
"""Of tests/e2e: they start processes with settings of their own."""


class SharedServices(LoadScopeScheduling):
    """The tests of a file share their servers, and those of some files a whole service: a service takes 17 s of CPU time to
    start, and most of a gigabyte."""

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


def scope(nodeid: str) -> str:
    """The tests of one scope run in one process, one after the other."""
    file = PurePosixPath(nodeid.partition("::")[0])
    folder = file.parent.name
    if folder == "e2e" and file.name not in OWN_SERVICES:
        return "e2e"
    if folder == "clients" or (folder == "pages" and file.name != "test_dashboard.py"):
        return "clients and pages"
    return str(file)


def rank(nodeid: str) -> int:
    """Low numbers come first: what takes longest must not be begun last."""
    if not scope(nodeid).endswith(".py"):
        return 0
    return 1 if nodeid.startswith(("tests/chaos/", "tests/e2e/", "tests/pages/", "tests/workers/browser/")) else 2
