"""Where `scripts/run` leaves what its buyers and its operator need: in a sandbox var/sandbox.json, and always the settings and
the socket for the operator's commands."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from shared.settings.setting import PREFIX, InvalidSetting

ENVIRONMENT = "COINSLOT_SANDBOX_FILE"
PLACE = Path("var", "sandbox.json")
VAR = f"{PREFIX}VAR"
SETTINGS = "sandbox.env"
CONTROL = "control.sock"
"""Takes `coinslot-ops restart`, `scale` and `reload` (compose/control.py)."""
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


def service_folder(env: Mapping[str, str], folder: Path) -> Path | None:
    """The folder of the service that `scripts/run` started: COINSLOT_VAR, the folder of COINSLOT_SANDBOX_FILE, or the first var
    from `folder` upward with its settings. None when the environment names another service, or there is none."""
    if named := env.get(VAR, "").strip():
        return Path(named)
    if any(env.get(name, "").strip() for name in _OWN_SERVICE):
        return None
    if named := env.get(ENVIRONMENT, "").strip():
        return Path(named).parent
    absolute = folder.absolute()
    folders = (above / PLACE.parent for above in (absolute, *absolute.parents))
    return next((var for var in folders if (var / SETTINGS).is_file() or (var / PLACE.name).is_file()), None)


def with_settings(env: Mapping[str, str], folder: Path) -> tuple[dict[str, str], Path | None]:
    """The environment with the settings of the service in `service_folder`, and their file. Without such a service, or
    where the file adds nothing, it is only the environment.

    Raises:
        InvalidSetting: the file cannot be read.
    """
    var = service_folder(env, folder)
    if var is None:
        return dict(env), None
    path = var / SETTINGS
    try:
        lines = shlex.split(path.read_text())
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and env.get(VAR, "").strip():
            return dict(env), None  # the service was never started
        why = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise InvalidSetting(f"cannot read {path}, the settings of scripts/run: {why}") from None
    found = dict(line.split("=", 1) for line in lines if "=" in line)
    return {**found, **env}, None if found.keys() <= env.keys() else path
