"""faker.word: English words by part of speech. Verbs, nouns, adverbs and adjectives are Python Faker's."""

from __future__ import annotations

from jobs.faker.source import Method, Source, gives, one_of

conjunction = one_of("""
    after, although, and, as, as if, as long as, as much as, as soon as, as though, because, before, but, even if, for, if
    in order that, lest, nor, once, or, since, so, than, that, though, till, unless, until, when, whenever, whereas, wherever
    while, yet
""")
interjection = one_of("""
    ah, aha, aw, blah, boo, bravo, eek, eh, er, gee, ha, hey, hmm, hooray, meh, oh, oops, ouch, phew, psst, ugh, uh-huh, whoa
    wow, yay, yikes, yippee, yuck
""")
preposition = one_of("""
    abaft, aboard, about, above, across, afore, after, against, along, alongside, amid, amidst, among, amongst, around, aside
    astride, at, atop, barring, before, behind, below, beneath, beside, besides, between, beyond, by, circa, concerning
    considering, despite, down, during, except, excluding, failing, following, for, from, given, in, including, inside, into
    like, minus, near, next, notwithstanding, of, off, on, onto, opposite, out, outside, over, past, pending, per, plus
    regarding, round, save, since, than, through, throughout, till, to, toward, towards, under, underneath, unlike, until, up
    upon, versus, via, with, within, without
""")


def _part_of_speech(name: str) -> Method:
    def method(source: Source) -> str:
        """One word."""
        from faker.providers.lorem.en_US import Provider

        return str(source.pick(Provider.parts_of_speech[name]))

    return method


_adverb_of_manner = one_of("""
    blindly, brightly, courageously, deftly, foolishly, gladly, hungrily, kindly, nervously, oddly, proudly, selfishly, softly
    tenderly, weakly, wisely
""")
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
