"""Loads the scripts that Redis runs. Each is a `.lua` file in a folder `lua` beside the module that sends it.

The first line of a script has its flags. Its first statements name its keys and arguments, as in
``local record, answer = unpack(KEYS)``, and Python passes them by these names. A name in capitals is a constant: Python gives
its value when it loads the file. Pieces that several scripts share are files, too, and come before the script that uses them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

Value = str | bytes | int | float
Command = tuple[Value, ...]

_CONSTANT = re.compile(r"--[^\n]*|'[^'\n]*'|\b(?!KEYS\b|ARGV\b)([A-Z][A-Z0-9_]+)\b")
"""Comments and texts match, too, so that no constant is found in them."""
_NAMES = re.compile(r"^local ([\w,\s]+) = unpack\((KEYS|ARGV)\)$", re.MULTILINE)


class LuaScript:
    """A script, and the commands that run it. Both take the names that the script has, in its order, with a value each, and
    raise TypeError for others.

    Attributes:
        text: what Redis compiles.
        sha: its hash.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        named = {table: re.findall(r"\w+", names) for names, table in _NAMES.findall(text)}
        keys, arguments = named.get("KEYS", []), named.get("ARGV", [])
        self._names = (*keys, *arguments)
        if len(set(self._names)) < len(self._names):
            raise ValueError(f"a name is twice among {', '.join(self._names)}")
        self.sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        self._evalsha: Command = ("EVALSHA", self.sha, len(keys))
        self._eval: Command = ("EVAL", text, len(keys))

    def evalsha(self, values: Mapping[str, Value]) -> Command:
        """The command that runs it by its hash, for a Redis that knows it already."""
        return self._named(self._evalsha, values)

    def eval(self, values: Mapping[str, Value]) -> Command:
        """The command that runs it by its text."""
        return self._named(self._eval, values)

    def with_flags(self, flags: str) -> LuaScript:
        """The same script with other flags."""
        _, _, text = self.text.partition("\n")
        return LuaScript(f"#!lua flags={flags}\n{text}")

    def _named(self, command: Command, values: Mapping[str, Value]) -> Command:
        if tuple(values) != self._names:
            raise TypeError(f"the script takes {', '.join(self._names)}, not {', '.join(values)}")
        return *command, *values.values()


def load(file: Path, *pieces: str, **constants: Value) -> LuaScript:
    """Load a script.

    Args:
        pieces: of `piece`, in the order in which they need each other.
        constants: the values of the names in capitals. Raises ValueError when one is missing or is not used.
    """
    flags, _, text = piece(file, **constants).partition("\n")
    if not flags.startswith("#!lua"):
        raise ValueError(f"{file}: the first line is not `#!lua` with the flags of the script")
    return LuaScript("\n".join((flags, *pieces, text)))


def piece(file: Path, **constants: Value) -> str:
    """Load what several scripts share: definitions for those that come behind it. Constants are as in `load`."""
    text = read(file)
    names = {match[1] for match in _CONSTANT.finditer(text) if match[1]}
    if names != constants.keys():
        raise ValueError(f"{file}: has the constants {sorted(names)}, and is given {sorted(constants)}")
    return _CONSTANT.sub(lambda match: repr(constants[match[1]]) if match[1] else match[0], text)


def read(file: Path) -> str:
    """The text of a file."""
    return file.read_text("utf-8")


NOW = piece(Path(__file__).with_name("lua") / "now.lua")
"""Defines `now`."""
