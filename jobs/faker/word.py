"""faker.word: English words by part of speech. Verbs, nouns, adverbs and adjectives are Python Faker's."""

from __future__ import annotations

from jobs.faker.source import Method, Source, one_of

conjunction = one_of(
    "after", "although", "and", "as", "because", "before", "but", "for", "if", "lest", "nor", "once", "or", "since",
    "so", "than", "that", "though", "till", "unless", "until", "when", "whenever", "whereas", "wherever", "while",
    "yet",
)  # fmt: skip
interjection = one_of(
    "ah", "aha", "aw", "blah", "boo", "bravo", "eek", "eh", "er", "gee", "ha", "hey", "hmm", "hooray", "meh", "oh",
    "oops", "ouch", "phew", "psst", "ugh", "uh-huh", "whoa", "wow", "yay", "yikes", "yippee", "yuck",
)  # fmt: skip
preposition = one_of(
    "about", "above", "across", "after", "against", "along", "amid", "among", "around", "at", "before", "behind",
    "below", "beneath", "beside", "between", "beyond", "by", "despite", "down", "during", "except", "for", "from",
    "in", "inside", "into", "near", "of", "off", "on", "onto", "over", "past", "per", "since", "through", "to",
    "toward", "under", "until", "up", "upon", "via", "with", "within", "without",
)  # fmt: skip


def _part_of_speech(name: str) -> Method:
    def method(source: Source) -> str:
        """One word."""
        from faker.providers.lorem.en_US import Provider

        return str(source.pick(Provider.parts_of_speech[name]))

    return method


adjective = _part_of_speech("adjective")
adverb = _part_of_speech("adverb")
noun = _part_of_speech("noun")
verb = _part_of_speech("verb")


def sample(source: Source) -> str:
    """A word of any part of speech, each part as likely as the next."""
    return source.pick((adjective, adverb, conjunction, interjection, noun, preposition, verb))(source)


def words(source: Source) -> str:
    """One to three words."""
    return " ".join(sample(source) for _ in range(source.integer(1, 3)))
