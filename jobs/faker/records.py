"""From a template to records. The same seed gives the same records in any process, on any day, beside any other call."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from random import Random
from typing import Final, cast

from jobs.faker.allowlist import METHODS
from jobs.faker.source import Fake, Source

LOCALE: Final = "en_US"
SEEDED_REFERENCE: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The reference date of every seeded call. Part of the promise of a seed: changing it changes everyone's dates."""
MAX_VALUE_CHARS: Final = 2000
"""Longest value, in code points. No method comes near it; what grows beyond is cut."""


def engine() -> str:
    """``faker 40.54.0``: values of one seed may differ between two versions."""
    import faker

    return f"faker {faker.VERSION}"


def preload() -> None:
    """Load the library, for processes that are forked."""
    from faker import Factory

    Factory.create(LOCALE, use_weighting=False)


def records(template: Mapping[str, str], count: int, *, seed: int | None, now: datetime) -> list[dict[str, str | None]]:
    """Make `count` records with the keys of `template`, in its order.

    A column's values depend on the seed, its key and its method alone, and are drawn from the first record on: another
    column more or less, or a larger count, changes none of them.

    Args:
        template: key to a name in METHODS; a name that is not there raises KeyError.
        seed: None draws from the operating system instead.
        now: the reference date; the caller pins it when there is a seed.
    """
    from faker import Factory

    # A generator per call: its random stream is exchanged for every column, so two calls must never share one. 0.6 ms
    # once the module is loaded. Without weighting a name costs 1 µs instead of 40; rare names are as likely as others.
    fake = Factory.create(LOCALE, use_weighting=False)
    root = secrets.token_bytes(32) if seed is None else str(seed).encode()
    columns = []
    for key, name in template.items():
        rng = _stream(root, key, name)
        fake.random = rng
        source = Source(rng=rng, now=now, fake=cast(Fake, fake))
        method = METHODS[name]
        columns.append([method(source)[:MAX_VALUE_CHARS] for _ in range(count)])
    return [dict(zip(template, row, strict=True)) for row in zip(*columns, strict=True)]


def _stream(root: bytes, key: str, name: str) -> Random:
    # Hashed separately before they are joined, so that no two triples meet. surrogatepass: a key may be any str.
    parts = (root, key.encode("utf-8", "surrogatepass"), name.encode())
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()
    return Random(int.from_bytes(digest))  # noqa: S311 - made-up data, nothing is kept secret by it
