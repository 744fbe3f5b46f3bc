"""faker.company: names and business jargon. The jargon is Python Faker's."""

from jobs.faker.source import Method, Source, fakes, gives

# Words that have lost a space.
_SPACED = {"24hour": "24 hour", "leadingedge": "leading edge"} | {
    f"{nth}generation": f"{nth} generation" for nth in ("3rd", "4th", "5th", "6th")
}


def _word(table: str, index: int) -> Method:
    def method(source: Source) -> str:
        """A word or two."""
        from faker.providers.company import Provider

        word: str = source.pick(tuple(getattr(Provider, table)[index]))
        return _SPACED.get(word, word)

    return method


name = fakes(
    "company", "``Kling-Larson``, ``Hegmann LLC`` or ``Terry, Metz and Crona``, as companies are called in the locale."
)
catch_phrase_adjective = _word("catch_phrase_words", 0)
catch_phrase_descriptor = _word("catch_phrase_words", 1)
catch_phrase_noun = _word("catch_phrase_words", 2)
buzz_verb = _word("bsWords", 0)
buzz_adjective = _word("bsWords", 1)
buzz_noun = _word("bsWords", 2)


def catch_phrase(source: Source) -> str:
    """``Open-source heuristic protocol``; in fr_FR, it_IT, pt_BR and ru_RU in the locale's language."""
    if source.locale in ("fr_FR", "it_IT", "pt_BR", "ru_RU"):
        return str(source.fake.catch_phrase())
    return f"{catch_phrase_adjective(source)} {catch_phrase_descriptor(source)} {catch_phrase_noun(source)}"


buzz_phrase = gives(
    "``synthesize integrated experiences``.",
    lambda source: f"{buzz_verb(source)} {buzz_adjective(source)} {buzz_noun(source)}",
)
