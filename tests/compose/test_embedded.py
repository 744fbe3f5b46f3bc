"""What `scripts/run` says of settings that cannot be used, before it starts anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from compose.sandbox.embedded import embed
from shared.settings import InvalidSetting


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"HOSTS": "feeds.example.com"}, "COINSLOT_HOSTS: write name=address"),
        ({"EGRESS_ALLOW": "127.0.0.1/8"}, "COINSLOT_EGRESS_ALLOW"),
        ({"CA_FILE": "/nowhere/ca.pem"}, "COINSLOT_CA_FILE: there is no file"),
        ({"PRODUCTION": "1", "NOW": "2026-11-20T15:04:05Z"}, "COINSLOT_NOW is for sandboxes"),
        ({"PORT": "0"}, "COINSLOT_PORT"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, str], said: str, tmp_path: Path) -> None:
    """In one sentence, not in the log of a process that cannot start."""
    given = {f"COINSLOT_{name}": value for name, value in settings.items()}
    with pytest.raises(InvalidSetting, match=said), embed(given, tmp_path):
        raise AssertionError("it was started")
    assert not (tmp_path / "sandbox").exists()
