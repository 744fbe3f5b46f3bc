"""Rebuilds the committed artefacts of contracts/*.sol with the pinned solc:

    python -m compose.sandbox.compile [--into FOLDER]

Needs npm and the network once (solc goes to var/solc). The result does not depend on the machine: a test compiles again and
compares every byte.
"""

import argparse
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from compose.sandbox.artefact import CONTRACTS
from compose.sandbox.child import ROOT
from compose.sandbox.npm import install

SETTINGS: dict[str, Any] = {
    "optimizer": {"enabled": True, "runs": 200},
    # Both sandbox chains and Base itself speak this version.
    "evmVersion": "prague",
    # No hash of paths and comments behind the code: only the code decides what the artefact is.
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
    "outputSelection": {"*": {"*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"]}},
}


class CompileFailed(Exception):
    """solc refused, or warned: the sources are kept free of warnings."""


def source_sha256(source: Path) -> str:
    """What ties an artefact to the source it was made from."""
    return hashlib.sha256(source.read_bytes()).hexdigest()


def compile_contracts(var: Path, into: Path) -> list[Path]:
    """Compile every contract and write ``<name>.json`` for each.

    Raises:
        NpmFailed: solc could not be installed.
        CompileFailed: with solc's own words.
    """
    install(CONTRACTS, var / "solc")
    sources = sorted(CONTRACTS.glob("*.sol"))
    request = {
        "language": "Solidity",
        "sources": {source.name: {"content": source.read_text()} for source in sources},
        "settings": SETTINGS,
    }
    solc = var / "solc" / "node_modules" / ".bin" / "solcjs"
    said = _run([str(solc), "--standard-json"], msgspec.json.encode(request))
    answer = msgspec.json.decode(said[said.index(b"{") :])
    if answer.get("errors"):
        raise CompileFailed("\n".join(error["formattedMessage"] for error in answer["errors"]))
    version = _run([str(solc), "--version"]).decode().strip()
    return [_write(source, answer["contracts"][source.name][source.stem], version, into) for source in sources]


def _write(source: Path, compiled: dict[str, Any], version: str, into: Path) -> Path:
    artefact = {
        "source": source.name,
        "sourceSha256": source_sha256(source),
        "compiler": {"name": "solc", "version": version, "settings": SETTINGS},
        "abi": compiled["abi"],
        "bytecode": "0x" + compiled["evm"]["bytecode"]["object"],
        "deployedBytecode": "0x" + compiled["evm"]["deployedBytecode"]["object"],
    }
    target = into / f"{source.stem}.json"
    target.write_bytes(msgspec.json.format(msgspec.json.encode(artefact), indent=1) + b"\n")
    return target


def _run(command: list[str], stdin: bytes = b"") -> bytes:
    # Into a file: solcjs ends before all of a long answer has gone through a pipe.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, input=stdin, stdout=output, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise CompileFailed(done.stderr.decode(errors="replace"))
        output.seek(0)
        return output.read()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=CONTRACTS)
    for path in compile_contracts(ROOT / "var", parser.parse_args().into):
        print(path)
