"""Reads RFC 8259 text. Values that JSON allows but decoders cannot keep are replaced afterwards."""

import json
import re
from typing import Any

from jobs.json_repair.result import MAX_DEPTH, RepairKind
from jobs.json_repair.source import Source

MAX_DIGITS = 4300
"""Digits of the longest number. Python and other readers refuse longer integers as a denial of service."""

_BRACKET = re.compile(r'[\[{]|([\]}])|"(?>(?:[^"\\]++|\\.)*)"?', re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_LONE = re.compile("[\ud800-\udfff]")


class _NotStrict(ValueError):
    pass


def _refuse(word: str) -> Any:
    raise _NotStrict(word)


def read(source: Source) -> tuple[bool, Any]:
    """Whether the text is RFC 8259, and then its value. Of duplicate keys the last one counts.

    Numbers have the value that every decoder gives them: `1.0` and `1e5` are floats, integers are exact up to 4300 digits, and
    `-0` is the float -0.0, because an integer zero has no sign. A number beyond the range of a double, such as 1e400, and a
    longer integer become strings with their text, and a lone surrogate becomes U+FFFD. These count as repairs. Text that nests
    deeper than MAX_DEPTH is not read at all.
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
        source.note(RepairKind.NUMBER_OUT_OF_RANGE, at)
        return digits

    if source.text.count("[") + source.text.count("{") > MAX_DEPTH and _depth(source.text) > MAX_DEPTH:
        return False, None  # json.loads is recursive, and others may have set a low recursion limit
    try:
        value = json.loads(source.text, parse_int=whole, parse_float=fraction, parse_constant=_refuse)
    except (ValueError, RecursionError):
        source.repairs.clear()
        return False, None
    match = _SURROGATE.search(source.text)
    if match:
        return True, _without_lone_surrogates(value, source, match.start())
    return True, value


def _depth(text: str) -> int:
    """The largest number of open brackets outside of strings: at least the depth that json.loads would reach."""
    depth = deepest = 0
    for match in _BRACKET.finditer(text):
        if match[1]:
            depth -= 1
        elif match.group() in "[{":
            depth += 1
            deepest = max(deepest, depth)
    return deepest


def _without_lone_surrogates(value: Any, source: Source, at: int) -> Any:
    """The value with U+FFFD for every lone surrogate. Modifies containers in place, without recursion."""

    def clean(item: Any) -> Any:
        if isinstance(item, str) and _LONE.search(item):
            source.note(RepairKind.LONE_SURROGATE, at)
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
