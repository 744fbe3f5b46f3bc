"""faker.company: names and business jargon. The jargon is Python Faker's."""

from __future__ import annotations

from jobs.faker.source import Method, Source

# Words that have lost a space.
_SPACED = {"24hour": "24 hour", "leadingedge": "leading edge"} | {
    f"{nth}generation": f"{nth} generation" for nth in ("3rd", "4th", "5th", "6th")
}


def name(source: Source) -> str:
    """``Kling - Larson``, ``Hegmann LLC`` or ``Terry, Metz and Crona``."""
    first, second, third = (source.fake.last_name() for _ in range(3))
    legal = source.pick(("Inc", "and Sons", "LLC", "Group"))
    return source.pick((f"{first} - {second}", f"{first} {legal}", f"{first}, {second} and {third}"))


def _catch_phrase_word(index: int) -> Method:
    def method(source: Source) -> str:
        """A word or two."""
        from faker.providers.company import Provider

        word = source.pick(tuple(Provider.catch_phrase_words[index]))
        return _SPACED.get(word, word)

    return method


def _buzz_word(index: int) -> Method:
    def method(source: Source) -> str:
        """A word or two."""
        from faker.providers.company import Provider

        return source.pick(tuple(Provider.bsWords[index]))

    return method


catch_phrase_adjective = _catch_phrase_word(0)
catch_phrase_descriptor = _catch_phrase_word(1)
catch_phrase_noun = _catch_phrase_word(2)
buzz_verb = _buzz_word(0)
buzz_adjective = _buzz_word(1)
buzz_noun = _buzz_word(2)


def catch_phrase(source: Source) -> str:
    """``Open-source heuristic protocol``."""
    return f"{catch_phrase_adjective(source)} {catch_phrase_descriptor(source)} {catch_phrase_noun(source)}"


def buzz_phrase(source: Source) -> str:
    """``synthesize integrated experiences``."""
    return f"{buzz_verb(source)} {buzz_adjective(source)} {buzz_noun(source)}"
