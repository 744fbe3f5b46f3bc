"""How deeply a JSON value is nested. Decoders have limits of their own, which differ between versions of Python."""

from __future__ import annotations

from typing import Any

_CONTAINERS = (dict, list)


def is_deeper(value: Any, levels: int) -> bool:
    """Whether more than so many objects and arrays are within one another."""
    level = [value]
    for _ in range(levels + 1):
        level = [one for one in level if isinstance(one, _CONTAINERS)]
        if not level:
            return False
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return True
