"""A Python environment of tests, beside the one that they run in, with packages that add endpoints."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs import catalogue, packages
from shared.pools import POOLS

ROOT = Path(__file__).parents[1]


class Environment:
    """What is installed in a folder of the module path, for this process and those that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pools, self._modules = dict(POOLS), set(sys.modules)
        self._count = 0

    def install(self, prefix: str, value: Any, source: str = "") -> None:
        """Put a module where pip would, with an entry point. Without a source it is for this process, and has the value."""
        name = f"package_{self._count}"
        self._count += 1
        (self.folder / f"{name}.py").write_text(source)
        metadata = self.folder / f"{name}-1.0.dist-info"
        metadata.mkdir(exist_ok=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "RECORD").write_text(f"{name}.py,,\n{metadata.name}/METADATA,,\n")
        (metadata / "entry_points.txt").write_text(f"[coinslot.endpoints]\n{prefix} = {name}:VALUE\n")
        self.look_again()
        if not source:
            importlib.import_module(name).__dict__["VALUE"] = value

    def install_with_pip(self, source: Path) -> None:
        """Build a package from its sources, and install it."""
        options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-compile")
        command = [sys.executable, "-m", "pip", "install", *options, "--target", self.folder, source]
        subprocess.run(command, check=True)
        self.look_again()

    def empty(self) -> None:
        """Uninstall everything."""
        for name in set(sys.modules) - self._modules:
            if name.startswith(("package_", "coinslot_")):
                del sys.modules[name]
        for number in range(self._count):
            (self.folder / f"package_{number}-1.0.dist-info/entry_points.txt").unlink()
        self._count = 0
        POOLS.clear()
        POOLS.update(self._pools)
        self.look_again()

    def look_again(self) -> None:
        """Forget what was installed before."""
        importlib.invalidate_caches()
        for function in (packages.installed_packages, catalogue.installed, catalogue.installed_by_name):
            function.cache_clear()


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    """An environment without packages."""
    made = Environment(tmp_path / "environment")
    made.folder.mkdir()
    monkeypatch.syspath_prepend(made.folder)
    monkeypatch.setenv("PYTHONPATH", f"{made.folder}:{ROOT}:{ROOT / 'client'}")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # one module after the other has the same name
    yield made
    made.empty()
