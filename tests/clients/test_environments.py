"""The clients' environments are made whole, once, or are told to be missing."""

from __future__ import annotations

import json
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from compose.sandbox.child import claim_port
from tests.clients import environments


def test_the_locks_pin_by_hash_and_name_no_registry() -> None:
    """Which one to ask is each machine's own affair."""
    for folder in (environments.LOCKS, environments.LOCKS / "inspector", environments.LOCKS.with_name("pages")):
        packages = json.loads((folder / "package-lock.json").read_text())["packages"]
        del packages[""]
        assert all(one["integrity"].startswith("sha512-") and "resolved" not in one for one in packages.values())
    for lock in environments.LOCKS.glob("*.lock"):
        assert "://" not in lock.read_text()


@pytest.fixture
def no_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """uv stays off the network, pip and npm look for their registry where nobody listens, and their caches are empty."""
    nowhere = f"http://127.0.0.1:{claim_port(0)}/"
    for name in ("PIP_INDEX_URL", "NPM_CONFIG_REGISTRY"):
        monkeypatch.setenv(name, nowhere)
    for name in ("UV_OFFLINE", "UV_NO_CACHE", "UV_NO_CONFIG"):
        monkeypatch.setenv(name, "1")
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
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
    monkeypatch.setenv("UV_NO_INDEX", "1")
    (tmp_path / "odd.lock").write_text(f"no-such-package-here==1 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(environments.InstallFailed, match="no-such-package-here"):
        environments.python("odd", var=tmp_path)


def test_an_environment_is_made_once_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two waits for the first; another lock makes it anew, and so does a making that was cut short."""
    monkeypatch.setattr(environments, "LOCKS", tmp_path)
    made: list[Path] = []
    create = venv.create

    def count(folder: Path, **options: Any) -> None:
        made.append(folder)
        create(folder, **options)

    monkeypatch.setattr(venv, "create", count)
    lock, folder = tmp_path / "empty.lock", tmp_path / "clients-empty"
    lock.write_text("# nothing\n")
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda _: environments.python("empty", var=tmp_path), range(2))
    assert first == second
    assert first.exists()
    assert made == [folder]
    lock.write_text("# nothing else\n")
    environments.python("empty", var=tmp_path)
    assert made == [folder] * 2
    (folder / "installed.lock").unlink()
    environments.python("empty", var=tmp_path)
    assert made == [folder] * 3
