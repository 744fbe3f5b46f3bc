"""A ledger's disk that is nearly full."""

from pathlib import Path

import pytest

from api.disk import CHECK_EVERY_S, Disk


def test_room_is_measured(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In megabytes, and told once."""
    assert not Disk(str(tmp_path), 1).is_full()
    full = Disk(str(tmp_path), 10**12)
    assert [full.is_full(), full.is_full()] == [True, True]
    assert [record.message for record in caplog.records if record.name == "api.disk"] == [
        f"less than {10**12} MB free for the ledger: no payments are taken"
    ]


def test_room_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked at again after a second."""
    now = 0.0
    monkeypatch.setattr("api.disk.time.monotonic", lambda: now)
    disk = Disk(str(tmp_path), 10**12)
    assert disk.is_full()
    disk._free_bytes = 1
    assert disk.is_full()
    now = CHECK_EVERY_S + 0.1
    assert not disk.is_full()


def test_a_ledger_elsewhere_is_not_judged(tmp_path: Path) -> None:
    """Nor one whose folder is not there: the ledger says by itself when it cannot write."""
    assert not Disk("", 10**12).is_full()
    assert not Disk(str(tmp_path / "none"), 10**12).is_full()
