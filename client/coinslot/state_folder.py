"""The folder in which a user's open payments and the log of what was spent are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

ENVIRONMENT = "COINSLOT_STATE_DIR"


def state_folder(env: Mapping[str, str]) -> Path:
    """COINSLOT_STATE_DIR, or `coinslot` in the folder that the XDG Base Directory Specification has for such files."""
    if named := env.get(ENVIRONMENT, "").strip():
        return Path(named)
    base = env.get("XDG_STATE_HOME", "").strip()
    # The specification says that a relative path is to be ignored.
    return (Path(base) if os.path.isabs(base) else Path("~/.local/state").expanduser()) / "coinslot"


def sync_folder(path: Path) -> None:
    """Return when the names of its files are on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
