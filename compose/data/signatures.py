"""Signatures of functions, errors and events: those of OpenZeppelin's contracts, and lists of common ones beside them."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compose.data.header import npm_source, with_header
from jobs.engines.evm.abi import parse_arguments
from shared.x402.evm import keccak256

PACKAGES = ("@openzeppelin/contracts", "@openzeppelin/contracts-upgradeable")
KINDS = ("function", "error", "event")


def generate(packages: Path, lock: Path, *own: Path) -> bytes:
    """The file: selector (of an event: its topic), kind and signature with the arguments' names in lines, sorted."""
    found: dict[tuple[str, str], str] = {}
    for kind, signature in (*_published(packages), *(line for path in own for line in _own(path))):
        name, _, _ = signature.partition("(")
        canonical = name + parse_arguments(signature.removeprefix(name)).name
        topic = keccak256(canonical.encode()).hex()
        found.setdefault((topic if kind == "event" else topic[:8], kind), signature)
    lines = [f"{selector}\t{kind}\t{signature}\n" for (selector, kind), signature in sorted(found.items())]
    sources = [*(npm_source(lock, package) for package in PACKAGES), *(_source(path) for path in own)]
    return with_header("".join(lines).encode(), records=len(lines), sources=sources)


def _published(packages: Path) -> Iterator[tuple[str, str]]:
    """Interfaces come first: their arguments have the standard's names."""
    for package in PACKAGES:
        artefacts = (packages / package / "build" / "contracts").glob("*.json")
        for path in sorted(artefacts, key=lambda path: (not path.stem.startswith("IERC"), path.stem)):
            for entry in json.loads(path.read_bytes())["abi"]:
                if entry["type"] in KINDS:
                    yield entry["type"], f"{entry['name']}({_arguments(entry['inputs'])})"


def _own(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            kind, _, signature = line.partition(" ")
            yield kind, signature


def _source(path: Path) -> dict[str, str]:
    digest = "sha256-" + hashlib.sha256(path.read_bytes()).hexdigest()
    return {"name": f"compose/data/{path.name}", "version": "1", "licence": "MIT", "digest": digest}


def _arguments(inputs: list[dict[str, Any]]) -> str:
    return ",".join(f"{_type(each)} {each['name']}".rstrip() for each in inputs)


def _type(each: dict[str, Any]) -> str:
    written: str = each["type"]
    if written.startswith("tuple"):
        return f"({_arguments(each['components'])}){written.removeprefix('tuple')}"
    return written
