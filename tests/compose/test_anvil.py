"""anvil is found where it was put, and its absence is said clearly."""

from __future__ import annotations

from pathlib import Path

import pytest

from compose.sandbox.anvil import find_anvil
from compose.sandbox.evm import StartFailed, start_chain


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COINSLOT_ANVIL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))


def _binary(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.touch(0o755)
    return path


def test_it_is_found_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named one, then npm's for any platform, then PATH's."""
    assert find_anvil([tmp_path / "a", tmp_path / "b"]) is None
    on_path = _binary(tmp_path / "path" / "anvil")
    assert find_anvil([tmp_path / "a", tmp_path / "b"]) == on_path
    from_npm = _binary(tmp_path / "b" / "node_modules" / "@foundry-rs" / "anvil-darwin-arm64" / "bin" / "anvil")
    assert find_anvil([tmp_path / "a", tmp_path / "b"]) == from_npm
    named = _binary(tmp_path / "mine" / "anvil")
    monkeypatch.setenv("COINSLOT_ANVIL", str(named))
    assert find_anvil([tmp_path / "a", tmp_path / "b"]) == named


def test_a_named_one_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong setting is not quietly replaced by something else."""
    monkeypatch.setenv("COINSLOT_ANVIL", str(tmp_path / "gone"))

    with pytest.raises(FileNotFoundError, match="COINSLOT_ANVIL"):
        find_anvil([])


def test_without_it_no_chain_starts(tmp_path: Path) -> None:
    """The sentence says what to do."""
    with pytest.raises(StartFailed, match="run scripts/setup"):
        start_chain(tmp_path)
