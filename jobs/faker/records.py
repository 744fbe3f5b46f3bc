"""Makes records from a template. The same seed gives the same records in any process, on any day, beside any other call."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any, Final

from jobs.faker.allowlist import METHODS
from jobs.faker.locales import LOCALES
from jobs.faker.source import Source

SEEDED_REFERENCE: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The reference date of every seeded call. It is part of what a seed promises: a change would change every seeded date."""
MAX_VALUE_CHARS: Final = 2000
"""Limit of a value, in code points. No method comes near it. A longer value is cut."""
_PROVIDERS = [
    f"faker.providers.{name}"
    for name in re.findall(r"\w+", "address bank color company date_time emoji internet isbn job lorem person")
]


def engine() -> str:
    """The library and its version: ``faker 40.54.0``. The values of a seed may differ between two versions."""
    import faker

    return f"faker {faker.VERSION}"


def records(
    template: Mapping[str, str], count: int, *, seed: int | None, now: datetime, locale: str = LOCALES[0]
) -> list[dict[str, str | None]]:
    """Make `count` records with the keys of `template`, in its order.

    A column's values depend only on the seed, its key, its method and the locale, and are drawn from the first record on. So
    another column, or a larger count, does not change them.

    Args:
        template: key to a name in METHODS. An unknown name raises KeyError.
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
    columns = []
    for key, name in template.items():
        rng = _stream(root, key, name)
        fake.random = rng
        source = Source(rng=rng, now=now, locale=locale, fake=fake)
        method = METHODS[name]
        columns.append([method(source)[:MAX_VALUE_CHARS] for _ in range(count)])
    return [dict(zip(template, row, strict=True)) for row in zip(*columns, strict=True)]


def _stream(root: bytes, key: str, name: str) -> Random:
    # Hash each part before joining them, so that no two triples collide. surrogatepass: a key may be any str.
    parts = (root, key.encode("utf-8", "surrogatepass"), name.encode())
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()
    return Random(int.from_bytes(digest))  # noqa: S311 - made-up data, nothing is kept secret by it
