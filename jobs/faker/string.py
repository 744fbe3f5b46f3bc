"""faker.string: random text of faker-js's default lengths (one character unless said otherwise)."""

from __future__ import annotations

import string
from uuid import UUID

from jobs.faker.source import Source

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_NANOID = string.ascii_letters + string.digits + "_-"
_SAMPLE = [chr(code) for code in range(33, 126)]


def alpha(source: Source) -> str:
    """A letter of either case."""
    return source.chars(string.ascii_letters, 1)


def alphanumeric(source: Source) -> str:
    """A letter of either case or a digit."""
    return source.chars(string.ascii_letters + string.digits, 1)


def binary(source: Source) -> str:
    """``0b1``."""
    return "0b" + source.chars("01", 1)


def octal(source: Source) -> str:
    """``0o7``."""
    return "0o" + source.chars(string.octdigits, 1)


def hexadecimal(source: Source) -> str:
    """``0xd`` or ``0xD``."""
    return "0x" + source.chars(string.hexdigits, 1)


def numeric(source: Source) -> str:
    """A digit."""
    return source.digits(1)


def symbol(source: Source) -> str:
    """A sign of ASCII punctuation."""
    return source.chars(string.punctuation, 1)


def sample(source: Source) -> str:
    """Ten visible ASCII characters."""
    return source.chars(_SAMPLE, 10)


def nanoid(source: Source) -> str:
    """Twenty-one URL-safe characters."""
    return source.chars(_NANOID, 21)


def ulid(source: Source) -> str:
    """Twenty-six signs of Crockford's base 32; the first ten are the reference date in milliseconds."""
    moment = int(source.now.timestamp() * 1000)
    stamp = "".join(_CROCKFORD[moment >> shift & 31] for shift in range(45, -1, -5))
    return stamp + source.chars(_CROCKFORD, 16)


def uuid(source: Source) -> str:
    """Version 4."""
    return str(UUID(int=source.rng.getrandbits(128), version=4))
