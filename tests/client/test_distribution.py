"""The wheel of the buyer alone: what client/setup.py puts into it works without the checkout."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

CLIENT = Path(__file__).parents[2] / "client"

_IMPORT_ALL = """
import importlib, pathlib, sys
sys.path.insert(0, sys.argv[1])
import coinslot
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    name = ".".join(path.relative_to(sys.argv[1]).with_suffix("").parts).removesuffix(".__init__")
    assert pathlib.Path(importlib.import_module(name).__file__).is_relative_to(sys.argv[1]), name
for name in coinslot.__all__:
    getattr(coinslot, name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """client/setup.py."""
    spec = importlib.util.spec_from_file_location("build_of_the_buyer", CLIENT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_package_needs_nothing_of_the_checkout(build: ModuleType, tmp_path: Path) -> None:
    """Every module can be imported where no folder of ours is, and loads none of theirs; nor the server's settings."""
    package = tmp_path / "coinslot"
    shutil.copytree(CLIENT / "coinslot", package, ignore=shutil.ignore_patterns("__pycache__"))
    build.complete(package)
    assert (package / "shared" / "x402" / "wire.py").exists()
    assert (package / "shared" / "__init__.py").read_text() == ""  # ours changes what redis-py loads
    assert not (package / "shared" / "settings" / "service.py").exists()
    loaded = subprocess.run(
        [sys.executable, "-I", "-c", _IMPORT_ALL, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert loaded.stderr == ""
    assert not {"shared", "jobs", "api", "workers", "facilitator", "compose", "client"} & set(loaded.stdout.split())


def test_an_import_that_would_not_be_rewritten_stops_the_build(build: ModuleType) -> None:
    """Only the usual forms are."""
    assert build.rewritten("if 1:\n    from shared.money import Price\n") == (
        "if 1:\n    from coinslot.shared.money import Price\n"
    )
    with pytest.raises(ValueError, match=r"shared\.money"):
        build.rewritten("import json, shared.money")


def test_its_versions_are_those_that_the_service_is_tested_with() -> None:
    """What the lock pins satisfies what the buyer asks for, so the tests are tests of it."""
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
    pinned = dict(
        re.findall(r"^([a-z0-9-]+)==([0-9.]+)", (CLIENT.parent / "requirements.lock").read_text(), re.MULTILINE)
    )
    asked = [*project["dependencies"], *(name for extra in project["optional-dependencies"].values() for name in extra)]
    for requirement in asked:
        name, lowest = re.match(r"([a-z0-9-]+)>=([0-9.]+)", requirement).groups()
        assert _number(pinned[name]) >= _number(lowest), requirement


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
