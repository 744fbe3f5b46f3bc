"""faker.lorem: filler of faker-js's default lengths: Latin in English and Portuguese, otherwise in the locale's language."""

import functools
import re
from collections.abc import Sequence
from importlib import import_module

from jobs.faker.lists import LISTS
from jobs.faker.source import Source, gives


@functools.cache
def _latin() -> tuple[str, ...]:
    """The words of Cicero that Python Faker has, and those of others."""
    from faker.providers.lorem.la import Provider

    return tuple(sorted({*Provider.word_list, *LISTS["lorem.latin"]}))


def _words(source: Source) -> Sequence[str]:
    if not source.has("lorem") or source.locale == "en_US":
        return _latin()
    return _of(source.locale)


@functools.cache
def _of(locale: str) -> tuple[str, ...]:
    words = import_module(f"faker.providers.lorem.{locale}").Provider.word_list
    return tuple(dict.fromkeys(word for word in words if not re.search(r"\s", word)))


def _some(source: Source, count: int) -> list[str]:
    return source.rng.choices(_words(source), k=count)


word = gives("One word, in lower case where the language has it so.", lambda source: _some(source, 1)[0])
words = gives("Three words.", lambda source: " ".join(_some(source, 3)))
slug = gives("Three words joined by hyphens.", lambda source: "-".join(_some(source, 3)).lower())


def sentence(source: Source) -> str:
    """Three to ten words."""
    provider = source.provider("lorem")
    text = str(provider.word_connector).join(_some(source, source.integer(3, 10)))
    return f"{text[0].upper()}{text[1:]}{provider.sentence_punctuation}"


sentences = gives(
    "Two to six sentences.", lambda source: " ".join(sentence(source) for _ in range(source.integer(2, 6)))
)
lines = gives(
    "One to five sentences, each on its own line.",
    lambda source: "\n".join(sentence(source) for _ in range(source.integer(1, 5))),
)
paragraph = gives("Three sentences.", lambda source: " ".join(sentence(source) for _ in range(3)))
paragraphs = gives(
    "Three paragraphs, each on its own line.", lambda source: "\n".join(paragraph(source) for _ in range(3))
)
text = gives(
    "Any of the others, from a sentence to paragraphs.",
    lambda source: source.pick((sentence, sentences, lines, paragraph, paragraphs))(source),
)
