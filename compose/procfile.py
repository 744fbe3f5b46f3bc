"""Reads the Procfile, the list of processes: `name: [SETTING=value ...] command`. No shell is involved: a quoted text is one
argument, and nothing is expanded."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROCFILE = Path(__file__).resolve().with_name("Procfile")

_LINE = re.compile(r"([A-Za-z0-9_-]+):(.+)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_COUNT = re.compile(r"([A-Za-z0-9_-]+)=([0-9]{1,3})")


class InvalidProcfile(Exception):
    """The Procfile, or a scale for it, has the wrong form. The text names the line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the Procfile.

    Attributes:
        name: of the process, in messages and for --scale.
        command: program and arguments.
        environment: variables for this process only.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]


def read_procfile(path: Path = PROCFILE) -> list[Line]:
    """The lines in order, without empty lines and comments.

    Raises:
        InvalidProcfile: the file cannot be read, or a line does not define a process.
    """
    try:
        texts = path.read_text().splitlines()
    except OSError as error:
        raise InvalidProcfile(f"{path} cannot be read: {error.strerror}") from None
    lines = [_line(text.strip()) for text in texts if text.strip() and not text.lstrip().startswith("#")]
    names = [line.name for line in lines]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidProcfile(f"the Procfile names {min(twice)} twice: use --scale to run it more than once")
    return lines


MOST_PROCESSES = 64
"""Of one line. Each takes some 100 MB."""


def parse_scale(text: str) -> dict[str, int]:
    """Reads `worker-fast=2,worker-render=3`; an empty text is no scale. Raises InvalidProcfile."""
    scale: dict[str, int] = {}
    for part in text.split(",") if text else ():
        if (match := _COUNT.fullmatch(part.strip())) is None:
            raise InvalidProcfile(f"--scale {part!r}: write NAME=N, such as worker-render=2")
        scale[match[1]] = int(match[2])
    return scale


def scaled(lines: Sequence[Line], scale: Mapping[str, int]) -> list[Line]:
    """Each line, repeated as often as the scale says; once without a scale.

    Raises:
        InvalidProcfile: the scale names an unknown line, or asks for too many processes or two facilitators.
    """
    if unknown := scale.keys() - {line.name for line in lines}:
        raise InvalidProcfile(f"{min(unknown)}: the Procfile has only {', '.join(line.name for line in lines)}")
    if most := [f"{name}={count}" for name, count in scale.items() if count > MOST_PROCESSES]:
        raise InvalidProcfile(f"--scale {most[0]}: one machine takes {MOST_PROCESSES} processes of a line at most")
    if scale.get("facilitator", 1) > 1:
        # Two of them would use the account nonces of one account.
        raise InvalidProcfile("--scale facilitator: there may be only one for a settler account")
    return [line for line in lines for _ in range(scale.get(line.name, 1))]


def _line(text: str) -> Line:
    match = _LINE.fullmatch(text)
    try:
        words = shlex.split(match[2]) if match else []
    except ValueError as error:
        raise InvalidProcfile(f"Procfile line {text!r}: {error}") from None
    environment: dict[str, str] = {}
    while words and (assignment := _ASSIGNMENT.fullmatch(words[0])):
        environment[assignment[1]] = assignment[2]
        del words[0]
    if match is None or not words:
        raise InvalidProcfile(f"Procfile line {text!r}: write NAME: COMMAND")
    return Line(match[1], tuple(words), environment)
