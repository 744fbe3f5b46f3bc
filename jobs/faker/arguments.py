"""The methods that take arguments, as faker-js has them: `{"method": "number.int", "args": {"min": 1, "max": 6}}`.

Arguments are checked before the payment. A method whose name is also in METHODS gives the same without arguments as there.
"""

import math
import string
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from jobs.faker import date
from jobs.faker.source import Method, Source
from jobs.faker.text import as_json, as_number

MAX_ITEMS = 100
MAX_ITEM = 200
"""Characters of an item of an array."""
MAX_LENGTH = 1000
_MOST = 2**53 - 1
"""JavaScript's largest safe integer."""


class BadArguments(ValueError):
    """The arguments are not those of the method. The message is a sentence."""


Arguments = dict[str, Any]

_ALONE = frozenset(("max", "length", "probability"))
"""Arguments that may be given as a number in place of an object: `number.int(6)`."""


def bound(name: str, args: Mapping[str, Any] | list[Any]) -> Method:
    """The method with its arguments.

    Args:
        name: a key of TAKING.
        args: by name, or a list as JavaScript's call has it: empty, or of one object, one array or one number.

    Raises:
        BadArguments: they are not those of the method.
    """
    names, make = TAKING[name]
    if isinstance(args, list):
        first = args[0] if len(args) == 1 else None
        given: Mapping[str, Any]
        if names == ("array",):
            given = {"array": first if isinstance(first, list) else args}
        elif isinstance(first, dict):
            given = first
        elif not args:
            given = {}
        elif isinstance(first, int | float) and (alone := _ALONE.intersection(names)):
            given = dict.fromkeys(alone, first)
        else:
            raise BadArguments(f"The arguments are an object with {_listed(names)}.")
    else:
        given = args
    if not given.keys() <= set(names):
        raise BadArguments(f"The arguments are {_listed(names)}.")
    return make(dict(given))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _int(args: Arguments) -> Method:
    low, high, step = _whole(args, "min", 0), _whole(args, "max", _MOST), _whole(args, "multipleOf", 1)
    if step < 1:
        raise BadArguments("`multipleOf` is at least 1.")
    first, last = -(-low // step), high // step
    if first > last:
        raise BadArguments("There is no such number between `min` and `max`.")
    return lambda source: str(step * source.integer(first, last))


def _float(args: Arguments) -> Method:
    low, high = _number(args, "min", 0.0), _number(args, "max", 1.0)
    digits = _whole(args, "fractionDigits", 15, least=0, most=15)
    if low > high:
        raise BadArguments("`min` is more than `max`.")
    unit = Decimal(1).scaleb(-digits)

    def draw(source: Source) -> str:
        value = low + (high - low) * source.rng.random()
        return as_number(float(Decimal(repr(value)).quantize(unit)) if abs(value) < 10**12 else value)

    return draw


def _price(args: Arguments) -> Method:
    low, high = _number(args, "min", 1.0), _number(args, "max", 1000.0)
    digits = _whole(args, "dec", 2, least=0, most=8)
    if not 0 <= low <= high <= 10**9:
        raise BadArguments("`min` and `max` are 0 to 1,000,000,000, in this order.")
    return lambda source: f"{low + (high - low) * source.rng.random():.{digits}f}"


def _boolean(args: Arguments) -> Method:
    share = _number(args, "probability", 0.5)
    if not 0 <= share <= 1:
        raise BadArguments("`probability` is 0 to 1.")
    return lambda source: "true" if source.chance(share) else "false"


def _element(args: Arguments) -> Method:
    items = args.get("array")
    if not isinstance(items, list) or not 0 < len(items) <= MAX_ITEMS:
        raise BadArguments(f"`array` is a list of 1 to {MAX_ITEMS} values.")
    texts = [item if isinstance(item, str) else as_json(item) for item in items]
    if not all(0 < len(text) <= MAX_ITEM for text in texts):
        raise BadArguments(f"A value of `array` has 1 to {MAX_ITEM} characters.")
    return lambda source: source.pick(texts)


def _between(args: Arguments) -> Method:
    start, end = _moment(args, "from"), _moment(args, "to")
    if start > end:
        raise BadArguments("`from` is later than `to`.")
    return lambda source: date.between(source, start, end)


def _around(unit: str, days: int, *, sign: int) -> Callable[[Arguments], Method]:
    """Make the methods of the time before or after the reference date."""

    def make(args: Arguments) -> Method:
        span = timedelta(days=days * _whole(args, unit, 1, least=1, most=36_500 // days))
        edge = timedelta(milliseconds=1)
        if sign < 0:
            return lambda source: date.between(source, source.now - span, source.now - edge)
        return lambda source: date.between(source, source.now + edge, source.now + span)

    return make


def _signs(alphabet: str) -> Callable[[Arguments], Method]:
    def make(args: Arguments) -> Method:
        length = _whole(args, "length", 1, least=1, most=MAX_LENGTH)
        return lambda source: source.chars(alphabet, length)

    return make


def _whole(args: Arguments, name: str, default: int, *, least: int = -_MOST, most: int = _MOST) -> int:
    value = args.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadArguments(f"`{name}` is a whole number from {least} to {most}.")
    return value


def _number(args: Arguments, name: str, default: float) -> float:
    value = args.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST <= value <= _MOST:
        raise BadArguments(f"`{name}` is a number of at most 2**53 - 1.")
    assert math.isfinite(value)
    return float(value)


def _moment(args: Arguments, name: str) -> datetime:
    value = args.get(name)
    try:
        moment = datetime.fromisoformat(value)  # type: ignore[arg-type]
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise BadArguments(f"`{name}` is a date such as 2026-01-31 or 2026-01-31T12:00:00Z.") from None


TAKING: dict[str, tuple[tuple[str, ...], Callable[[Arguments], Method]]] = {
    "commerce.price": (("min", "max", "dec"), _price),
    "datatype.boolean": (("probability",), _boolean),
    "date.between": (("from", "to"), _between),
    "date.future": (("years",), _around("years", 365, sign=1)),
    "date.past": (("years",), _around("years", 365, sign=-1)),
    "date.recent": (("days",), _around("days", 1, sign=-1)),
    "date.soon": (("days",), _around("days", 1, sign=1)),
    "helpers.arrayElement": (("array",), _element),
    "number.float": (("min", "max", "fractionDigits"), _float),
    "number.int": (("min", "max", "multipleOf"), _int),
    "string.alpha": (("length",), _signs(string.ascii_letters)),
    "string.alphanumeric": (("length",), _signs(string.ascii_letters + string.digits)),
    "string.numeric": (("length",), _signs(string.digits)),
}
"""The methods, with the names of their arguments and what makes them."""
