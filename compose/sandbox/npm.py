"""Installs what a committed package-lock.json pins, with npm, into a folder that is not committed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


class NpmFailed(Exception):
    """npm is missing or refused. The text says what it said."""


def install(manifest: Path, prefix: Path) -> None:
    """`npm ci` of the package.json and package-lock.json in `manifest`, in `prefix`; nothing when that is already there.

    Raises:
        NpmFailed: no npm, no network, or a package that does not match its pinned hash.
    """
    pinned = (manifest / "package-lock.json").read_bytes()
    copied = prefix / "package-lock.json"
    # npm writes this file last, so a run that was cut short is not taken for an installation.
    if (prefix / "node_modules" / ".package-lock.json").is_file() and copied.read_bytes() == pinned:
        return
    npm = shutil.which("npm")
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
        # An optional package that could not be fetched is no failure to npm, but then it is not tried again either.
        (prefix / "node_modules" / ".package-lock.json").unlink(missing_ok=True)
        raise NpmFailed("npm fetched nothing: no network, or no binary for this machine")
