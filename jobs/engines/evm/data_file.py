"""The files of jobs/engines/evm/data, which scripts/data writes: a line of JSON that says what the rest is, and the rest.

Only workers read them.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

FOLDER = Path(__file__).parent / "data"


class Header(msgspec.Struct, frozen=True):
    """What a file is.

    Attributes:
        version: changes when, and only when, the content does.
        labels: of addresses.bin: kind, source and note.
        reviewed: the day when somebody last looked for newer sources, ISO 8601. "" for a file whose content does not age.
    """

    format: int
    version: str
    records: int
    labels: list[tuple[str, str, str]] = []
    reviewed: str = ""


class DataFile(NamedTuple):
    """What a file holds."""

    header: Header
    body: bytes


def load(name: str) -> DataFile:
    """A file."""
    head, _, body = (FOLDER / name).read_bytes().partition(b"\n")
    return DataFile(msgspec.json.decode(head, type=Header), body)


@cache
def header(name: str) -> Header:
    """The header of a file."""
    return load(name).header


def lines(name: str) -> list[list[str]]:
    """The fields of a file's lines."""
    return [line.split("\t") for line in load(name).body.decode().splitlines()]
