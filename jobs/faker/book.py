"""faker.book: invented books, authors and publishers, drawn apart from each other."""

from jobs.faker import person, titles
from jobs.faker.source import Source

author = person.plain_name
title = titles.title


def publisher(source: Source) -> str:
    """``Morgan Press``: invented."""
    name = source.fake.last_name()
    return source.pick((
        f"{name} {source.pick(('Books', 'House', 'Press', 'Publishing'))}",
        f"{name} & {source.fake.last_name()}",
        f"{titles.mood(source)} {titles.thing(source)} {source.pick(('Books', 'Press'))}",
    ))  # fmt: skip


def series(source: Source) -> str:
    """``The Lantern Chronicles``: invented."""
    kind = source.pick(("Chronicles", "Cycle", "Mysteries", "Quartet", "Saga", "Trilogy"))
    return f"The {titles.thing(source)} {kind}"
