"""What is committed as compiled is what the committed sources compile to, and npm fetches what is pinned."""

import json
import shutil
import stat
from pathlib import Path
from typing import get_args

import pytest

from compose.sandbox.artefact import CONTRACTS, ContractName, load
from compose.sandbox.child import ROOT
from compose.sandbox.compile import SETTINGS, compile_contracts, source_sha256
from compose.sandbox.npm import NpmFailed, install
from tests.each import each

NAMES = get_args(ContractName)


def test_every_source_has_its_artefact() -> None:
    """No contract is forgotten, and none is left over."""
    assert sorted(path.stem for path in CONTRACTS.glob("*.sol")) == sorted(NAMES)
    assert sorted(path.stem for path in CONTRACTS.glob("[A-Z]*.json")) == sorted(NAMES)


@each("name", NAMES)
def test_the_artefact_was_made_from_the_source(name: ContractName) -> None:
    """A change of a source without `python -m compose.sandbox.compile` shows here, without a compiler."""
    artefact = load(name)

    assert artefact.source_sha256 == source_sha256(CONTRACTS / f"{name}.sol")
    assert artefact.compiler["settings"] == SETTINGS
    pinned = json.loads((CONTRACTS / "package.json").read_text())["dependencies"]["solc"]
    assert artefact.compiler["version"].startswith(f"{pinned}+commit.")


@pytest.mark.skipif(shutil.which("npm") is None, reason="the compiler comes from npm")
def test_compiling_again_gives_the_same_bytes(tmp_path: Path) -> None:
    """The artefact can be reproduced from the source, byte for byte."""
    written = compile_contracts(ROOT / "var", tmp_path)

    assert {path.name: path.read_bytes() for path in written} == {
        f"{name}.json": (CONTRACTS / f"{name}.json").read_bytes() for name in NAMES
    }


def test_the_token_needs_no_constructor() -> None:
    """Its runtime code is the tail of its creation code, unchanged: no immutables are filled in when it is deployed."""
    token = load("UsdcSandbox")

    assert token.bytecode.endswith(token.deployed_bytecode)
    assert not [entry for entry in token.abi if entry["type"] == "constructor"]


@pytest.mark.parametrize("folder", [CONTRACTS, CONTRACTS.parent], ids=["compiler", "anvil"])
def test_npm_locks_pin_hashes_and_name_no_host(folder: Path) -> None:
    """Every package is pinned by version and hash, and comes from whatever registry npm is configured for."""
    lock = json.loads((folder / "package-lock.json").read_text())
    manifest = json.loads((folder / "package.json").read_text())
    packages = {path: package for path, package in lock["packages"].items() if path}

    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert not [path for path, package in packages.items() if "resolved" in package]
    wanted = manifest.get("dependencies", {}) | manifest.get("optionalDependencies", {})
    assert {name: packages[f"node_modules/{name}"]["version"] for name in wanted} == wanted


def test_an_optional_package_that_was_not_fetched_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """npm ends well without it; the next run has to try again, and the person has to hear of it."""
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(
        """#!/bin/sh
for word; do
    if [ -d "$word" ]; then mkdir -p "$word/node_modules"; echo "{}" > "$word/node_modules/.package-lock.json"; fi
done
"""
    )
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    manifest, prefix = tmp_path / "manifest", tmp_path / "prefix"
    manifest.mkdir()
    for name in ("package.json", "package-lock.json"):
        (manifest / name).write_text("{}")
    for _ in range(2):
        with pytest.raises(NpmFailed, match="fetched nothing"):
            install(manifest, prefix)
