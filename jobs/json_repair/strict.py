"""Reads RFC 8259 text. Values that JSON allows but decoders cannot keep are replaced afterwards."""

import json
import math
import re
from collections.abc import Callable
from functools import partial
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


class _Unreadable(Exception):
    """Other readers cannot keep a number."""


def _refuse(word: str) -> Any:
    raise _NotStrict(word)


def _whole(digits: str) -> int | float:
    if len(digits) > MAX_DIGITS:
        raise _Unreadable(digits)
    return -0.0 if digits == "-0" else int(digits)


def _fraction(digits: str) -> float:
    number = float(digits) if len(digits) <= MAX_DIGITS else math.inf
    if math.isinf(number):
        raise _Unreadable(digits)
    return number


_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_fraction, parse_constant=_refuse)
"""For nearly every text: to make one takes as long as to read a short text."""


def read(source: Source) -> tuple[bool, Any]:
    """Whether the text is RFC 8259, and then its value. Of duplicate keys the last one counts.

    Numbers have the value that every decoder gives them: `1.0` and `1e5` are floats, integers are exact up to 4300 digits, and
    `-0` is the float -0.0, because an integer zero has no sign. A number beyond the range of a double, such as 1e400, and a
    longer integer become strings with their text, and a lone surrogate becomes U+FFFD. These count as repairs. Text that nests
    deeper than MAX_DEPTH is not read at all.
    """
    if source.text.count("[") + source.text.count("{") > MAX_DEPTH and _depth(source.text) > MAX_DEPTH:
        return False, None  # json.loads is recursive, and others may have set a low recursion limit
    try:
        value = _read(source)
    except (ValueError, RecursionError):
        source.repairs.clear()
        return False, None
    match = None if source.text.isascii() and "\\u" not in source.text else _SURROGATE.search(source.text)
    if match:
        return True, _without_lone_surrogates(value, source, match.start())
    return True, value


def _read(source: Source) -> Any:
    """Raises ValueError for text that is not strict, RecursionError."""
    try:
        return _DECODER.decode(source.text)
    except _Unreadable:
        pass
    cursor = 0

    def noted(read: Callable[[str], Any], digits: str) -> Any:
        nonlocal cursor
        try:
            return read(digits)
        except _Unreadable:
            at = source.text.find(digits, cursor)
            cursor = at + len(digits)
            source.note(RepairKind.NUMBER_OUT_OF_RANGE, at)
            return digits

    whole, fraction = partial(noted, _whole), partial(noted, _fraction)
    return json.loads(source.text, parse_int=whole, parse_float=fraction, parse_constant=_refuse)


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
