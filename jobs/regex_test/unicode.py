"""What ECMAScript takes from Unicode 16: the property names of `\\p{...}`, and the characters of a group's name."""

from pathlib import Path

from jobs.tables import sections

_TABLES = sections(Path(__file__).with_name("unicode.txt"))
_CATEGORY_NAMES = frozenset(_TABLES["General_Category"].split())
_BINARY_NAMES = frozenset(_TABLES["binary"].split())
_SCRIPT_NAMES = frozenset(_TABLES["Script"].split())
_VALUED = {
    **dict.fromkeys(("General_Category", "gc"), _CATEGORY_NAMES),
    **dict.fromkeys(("Script", "sc", "Script_Extensions", "scx"), _SCRIPT_NAMES),
}


def is_property(name: str, value: str | None) -> bool:
    """Whether `\\p{name=value}` exists, or `\\p{name}` without a value. Names are exact: case counts, and blanks are not
    allowed."""
    if value is None:
        return name in _CATEGORY_NAMES or name in _BINARY_NAMES
    return value in _VALUED.get(name, ())


def is_start(point: int) -> bool:
    """Whether an identifier may begin with this code point."""
    return chr(point).isidentifier() or point == 0x24 or _is_in(_STARTS, point)


def is_part(point: int) -> bool:
    """Whether an identifier may continue with this code point, such as `$`, ZWNJ and ZWJ."""
    return ("a" + chr(point)).isidentifier() or point in (0x24, 0x200C, 0x200D) or _is_in(_PARTS, point)


def _ranges(table: str) -> tuple[range, ...]:
    bounds = (part.partition("-") for part in table.split())
    return tuple(range(int(first, 16), int(last or first, 16) + 1) for first, _, last in bounds)


def _is_in(ranges: tuple[range, ...], point: int) -> bool:
    return point > 0x7F and any(point in each for each in ranges)


_STARTS = _ranges(_TABLES["later starts"])
_PARTS = _STARTS + _ranges(_TABLES["later parts"])
