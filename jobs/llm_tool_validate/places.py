"""Where something is in a JSON value, and what is there."""

from __future__ import annotations

from typing import Any

import msgspec

Place = tuple[str | int, ...]
"""Keys and indexes from the root inwards."""


def get(root: Any, place: Place) -> Any:
    """What is at a place that exists."""
    for part in place:
        root = root[part]
    return root


def put(root: Any, place: Place, value: Any) -> Any:
    """The root, with another value at a place that exists. Only a root that is replaced itself is another object."""
    if not place:
        return value
    get(root, place[:-1])[place[-1]] = value
    return root


def copy(value: Any) -> Any:
    """An equal value that shares no object or array with this one."""
    return msgspec.json.decode(msgspec.json.encode(value)) if isinstance(value, dict | list) else value
