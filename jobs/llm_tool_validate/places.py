"""Values at a place in a JSON value, and the absence of one."""

from typing import Any, Final

import msgspec

NOTHING: Final = object()
"""The absence of a value. None cannot stand for it, because None is null."""

Place = tuple[str | int, ...]
"""Keys and indexes, from the root inwards."""


def get(root: Any, place: Place) -> Any:
    """The value at a place, which must exist."""
    for part in place:
        root = root[part]
    return root


def put(root: Any, place: Place, value: Any) -> Any:
    """Replace the value at a place, which must exist; by NOTHING: leave out this property. Returns the root, which is a new
    object only if it is replaced itself."""
    if not place:
        return value
    if value is NOTHING:
        del get(root, place[:-1])[place[-1]]
        return root
    get(root, place[:-1])[place[-1]] = value
    return root


def copy(value: Any) -> Any:
    """An equal value that shares no object or array with this one."""
    return msgspec.json.decode(msgspec.json.encode(value)) if isinstance(value, dict | list) else value
