"""Which Python scripts/setup takes, and what it says when it cannot install. Nothing is installed: an interpreter is a program
that answers as one would, or no package index can be reached."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pip
import pytest

from compose.sandbox.child import ROOT

Checkout = Callable[..., str]


@pytest.fixture
def set_up(tmp_path: Path) -> Checkout:
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


def test_one_that_makes_environments_is_preferred(set_up: Checkout, tmp_path: Path) -> None:
    """Given Debian's Python without python3-venv and another, whichever is named first, then the other."""
    bare, whole = (
        program(tmp_path / name, fails_at=word) for name, word in (("bare", "ensurepip"), ("whole", "never"))
    )

    assert f"making .venv with {whole}" in set_up(bare, whole)
    assert f"making .venv with {whole}" in set_up(whole, bare)


def test_an_unsupported_one_is_passed_over(set_up: Checkout, tmp_path: Path) -> None:
    """Its version is asked for, and one that is not there is none."""
    old, whole = (
        program(tmp_path / name, fails_at=word) for name, word in (("old", "version_info"), ("whole", "never"))
    )

    assert f"making .venv with {whole}" in set_up(tmp_path / "nowhere", old, whole)
    assert "Python 3.11, 3.12 or 3.13 is needed" in set_up(tmp_path / "nowhere", old)


def test_an_environment_that_is_there_needs_no_other_python(set_up: Checkout, tmp_path: Path) -> None:
    """It is installed into, unless its own version is not supported."""
    inside = tmp_path / ".venv" / "bin" / "python"

    program(inside, fails_at="never")
    assert "making .venv" not in (said := set_up(tmp_path / "nowhere"))
    assert "installing the pinned packages" in said

    program(inside, fails_at="version_info")
    whole = program(tmp_path / "whole", fails_at="never")
    assert f"making .venv with {whole}" in set_up(whole)


@pytest.fixture
def packages_missing(tmp_path: Path) -> Path:
    """A checkout whose environment has pip and no packages."""
    checkout = tmp_path / "checkout"
    (checkout / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup", checkout / "scripts")
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, checkout)
    venv.create(checkout / ".venv", symlinks=True)
    library = checkout / ".venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    (library / "pip").symlink_to(Path(pip.__file__).parent)
    return checkout


def last_line(*command: str) -> str:
    """What a command that fails says at the end, where no package index can be reached."""
    environment = {"PATH": os.environ["PATH"], "PIP_INDEX_URL": "http://127.0.0.1:1/simple", "PIP_RETRIES": "0"}
    environment["PIP_CONFIG_FILE"] = os.devnull
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    *others, last = done.stderr.splitlines()
    assert any("ERROR:" in line for line in others), done.stderr
    return last


def test_a_machine_without_a_network_gets_a_sentence_that_says_what_to_do(packages_missing: Path) -> None:
    """One sentence after pip's output."""
    last = last_line(str(packages_missing / "scripts" / "setup"))

    assert last.startswith("setup: the pinned packages could not be installed, as the output above says.")
    assert "set PIP_INDEX_URL to an index that it reaches, then run this again." in last


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_named(packages_missing: Path, tmp_path: Path) -> None:
    """With its free space, and with what is needed."""
    script = 'mount -t tmpfs -o size=8m tmpfs "$1" && cp -a "$2/." "$1" && exec "$1/scripts/setup"'
    disk = tmp_path / "disk"
    disk.mkdir()

    last = last_line("unshare", "--mount", "sh", "-c", script, "sh", str(disk), str(packages_missing))

    assert last.startswith(f"setup: the pinned packages could not be installed: the disk of {disk} has ")
    assert last.endswith(" MB free. Free 1000 MB, then run this again.")
