"""The clients' environments are made whole, once, or are told to be missing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.clients import environments
from tests.e2e.running import free_port


@pytest.fixture
def no_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """pip and npm look for their registry where nobody listens, and have nothing in their caches."""
    nowhere = f"http://127.0.0.1:{free_port()}/"
    for name in ("PIP_INDEX_URL", "NPM_CONFIG_REGISTRY"):
        monkeypatch.setenv(name, nowhere)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NPM_CONFIG_FETCH_RETRY_MINTIMEOUT", "1")


@pytest.mark.usefixtures("no_registry")
def test_without_a_registry_the_reason_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    """So that the next run tries again."""
    with pytest.raises(environments.Unavailable, match=r"the xrpl client is not installed .* no package registry"):
        environments.python("xrpl", var=tmp_path)
    assert not (tmp_path / "clients-xrpl").exists()


@pytest.mark.usefixtures("no_registry")
def test_without_a_registry_npm_installs_nothing(tmp_path: Path) -> None:
    """The same for JavaScript."""
    with pytest.raises(environments.Unavailable, match=r"the npm client is not installed|no JavaScript client"):
        environments.node(var=tmp_path)
    assert not (tmp_path / "clients-npm" / "node_modules" / ".package-lock.json").exists()


def test_what_a_registry_does_not_have_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that cannot be had is skipped only when no registry answers."""
    monkeypatch.setattr(environments, "LOCKS", tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "odd.lock").write_text(f"no-such-package-here==1 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(environments.InstallFailed, match="no-such-package-here"):
        environments.python("odd", var=tmp_path)


def test_two_at_once_make_it_once_and_a_new_lock_makes_it_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content of the lock decides, and the second waits for the first."""
    monkeypatch.setattr(environments, "LOCKS", tmp_path)
    made: list[Any] = []
    create = environments.venv.create
    monkeypatch.setattr(environments.venv, "create", lambda *a, **k: (made.append(a), create(*a, **k)))
    lock = tmp_path / "empty.lock"
    lock.write_text("# nothing\n")
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda _: environments.python("empty", var=tmp_path / "var"), range(2))
    assert first == second
    assert first.exists()
    assert len(made) == 1
    lock.write_text("# nothing else\n")
    environments.python("empty", var=tmp_path / "var")
    assert len(made) == 2
