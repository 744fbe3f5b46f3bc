"""The installation's key file, and the one before it while it is kept, so that a change of the file loses nothing."""

from pathlib import Path
from typing import NamedTuple

from shared.settings.secret_files import read_key
from shared.settings.service import Settings


class SealingKeys(NamedTuple):
    """What is new is sealed with `current`; what was sealed with either is opened."""

    current: bytes
    previous: bytes | None = None


def previous_key_file(settings: Settings) -> Path:
    """Where the previous key is kept: not set, beside the current one."""
    if settings.previous_key_file:
        return Path(settings.previous_key_file)
    return settings.key_file.with_name(f"{settings.key_file.name}.previous")


def read_sealing_keys(settings: Settings) -> SealingKeys:
    """Read the key file, and the previous one: if it is named it must be there.

    Raises:
        InvalidSetting: one cannot be read or has another form.
    """
    current = read_key(settings.key_file)
    path = previous_key_file(settings)
    if not settings.previous_key_file and not path.exists():
        return SealingKeys(current)
    return SealingKeys(current, read_key(path))
