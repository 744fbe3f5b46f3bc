"""The files of jobs/engines/evm/data, which scripts/data writes: a line of JSON that says what the rest is, and the rest.

Only workers read them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

FOLDER = Path(__file__).parent / "data"


class Header(msgspec.Struct, frozen=True):
    """`version` changes when, and only when, the content does. `labels`: of addresses.bin: kind, source and note."""

    format: int
    version: str
    records: int
    labels: list[tuple[str, str, str]] = []


class DataFile(NamedTuple):
    """What a file holds."""

    header: Header
    body: bytes


def load(name: str) -> DataFile:
    """A file."""
    head, _, body = (FOLDER / name).read_bytes().partition(b"\n")
    return DataFile(msgspec.json.decode(head, type=Header), body)


@cache
def version(name: str) -> str:
    """The version of a file's content."""
    return load(name).header.version


def lines(name: str) -> list[list[str]]:
    """The fields of a file's lines."""
    return [line.split("\t") for line in load(name).body.decode().splitlines()]
