"""faker.word: English words by part of speech. Verbs, nouns, adverbs and adjectives are Python Faker's."""

from jobs.faker.source import Method, Source, gives, one_of

conjunction = one_of("word.conjunction")
interjection = one_of("word.interjection")
preposition = one_of("word.preposition")


def _part_of_speech(name: str) -> Method:
    def method(source: Source) -> str:
        """One word."""
        from faker.providers.lorem.en_US import Provider

        return str(source.pick(Provider.parts_of_speech[name]))

    return method


_adverb_of_manner = one_of("word.adverbOfManner")
_python_fakers_adverb = _part_of_speech("adverb")
adjective = _part_of_speech("adjective")
noun = _part_of_speech("noun")
verb = _part_of_speech("verb")


def adverb(source: Source) -> str:
    """One word."""
    return source.pick((_python_fakers_adverb, _adverb_of_manner))(source)


sample = gives(
    "A word of any part of speech, each part as likely as the next.",
    lambda source: source.pick((adjective, adverb, conjunction, interjection, noun, preposition, verb))(source),
)
words = gives("One to three words.", lambda source: " ".join(sample(source) for _ in range(source.integer(1, 3))))
