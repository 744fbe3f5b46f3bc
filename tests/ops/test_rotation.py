"""`coinslot-ops rotate-key`: the files, before and after, and when something is in the way."""

import os
from pathlib import Path

import pytest

from ops import main as command
from ops import rotation
from shared.sealing.keys import read_sealing_keys
from shared.settings.service import InvalidSetting, Settings

OLD = "1f" * 32


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    key = tmp_path / "coinslot.key"
    key.write_text(OLD)
    key.chmod(0o600)
    return Settings(key_file=key)


@pytest.mark.parametrize(("mode", "after"), [(0o600, 0o600), (0o400, 0o600), (0o440, 0o440), (0o644, 0o440)])
def test_the_old_key_becomes_the_previous_one(settings: Settings, mode: int, after: int) -> None:
    """Nobody can read more than before, and nothing else is left in the folder."""
    settings.key_file.chmod(mode)
    rotation.rotate(settings.key_file, rotation.previous_key_file(settings))
    keys = read_sealing_keys(settings)
    assert keys.previous == bytes.fromhex(OLD)
    assert keys.current != keys.previous
    files = {file.name: file.stat().st_mode & 0o777 for file in settings.key_file.parent.iterdir()}
    assert files == {"coinslot.key": after, "coinslot.key.previous": after}


def test_there_is_one_previous_key(settings: Settings) -> None:
    """A second rotation would lose it. One that was interrupted before the new key was there is completed."""
    previous = rotation.previous_key_file(settings)
    previous.write_text(OLD)
    rotation.rotate(settings.key_file, previous)
    keys = read_sealing_keys(settings)
    with pytest.raises(rotation.NotRotated, match="still holds an earlier key"):
        rotation.rotate(settings.key_file, previous)
    assert read_sealing_keys(settings) == keys


def test_what_is_in_the_way_is_said(settings: Settings, tmp_path: Path) -> None:
    """And the key file stays as it is."""
    linked = tmp_path / "linked.key"
    linked.symlink_to(settings.key_file)
    with pytest.raises(rotation.NotRotated, match="symbolic link"):
        rotation.rotate(linked, tmp_path / "linked.key.previous")
    with pytest.raises(rotation.NotRotated, match="No such file or directory"):
        rotation.rotate(settings.key_file, tmp_path / "nowhere" / "previous")
    with pytest.raises(InvalidSetting, match="no such file"):
        rotation.rotate(tmp_path / "none", tmp_path / "none.previous")
    assert settings.key_file.read_text() == OLD


def test_a_previous_key_that_is_named_must_be_there(settings: Settings, tmp_path: Path) -> None:
    """Not set, there is none unless a file is beside the key file."""
    assert read_sealing_keys(settings).previous is None
    named = Settings(key_file=settings.key_file, previous_key_file=str(tmp_path / "gone"))
    with pytest.raises(InvalidSetting, match=r"gone: there is no such file"):
        read_sealing_keys(named)


def test_the_command_says_what_comes_next(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without showing a key."""
    for name in [name for name in os.environ if name.startswith("COINSLOT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COINSLOT_KEY_FILE", str(settings.key_file))
    assert command.main(["rotate-key"]) == 0
    said = capsys.readouterr().out
    assert said.index("Restart all workers") < said.index("restart every API process") < said.index("destroy it")
    assert not any(key.hex() in said for key in read_sealing_keys(settings) if key is not None)
    assert command.main(["rotate-key"]) == 2
    assert "still holds an earlier key" in capsys.readouterr().err
