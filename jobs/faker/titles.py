"""Invented titles of books, albums and songs. No real author or performer is credited with them."""

from jobs.faker.source import Source, one_of

mood = one_of("titles.mood")
thing = one_of("titles.thing")


def title(source: Source) -> str:
    """``The Golden Lantern``: invented."""
    first, second = mood(source), thing(source)
    return source.pick((
        f"The {first} {second}",
        f"{first} {second}",
        f"The {second} and the {thing(source)}",
        f"{first} {second}, {mood(source)} {thing(source)}",
        f"A {second} of Your Own",
        f"{second} by {thing(source)}",
        f"Beyond the {first} {second}",
    ))  # fmt: skip
