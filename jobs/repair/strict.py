"""RFC 8259 text, read as it stands. What JSON allows and no decoder can carry is put right afterwards."""

from __future__ import annotations

import json
import re
from typing import Any

from jobs.repair.result import MAX_DEPTH, Kind, NotRepairable
from jobs.repair.source import Source

MAX_DIGITS = 4300
"""Longest number that is read as one; Python and others refuse longer integers as a denial of service."""

_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_LONE = re.compile("[\ud800-\udfff]")


class _NotStrict(ValueError):
    pass


def _refuse(word: str) -> Any:
    raise _NotStrict(word)


def read(source: Source) -> tuple[bool, Any]:
    """Whether the text is RFC 8259, and then its value; duplicate keys keep the last.

    Numbers become what every decoder makes of them: `1.0` and `1e5` floats, integers exact up to 4300 digits, `-0` the
    float -0.0, because an integer zero has no sign. A number beyond the range of a double, such as 1e400, and a longer
    integer stay the text that they are, as a string, and a lone surrogate becomes U+FFFD; both count as repairs.

    Raises:
        NotRepairable: it nests deeper than MAX_DEPTH.
    """

    cursor = 0

    def whole(digits: str) -> int | float | str:
        if len(digits) > MAX_DIGITS:
            return unreadable(digits)
        return -0.0 if digits == "-0" else int(digits)

    def fraction(digits: str) -> float | str:
        number = float(digits) if len(digits) <= MAX_DIGITS else float("inf")
        return unreadable(digits) if number in (float("inf"), float("-inf")) else number

    def unreadable(digits: str) -> str:
        nonlocal cursor
        at = source.text.find(digits, cursor)
        cursor = at + len(digits)
        source.note(Kind.NUMBER_OUT_OF_RANGE, at)
        return digits

    try:
        value = json.loads(source.text, parse_int=whole, parse_float=fraction, parse_constant=_refuse)
    except (ValueError, RecursionError):
        source.repairs.clear()
        return False, None
    if source.text.count("[") + source.text.count("{") > MAX_DEPTH and depth(value) > MAX_DEPTH:
        raise NotRepairable("too_complex")
    match = _SURROGATE.search(source.text)
    if match:
        return True, without_lone_surrogates(value, source, match.start())
    return True, value


def depth(value: Any) -> int:
    """How many containers lie within each other, counted level by level."""
    deepest = 0
    level = [value]
    while True:
        level = [item for item in level if isinstance(item, dict | list)]
        if not level:
            return deepest
        deepest += 1
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]


def without_lone_surrogates(value: Any, source: Source, at: int) -> Any:
    """The value with U+FFFD for every lone surrogate. Changes containers in place, without recursion."""

    def clean(item: Any) -> Any:
        if isinstance(item, str) and _LONE.search(item):
            source.note(Kind.LONE_SURROGATE, at)
            return _LONE.sub("\ufffd", item)
        return item

    value = clean(value)
    open_containers = [value] if isinstance(value, dict | list) else []
    while open_containers:
        container = open_containers.pop()
        if isinstance(container, dict):
            pairs = [(clean(key), clean(item)) for key, item in container.items()]
            container.clear()
            container.update(pairs)
            children = [item for _, item in pairs]
        else:
            container[:] = [clean(item) for item in container]
            children = container
        open_containers += [item for item in children if isinstance(item, dict | list)]
    return value
