"""Installs what a committed package-lock.json pins, with npm, into a folder that is not committed."""

import shutil
import subprocess
import sys
from pathlib import Path


class NpmFailed(Exception):
    """npm is missing or failed. The text has its output."""


def find_npm() -> str | None:
    """npm of the machine, else that of the wheel which scripts/setup installs where there is none."""
    return shutil.which("npm") or shutil.which("npm", path=str(Path(sys.executable).parent))


def install(manifest: Path, prefix: Path) -> None:
    """Run `npm ci` for the package.json and package-lock.json of `manifest` in `prefix`, unless that is done already.

    Raises:
        NpmFailed: no npm, no network, or a package that does not match its pinned hash.
    """
    pinned = (manifest / "package-lock.json").read_bytes()
    copied = prefix / "package-lock.json"
    # npm writes this file last: without it the installation is not complete.
    if (prefix / "node_modules" / ".package-lock.json").is_file() and copied.read_bytes() == pinned:
        return
    npm = find_npm()
    if npm is None:
        raise NpmFailed("npm is not installed")
    prefix.mkdir(parents=True, exist_ok=True)
    shutil.copy(manifest / "package.json", prefix)
    shutil.copy(manifest / "package-lock.json", prefix)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(prefix)]
    command += ["--fetch-retries=1", "--fetch-timeout=20000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NpmFailed(done.stderr.strip())
    if not any((prefix / "node_modules").glob("[!.]*")):
        # npm does not report an optional package that it could not fetch, and would not try it again.
        (prefix / "node_modules" / ".package-lock.json").unlink(missing_ok=True)
        raise NpmFailed("npm fetched nothing: no network, or no binary for this machine")
