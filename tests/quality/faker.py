"""faker: how many methods give at least half of the distinct values that faker-js gives in 1,000 draws, in two seeds; and
people whose names belong together; methods with arguments, and phone numbers of the locale."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from jobs.faker.allowlist import METHODS
from jobs.faker.endpoint import ENDPOINT
from jobs.faker.locales import LOCALES
from jobs.faker.records import SEEDED_REFERENCE, records
from tests.jobs.calls import answer_to
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
# A method, its arguments as faker-js has them, and the form of each value.
_ARGUMENTS: list[tuple[str, Any, str]] = [
    ("number.int", {"min": 1, "max": 6}, "[1-6]"),
    ("number.int", [{"min": -3, "max": -3}], "-3"),
    ("number.float", {"min": 1, "max": 2, "fractionDigits": 1}, r"1(\.\d)?|2"),
    ("helpers.arrayElement", ["S", "M"], "S|M"),
    ("helpers.arrayElement", [["S", "M"]], "S|M"),
    ("date.between", {"from": "2026-02-01", "to": "2026-02-02"}, "2026-02-0[12]T.*"),
    ("date.past", {"years": 1}, "2025-.*"),
    ("string.alphanumeric", {"length": 8}, "[A-Za-z0-9]{8}"),
    ("commerce.price", {"min": 5, "max": 5, "dec": 3}, r"5\.000"),
    ("datatype.boolean", {"probability": 1}, "true"),
]
_ARGUMENTS_SET_ASIDE: list[tuple[str, Any, str]] = [
    ("number.int", [6], "[0-6]"),
    ("number.int", {"max": 0}, "0"),
    ("string.numeric", {"length": 5}, r"\d{5}"),
    ("string.alpha", [3], "[A-Za-z]{3}"),
    ("date.future", {"years": 2}, "202[67]-.*"),
    ("helpers.arrayElement", {"array": ["a"]}, "a"),
    ("lorem.words", [3], r"\S+ \S+ \S+"),
    ("number.float", {"min": 0.5, "max": 0.5}, r"0\.5"),
]
_PHONES = {
    "en_US": r"(\+1 |1-)?(\(\d{3}\) |\d{3}[-.])\d{3}[-.]\d{4}( x\d+)?",
    "en_GB": r"0\d{2} \d{4} \d{4}|01(1\d|\d1) \d{3} \d{4}|0[3-9]\d\d \d{3} \d{4}|0\d{4} \d{6}",
    "de_DE": r"(\+49 |0)\d{2,4} \d{3,5}( \d{2,4})?",
    "es_ES": r"(\+34 )?\d{3}( \d{3}){2}|(\+34 )?\d{3}( \d\d){3}",
    "fr_FR": r"(\+33 |0)\d( \d\d){4}",
    "it_IT": r"(\+39 )?\d{2,3} (\d{6,8}|\d{3} \d{4})",
    "ja_JP": r"(\+81 |0)\d{1,3}-\d{2,4}-\d{4}",
    "pt_BR": r"(\+55 )?\(\d\d\) 9?\d{4}-\d{4}",
    "ru_RU": r"(\+7|8) \(\d{3}\) \d{3}-\d\d-\d\d",
    "zh_CN": r"(\+86 )?(1\d\d \d{4} \d{4}|0\d{2,3}[- ]\d{7,8})",
}
"""How each country writes them, with or without its calling code."""
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
    arguments = _ARGUMENTS_SET_ASIDE if held_out else _ARGUMENTS
    yield Measure("methods with arguments", len(arguments), sum(_is_drawn(*case) for case in arguments))
    phones = [
        re.fullmatch(_PHONES[locale], str(record["a"])) is not None
        for locale in LOCALES[int(held_out) :: 2]
        for record in records({"a": "phone.number"}, 100, seed=5, now=SEEDED_REFERENCE, locale=locale)
    ]
    yield Measure("phone numbers as the country writes them", len(phones), sum(phones))


def _is_drawn(method: str, arguments: Any, form: str) -> bool:
    body = {"template": {"a": {"method": method, "args": arguments}}, "count": 20, "seed": 5}
    try:
        return all(re.fullmatch(form, record["a"]) for record in answer_to(ENDPOINT, body)["data"])
    except msgspec.ValidationError:
        return False


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
