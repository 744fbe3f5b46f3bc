"""Which tests run in one process, and which come first."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

OWN_SERVICES = ("test_by_hand.py", "test_canary.py", "test_dashboard.py", "test_other_settings.py", "test_processes.py")
"""Of tests/e2e and tests/pages: they start processes with settings of their own."""
HEAVY = (
    *("tests/chaos/", "tests/e2e/", "tests/pages/", "tests/workers/browser/"),
    *("tests/api/test_dispatch.py", "tests/api/test_pipeline.py", "tests/workers/test_children.py"),
)
"""Folders whose tests start many processes, and files that take long."""


class SharedServices(LoadScopeScheduling):
    """The tests of a file share their servers, and those of some files a whole service: it takes 17 s of CPU time to start, and
    more than a gigabyte."""

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


class EndOfService:
    """Ends the whole service with the last test that shares it: beside those that come then it would only take memory."""

    def __init__(self) -> None:
        self._ends: list[Callable[[], object]] = []

    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
        """Remember how it is ended."""
        if fixturedef.argname == "service":
            self._ends.append(partial(fixturedef.finish, request))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Function | None) -> None:
        """End it between two scopes, unless the next one shares it, too."""
        if (
            nextitem is not None
            and scope(item.nodeid) != scope(nextitem.nodeid)
            and "service" not in nextitem.fixturenames
        ):
            while self._ends:
                self._ends.pop()()


def scope(nodeid: str) -> str:
    """The tests of one scope run in one process, one after the other."""
    file = PurePosixPath(nodeid.partition("::")[0])
    folder = file.parent.name
    if folder in ("clients", "e2e", "pages") and file.name not in OWN_SERVICES:
        return "with a service"
    return str(file)


def order(nodeids: Sequence[str]) -> list[str]:
    """The tests in the order in which their scopes are handed out.

    What shares a service takes longest and comes first. What keeps more than one core busy is spread among the first four
    fifths of the rest: four of them at once made two cores so slow that calls of other tests missed their deadlines.
    """
    scopes: dict[str, list[str]] = {}
    for nodeid in nodeids:
        scopes.setdefault(scope(nodeid), []).append(nodeid)
    shared = [name for name in scopes if not name.endswith(".py")]
    heavy = [name for name in scopes if name not in shared and name.startswith(HEAVY)]
    light = [name for name in scopes if name not in shared and not name.startswith(HEAVY)]
    ordered, parts = shared, max(1, len(heavy) * 5 // 4)
    for number in range(parts):
        part = slice(len(light) * number // parts, len(light) * (number + 1) // parts)
        ordered += [*heavy[number : number + 1], *light[part]]
    return [nodeid for name in ordered for nodeid in scopes[name]]
