"""Where each client's libraries are: separate environments under var/, made from the locks here when first asked for.

scripts/setup does not make them: nothing but these tests needs them.
"""

import contextlib
import fcntl
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from compose.sandbox.child import ROOT
from compose.sandbox.npm import NpmFailed, install

LOCKS = Path(__file__).parent
VAR = ROOT / "var"

_UNREACHABLE = re.compile(
    "NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|No route to host|Network is unreachable"
    "|ECONNREFUSED|ECONNRESET|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ERR_SOCKET_TIMEOUT"
)
"""How pip and npm say that no registry answers. All else that they may say, a wrong hash first of all, is a failure."""


class Unavailable(Exception):
    """It is not on this machine and cannot be fetched now. The text is the reason for skipping a test."""


class InstallFailed(Exception):
    """A registry answered, and the lock could not be installed all the same. The text says what pip or npm said."""


def python(name: str, *, var: Path = VAR) -> Path:
    """The interpreter that has what <name>.lock pins, in ``clients-<name>`` in `var`.

    Raises:
        Unavailable: it has to be made and no registry can be reached.
        InstallFailed: a registry does not have what is pinned.
    """
    lock, folder = LOCKS / f"{name}.lock", var / f"clients-{name}"
    interpreter, mark = folder / "bin" / "python", folder / "installed.lock"
    with _alone_with(folder):
        wanted = lock.read_text() + f"# Python {sys.version}\n"
        if not mark.exists() or mark.read_text() != wanted:  # the mark is written last: no half of one counts
            venv.create(folder, clear=True, symlinks=True)
            said = _install(lock, interpreter)
            if said is not None:
                shutil.rmtree(folder)
                _give_up(name, said)
            mark.write_text(wanted)
    return interpreter


def node(*, var: Path = VAR, manifest: Path = LOCKS, name: str = "clients-npm") -> Path:
    """The folder `name` in `var`, whose node_modules has what the package-lock.json in `manifest` pins.

    Raises:
        Unavailable: there is no Node here, or it has to be made and no registry can be reached.
        InstallFailed: a registry does not have what is pinned.
    """
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing:
        raise Unavailable(f"no JavaScript client: {' and '.join(missing)} not installed")
    folder = var / name
    with _alone_with(folder):
        try:
            install(manifest, folder)
        except NpmFailed as error:
            _give_up("npm", str(error))
    return folder


def _install(lock: Path, interpreter: Path) -> str | None:
    """Install what the lock pins: with uv, in a tenth of pip's time, or else with pip. What pip said if that failed, too."""
    strict = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--python", str(interpreter), *strict]
    if Path(uv[0]).exists() and subprocess.run(uv, capture_output=True, check=False).returncode == 0:
        return None
    pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--disable-pip-version-check", *strict]
    done = subprocess.run([*pip, "--retries", "1", "--timeout", "20"], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


@contextlib.contextmanager
def _alone_with(folder: Path) -> Iterator[None]:
    """Two runs of the tests at once make it once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _give_up(name: str, said: str) -> NoReturn:
    if _UNREACHABLE.search(said):
        raise Unavailable(f"the {name} client is not installed in var/, and no package registry can be reached")
    raise InstallFailed(f"the {name} client cannot be installed: {said.strip()[-2000:]}")
