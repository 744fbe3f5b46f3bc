"""faker.lorem: Latin filler of faker-js's default lengths. The words are Python Faker's."""

from __future__ import annotations

from jobs.faker.source import Source


def _some(source: Source, count: int) -> list[str]:
    from faker.providers.lorem.la import Provider

    return source.rng.choices(Provider.word_list, k=count)


def word(source: Source) -> str:
    """One word, in lower case."""
    return _some(source, 1)[0]


def words(source: Source) -> str:
    """Three words."""
    return " ".join(_some(source, 3))


def slug(source: Source) -> str:
    """Three words joined by hyphens."""
    return "-".join(_some(source, 3))


def sentence(source: Source) -> str:
    """Three to ten words."""
    return " ".join(_some(source, source.integer(3, 10))).capitalize() + "."


def sentences(source: Source) -> str:
    """Two to six sentences."""
    return " ".join(sentence(source) for _ in range(source.integer(2, 6)))


def lines(source: Source) -> str:
    """One to five sentences, each on a line of its own."""
    return "\n".join(sentence(source) for _ in range(source.integer(1, 5)))


def paragraph(source: Source) -> str:
    """Three sentences."""
    return " ".join(sentence(source) for _ in range(3))


def paragraphs(source: Source) -> str:
    """Three paragraphs, each on a line of its own."""
    return "\n".join(paragraph(source) for _ in range(3))


def text(source: Source) -> str:
    """Any of the others, from a sentence to paragraphs."""
    return source.pick((sentence, sentences, lines, paragraph, paragraphs))(source)
