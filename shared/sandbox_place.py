"""Where `scripts/run` leaves what its buyers and its operator need: var/sandbox.json and, beside it, the settings."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from shared.setting import PREFIX, InvalidSetting

ENVIRONMENT = "COINSLOT_SANDBOX_FILE"
PLACE = Path("var", "sandbox.json")
SETTINGS = "sandbox.env"
_OWN_SERVICE = tuple(f"{PREFIX}{name}" for name in ("LEDGER_URL", "QUEUE_URL", "PRODUCTION"))


def find(env: Mapping[str, str], folder: Path) -> Path | None:
    """The file that COINSLOT_SANDBOX_FILE names, or the first var/sandbox.json from `folder` upward."""
    if named := env.get(ENVIRONMENT, "").strip():
        return Path(named)
    absolute = folder.absolute()
    return next((path for above in (absolute, *absolute.parents) if (path := above / PLACE).is_file()), None)


def written(settings: Mapping[str, str]) -> str:
    """The settings as a shell reads them: `set -a; . var/sandbox.env`."""
    return "\n".join(f"{name}={shlex.quote(value)}" for name, value in sorted(settings.items()))


def with_settings(env: Mapping[str, str], folder: Path) -> tuple[dict[str, str], Path | None]:
    """The environment with the settings of the service that `scripts/run` started from a folder above, and their file. Without
    such a service, or with an environment that names another one, it is the environment alone.

    Raises:
        InvalidSetting: the file cannot be read.
    """
    sandbox = None if any(env.get(name, "").strip() for name in _OWN_SERVICE) else find(env, folder)
    if sandbox is None:
        return dict(env), None
    path = sandbox.with_name(SETTINGS)
    try:
        lines = shlex.split(path.read_text())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise InvalidSetting(f"cannot read {path}, the settings of scripts/run: {why}") from None
    return {**dict(line.split("=", 1) for line in lines if "=" in line), **env}, path
