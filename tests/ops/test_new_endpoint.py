"""What `coinslot-ops new-endpoint` writes can be installed, and its test passes as it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from ops import doctor
from ops.main import main
from tests.each import each
from tests.packages import Environment, environment

__all__ = ["environment"]


def test_its_test_passes_as_written(
    environment: Environment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a second package is not written over it."""
    order = ["new-endpoint", "acme-shop/word-count", "--into", str(tmp_path)]
    assert main(order) == 0
    folder = tmp_path / "coinslot-acme-shop"
    assert f"pip install --no-deps --no-build-isolation -e {folder}" in capsys.readouterr().out
    environment.install_with_pip(folder)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "3 passed" in ran.stdout, ran.stdout + ran.stderr

    (finding,) = doctor._packages()
    assert finding == ("ok", "packages", "acme-shop/word-count $0.001, pool fast, of coinslot-acme-shop 0.1.0")

    assert main(order) == 2
    assert f"coinslot-ops: {folder} exists" in capsys.readouterr().err


def test_the_doctor_says_what_is_refused(environment: Environment) -> None:
    """In the sentence that the start would give. Without packages there is nothing to say."""
    assert list(doctor._packages()) == []
    environment.install("acme", None, "import socket")
    (finding,) = doctor._packages()
    assert (finding.level, finding.detail) == (
        "fail",
        "package_0 1.0: package_0.py:1 imports socket: what is outside comes through ports (jobs/ports)",
    )


@each(
    "name", ["cdp/slug", "chain/slug", "Acme/slug", "acme/2slug", "acme/a_b", "acme/b/c", "acme/import", "", "/slug/"]
)
def test_a_wrong_name_is_refused(tmp_path: Path, name: str) -> None:
    """Before anything is written."""
    assert main(["new-endpoint", name, "--into", str(tmp_path)]) == 2
    assert list(tmp_path.iterdir()) == []
