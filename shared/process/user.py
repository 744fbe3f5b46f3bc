"""Processes that see callers' data do not run as root in production."""

import os

from shared.settings.service import PREFIX, InvalidSetting, Settings


def refuse_root(settings: Settings) -> None:
    """Raises InvalidSetting when this process is root's in production."""
    if settings.production and os.geteuid() == 0:
        raise InvalidSetting(
            f"{PREFIX}PRODUCTION=1 does not run as root: set {PREFIX}USER for what scripts/run starts, or start each "
            "process as another user"
        )
