"""Processes are started from where a link leads at their start, and keep that place."""

import asyncio
import sys
from pathlib import Path

import pytest

from compose.procfile import Line
from compose.supervised_process import SupervisedProcess
from tests.upgrade.revision import Revision

PROGRAM = '#!/bin/sh\necho "${0%/*}" >"$PLACE"\n'


@pytest.fixture
def releases(tmp_path: Path) -> list[Path]:
    """Two, with a program each."""
    made = []
    for name in ("1", "2"):
        program = tmp_path / "releases" / name / ".venv" / "bin" / "program"
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM)
        program.chmod(0o755)
        made.append(tmp_path / "releases" / name)
    return made


def test_a_process_is_of_the_release_that_the_link_names(
    releases: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program has no link in its path: what it loads later is of the same release."""
    revision = Revision(tmp_path, {}, "http://127.0.0.1:1")
    monkeypatch.setattr(sys, "executable", str(revision.link / ".venv" / "bin" / "python"))
    monkeypatch.setattr("compose.supervised_process.tethered", list)
    monkeypatch.setenv("PLACE", str(tmp_path / "place"))
    for release in (*releases, releases[0]):
        revision.install(release)
        asyncio.run(SupervisedProcess(Line("program", ("program",), {}))._run())
        assert (tmp_path / "place").read_text() == f"{release}/.venv/bin\n"


def test_the_log_says_why_calls_were_refused(tmp_path: Path) -> None:
    """By cause, whatever else is in it."""
    line = "WARNING api.call_log: paid call not answered: request=1 code=unavailable cause={} charged=false\n"
    (tmp_path / "service.log").write_text(line.format("rail_down") + "other\n" + line.format("rail_down"))
    assert Revision(tmp_path, {}, "").causes() == {"rail_down": 2}
