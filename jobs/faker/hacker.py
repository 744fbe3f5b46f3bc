"""faker.hacker: what people in films say about computers."""

from jobs.faker.source import Source, one_of

abbreviation = one_of("hacker.abbreviation")
adjective = one_of("hacker.adjective")
noun = one_of("hacker.noun")
verb = one_of("hacker.verb")
ingverb = one_of("hacker.ingverb")


def phrase(source: Source) -> str:
    """One sentence."""
    act, then = verb(source), verb(source)
    first, second = abbreviation(source), abbreviation(source)
    how, what, where = adjective(source), noun(source), noun(source)
    return source.pick((
        f"If we {act} the {what}, we can get to the {first} {where} through the {how} {second} {noun(source)}!",
        f"Try to {act} the {first} {what}, maybe it will {then} the {how} {where}!",
        f"We need to {act} the {how} {first} {what}!",
        f"You can't {act} the {what} without {ingverb(source)} the {how} {first} {where}!",
        f"The {first} {what} is down, {act} the {how} {where} so we can {then} the {second} {noun(source)}!",
    ))  # fmt: skip
