"""Finds the browser: Chromium's headless shell, or another Chromium that an operator names."""

import os
import shutil
from pathlib import Path

from shared.settings.service import PREFIX, InvalidSetting

_KNOWN = (
    # Debian's. What lies in /usr/bin is a shell script, whose process is not the browser's.
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium-browser/chromium-headless-shell",
)
_COMMANDS = ("chrome-headless-shell", "headless_shell")
_PLAYWRIGHT = "ms-playwright/chromium_headless_shell-*/*/*headless?shell"


def find_program(configured: str) -> Path | None:
    """The browser to start, or None when this machine has none.

    Args:
        configured: the setting COINSLOT_CHROMIUM; "" to look where Debian, Chrome for Testing and Playwright put it.

    Raises:
        InvalidSetting: the configured program does not exist or may not be run.
    """
    if configured:
        program = Path(configured).resolve()
        if not _is_program(program):
            raise InvalidSetting(f"{PREFIX}CHROMIUM: {configured!r} is not a program")
        return program
    on_path = [Path(found).resolve() for command in _COMMANDS if (found := shutil.which(command))]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found_there = sorted(cache.glob(_PLAYWRIGHT), reverse=True)
    return next(filter(_is_program, (*map(Path, _KNOWN), *on_path, *found_there)), None)


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
