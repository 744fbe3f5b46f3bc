"""Which Python scripts/setup takes. Each interpreter here is a program that answers as one would, and installs nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compose.sandbox.child import ROOT

Checkout = Callable[..., str]


@pytest.fixture
def told(tmp_path: Path) -> Checkout:
    """Runs scripts/setup alone in a folder, where nothing can be fetched, until an interpreter fails. What it says."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts")
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    program(tmp_path / "programs" / "apt-get", fails_at="")

    def run(*pythons: Path) -> str:
        environment = {
            "PATH": f"{tmp_path / 'programs'}:{os.environ['PATH']}",
            "PYTHON": " ".join(str(python) for python in pythons),
        }
        command = [str(tmp_path / "scripts" / "setup")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        return done.stderr

    return run


def program(path: Path, *, fails_at: str) -> Path:
    """An executable that fails where its arguments have this word, and where it should install something."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\ncase "$*" in *"{fails_at}"*|*"-m venv"*|*"pip install"*) exit 1;; esac\n')
    path.chmod(0o755)
    return path


def test_one_that_makes_environments_is_preferred(told: Checkout, tmp_path: Path) -> None:
    """Given Debian's Python without python3-venv and another, whichever is named first, then the other."""
    bare, whole = (
        program(tmp_path / name, fails_at=word) for name, word in (("bare", "ensurepip"), ("whole", "never"))
    )

    assert f"making .venv with {whole}" in told(bare, whole)
    assert f"making .venv with {whole}" in told(whole, bare)


def test_an_unsupported_one_is_passed_over(told: Checkout, tmp_path: Path) -> None:
    """Its version is asked for, and one that is not there is none."""
    old, whole = (
        program(tmp_path / name, fails_at=word) for name, word in (("old", "version_info"), ("whole", "never"))
    )

    assert f"making .venv with {whole}" in told(tmp_path / "nowhere", old, whole)
    assert "Python 3.11, 3.12 or 3.13 is needed" in told(tmp_path / "nowhere", old)


def test_an_environment_that_is_there_needs_no_other_python(told: Checkout, tmp_path: Path) -> None:
    """It is installed into, unless its own version is not supported."""
    inside = tmp_path / ".venv" / "bin" / "python"

    program(inside, fails_at="never")
    assert "making .venv" not in (said := told(tmp_path / "nowhere"))
    assert "installing the pinned packages" in said

    program(inside, fails_at="version_info")
    whole = program(tmp_path / "whole", fails_at="never")
    assert f"making .venv with {whole}" in told(whole)
