"""Reads one container with its content: objects, arrays, tuples and calls, with a stack instead of recursion."""

from typing import Any, NamedTuple

from jobs.json_repair import arrays, objects
from jobs.json_repair.frames import ObjectFrame
from jobs.json_repair.reader import Reader


class Container(NamedTuple):
    """A container that was read.

    Attributes:
        value: its content.
        end: the position after it.
        solid: whether it is certainly data, and not a bracket in prose.
    """

    value: Any
    end: int
    solid: bool


def read(reader: Reader, i: int) -> Container | None:
    """Read the container that starts at `i`, with a bracket or a call such as `callback(`. None when there is none.

    Raises:
        NotRepairable: it nests deeper than MAX_DEPTH.
    """
    reader.i = i
    return _run(reader) if reader.open() else None


def read_members(reader: Reader, i: int, members: dict[str, Any] | None = None) -> Container:
    """Read members at `i` that have no opening brace, and add them to those of an object that closed too early.

    Raises:
        NotRepairable: they nest deeper than MAX_DEPTH.
    """
    reader.i = i
    reader.push(ObjectFrame("", members))
    return _run(reader)


def _run(reader: Reader) -> Container:
    while reader.stack:
        frame = reader.stack[-1]
        if isinstance(frame, ObjectFrame):
            objects.step(reader, frame)
        else:
            arrays.step(reader, frame)
    return Container(reader.value, reader.i, reader.solid)
