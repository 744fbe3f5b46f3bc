"""What `scripts/run` left for its operator."""

from pathlib import Path

import pytest

from shared.settings.sandbox_path import PLACE, SETTINGS, with_settings, written
from shared.settings.service import InvalidSetting

MADE = {
    "COINSLOT_PORT": "4030",
    "COINSLOT_CONTACT": "mailto:it's&me@example.com",
    "COINSLOT_QUEUE_URL": "redis://a:1/0",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One below that of the service."""
    sandbox = tmp_path / PLACE
    sandbox.parent.mkdir()
    sandbox.touch()
    (sandbox.parent / SETTINGS).write_text(written(MADE))
    below = tmp_path / "docs"
    below.mkdir()
    return below


def test_the_settings_of_the_service_above_are_taken(folder: Path) -> None:
    """Those of the environment count more, and one that names its own service has nothing to do with this one."""
    file = folder.parent / "var" / SETTINGS
    assert with_settings({}, folder) == (MADE, file)
    assert with_settings({"COINSLOT_PORT": "1", "HOME": "/"}, folder) == (
        {**MADE, "COINSLOT_PORT": "1", "HOME": "/"},
        file,
    )
    named = {"COINSLOT_SANDBOX_FILE": str(file.with_name("sandbox.json"))}
    assert with_settings(named, Path("/")) == ({**MADE, **named}, file)
    for name in ("LEDGER_URL", "QUEUE_URL", "PRODUCTION"):
        own = {f"COINSLOT_{name}": "1"}
        assert with_settings(own, folder) == (own, None)


def test_a_service_without_a_sandbox_is_found(folder: Path) -> None:
    """Production has the settings alone. COINSLOT_VAR names the folder, whatever else the environment has."""
    file = folder.parent / "var" / SETTINGS
    file.with_name(PLACE.name).unlink()
    assert with_settings({}, folder) == (MADE, file)
    production = {"COINSLOT_PRODUCTION": "1", "COINSLOT_VAR": str(file.parent)}
    assert with_settings(production, Path("/")) == ({**MADE, **production}, file)
    assert with_settings({**MADE, "COINSLOT_VAR": str(file.parent)}, Path("/"))[1] is None  # nothing is added
    never_started = {**production, "COINSLOT_VAR": str(folder)}
    assert with_settings(never_started, Path("/")) == (never_started, None)


def test_settings_that_cannot_be_read_are_reported(folder: Path) -> None:
    """The file of another user, or none."""
    (folder.parent / "var" / SETTINGS).unlink()
    with pytest.raises(InvalidSetting, match=r"cannot read .*sandbox\.env, the settings of scripts/run: No such file"):
        with_settings({}, folder)
