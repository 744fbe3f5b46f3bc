"""The folder in which a user's open payments and the log of what was spent are kept."""

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


def write_file(path: Path, content: bytes) -> None:
    """Replace a file that only its owner can read. It and its name are on the disk when this returns. Raises OSError."""
    unfinished = path.with_suffix(".new")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    os.rename(unfinished, path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Return when the names of its files are on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
