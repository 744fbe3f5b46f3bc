"""faker.string: random text of faker-js's default lengths (one character unless said otherwise)."""

import string
from uuid import UUID

from jobs.faker.source import Source, signs

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

alpha = signs(string.ascii_letters, 1, "A letter of either case.")
alphanumeric = signs(string.ascii_letters + string.digits, 1, "A letter of either case or a digit.")
binary = signs("01", 1, "``0b1``.", before="0b")
octal = signs(string.octdigits, 1, "``0o7``.", before="0o")
hexadecimal = signs(string.hexdigits, 1, "``0xd`` or ``0xD``.", before="0x")
numeric = signs(string.digits, 1, "A digit.")
symbol = signs(string.punctuation, 1, "A sign of ASCII punctuation.")
sample = signs([chr(code) for code in range(33, 126)], 10, "Ten visible ASCII characters.")
nanoid = signs(string.ascii_letters + string.digits + "_-", 21, "Twenty-one URL-safe characters.")


def ulid(source: Source) -> str:
    """Twenty-six signs of Crockford's base 32; the first ten are the reference date in milliseconds."""
    moment = int(source.now.timestamp() * 1000)
    stamp = "".join(_CROCKFORD[moment >> shift & 31] for shift in range(45, -1, -5))
    return stamp + source.chars(_CROCKFORD, 16)


def uuid(source: Source) -> str:
    """Version 4."""
    return str(UUID(int=source.rng.getrandbits(128), version=4))
