"""faker: how many methods give at least half of the distinct values that faker-js gives in 1,000 draws, in two seeds; and
people whose names belong together."""

import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

from jobs.faker.allowlist import METHODS
from jobs.faker.locales import LOCALES
from jobs.faker.records import SEEDED_REFERENCE, records
from tests.quality.scorer import Measure

_PERSON = {
    "first": "person.firstName",
    "last": "person.lastName",
    "full": "person.fullName",
    "email": "internet.email",
    "user": "internet.username",
}
_LATIN = ("en", "de", "fr", "es", "it", "nl", "pt", "pl")
_SPELLED = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ł": "l"}
_TABLE = Path(__file__).parents[1] / "jobs" / "faker" / "faker_js_methods.txt"


def measures(held_out: bool) -> Iterator[Measure]:
    """The part set aside has another seed and every other locale."""
    every = {name: name for name in METHODS}
    theirs = {parts[0]: int(parts[1]) for line in _TABLE.read_text().splitlines() if len(parts := line.split()) == 2}
    drawn = records(every, 1000, seed=2 if held_out else 1, now=SEEDED_REFERENCE)
    ours = {name: len({record[name] for record in drawn}) for name in METHODS}
    yield Measure("half of faker-js's values", len(METHODS), sum(2 * ours[name] >= theirs[name] for name in METHODS))
    for locale in LOCALES[int(held_out) :: 2]:
        made = records(every, 100, seed=3, now=SEEDED_REFERENCE, locale=locale)
        values = [str(value).rstrip("\r\n") for record in made for value in record.values()]
        yield Measure(
            f"trimmed text, {locale}", len(values), sum(bool(value) and value.strip() == value for value in values)
        )
    latin = [locale for locale in LOCALES[int(held_out) :: 2] if locale[:2] in _LATIN]
    people = [
        person for locale in latin for person in records(_PERSON, 200, seed=4, now=SEEDED_REFERENCE, locale=locale)
    ]
    yield Measure("one person per record", len(people), sum(map(_is_one_person, people)))


def _is_one_person(record: Mapping[str, str]) -> bool:
    """Whether the full name has both names, and the address and the user name have the last name or begin with the first."""
    first, last = _bare(record["first"]), _bare(record["last"])
    names = _bare(record["full"])
    return (
        first in names
        and last in names
        and all(last in _bare(record[key]) or _bare(record[key]).startswith(first) for key in ("email", "user"))
    )


def _bare(text: str) -> str:
    """Letters without marks, in the spelling of addresses: `ä` is `ae` there."""
    spelled = text.lower().translate({ord(letter): to for letter, to in _SPELLED.items()})
    folded = unicodedata.normalize("NFKD", spelled)
    return "".join(letter for letter in folded if letter.isascii() and letter.isalpha())
