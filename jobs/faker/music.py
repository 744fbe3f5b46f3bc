"""faker.music: invented works and performers, drawn apart from each other; genres are real."""

from jobs.faker import person, titles
from jobs.faker.source import Source

album = titles.title
song_name = titles.title


def artist(source: Source) -> str:
    """A person, or a band such as ``The Golden Lanterns``: invented."""
    if source.chance(0.5):
        return person.plain_name(source)
    first, second = titles.mood(source), titles.thing(source)
    return source.pick((f"The {first} {second} Band", f"{first} {second}", f"{titles.thing(source)} & {second}"))
