"""Makes records from a template. The same seed gives the same records in any process, on any day, beside any other call."""

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any, Final, NamedTuple

from jobs.faker import people
from jobs.faker.allowlist import METHODS
from jobs.faker.arguments import bound
from jobs.faker.locales import LOCALES
from jobs.faker.source import Method, Person, Source

SEEDED_REFERENCE: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The reference date of every seeded call. It is part of what a seed promises: a change would change every seeded date."""
MAX_VALUE_CHARS: Final = 2000
"""Limit of a value, in code points. No method comes near it. A longer value is cut."""
_PROVIDERS = [
    f"faker.providers.{name}"
    for name in re.findall(r"\w+", "address bank color company date_time emoji internet isbn job lorem person")
]


class Call(NamedTuple):
    """A method with arguments."""

    method: str
    args: Mapping[str, Any] | list[Any]


def engine() -> str:
    """The library and its version: ``faker 40.54.0``. The values of a seed may differ between two versions."""
    import faker

    return f"faker {faker.VERSION}"


def records(
    template: Mapping[str, str | Call], count: int, *, seed: int | None, now: datetime, locale: str = LOCALES[0]
) -> list[dict[str, str | None]]:
    """Make `count` records with the keys of `template`, in its order.

    A column's values depend only on the seed, its key, its method and the locale, and are drawn from the first record on. So
    another column, or a larger count, does not change them. Columns about a person are about the record's one person; a second
    column of the same method is about a second person.

    Args:
        template: key to a name in METHODS, or to a call with good arguments. An unknown name raises KeyError.
        seed: None draws from the operating system instead.
        now: the reference date. With a seed, the caller must pass a fixed one.
        locale: one of LOCALES.
    """
    from faker import Factory

    # Each call has its own generator, because the random stream is replaced for every column. This takes 0.3 ms once the
    # providers are loaded. Without weighting a name takes 1 µs instead of 40; rare names are then as likely as others.
    fake: Any = Factory.create(locale, providers=_PROVIDERS, use_weighting=False)
    # Python Faker's years, which Russian user names have, are drawn up to the present.
    fake.set_formatter("year", lambda: str(fake.random.randint(1970, 2025)))
    root = secrets.token_bytes(32) if seed is None else str(seed).encode()

    def source_of(key: str, name: str) -> Source:
        fake.random = _stream(root, key, name)
        return Source(rng=fake.random, now=now, locale=locale, fake=fake)

    everybody: list[list[Person]] = []
    seen: Counter[str] = Counter()
    columns = []
    for key, asked in template.items():
        name, method = _asked(asked)
        number = seen[name]
        seen[name] += 1
        if name not in people.ABOUT:
            source = source_of(key, name)
            columns.append([method(source)[:MAX_VALUE_CHARS] for _ in range(count)])
            continue
        if number == len(everybody):
            source = source_of("", f"people {number}")
            everybody.append([people.made(source) for _ in range(count)])
        source = source_of(key, name)
        columns.append([method(replace(source, someone=one))[:MAX_VALUE_CHARS] for one in everybody[number]])
    return [dict(zip(template, row, strict=True)) for row in zip(*columns, strict=True)]


def _asked(asked: str | Call) -> tuple[str, Method]:
    return (asked, METHODS[asked]) if isinstance(asked, str) else (asked.method, bound(asked.method, asked.args))


def _stream(root: bytes, key: str, name: str) -> Random:
    # Hash each part before joining them, so that no two triples collide. surrogatepass: a key may be any str.
    parts = (root, key.encode("utf-8", "surrogatepass"), name.encode())
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()
    return Random(int.from_bytes(digest))  # noqa: S311 - made-up data, nothing is kept secret by it
