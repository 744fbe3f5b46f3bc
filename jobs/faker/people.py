"""Makes the person of a record. The columns of a record that are about a person are about the same one."""

import re
import unicodedata
from typing import Any

from jobs.faker.source import Person, Source

ABOUT = frozenset(
    {
        *("git.commitEntry", "internet.displayName", "internet.email", "internet.exampleEmail", "internet.username"),
        *("person.firstName", "person.fullName", "person.lastName", "person.prefix", "person.sex"),
    }
)
"""The methods that are about the person of their record."""

_LETTERS: dict[str, str] = {
    "ß": "ss",
    "æ": "ae",
    "ø": "o",
    "œ": "oe",
    "ł": "l",
    "đ": "d",
    **dict(zip("абвгдеёзийклмнопрстуфыэ", "abvgdeezijklmnoprstufye", strict=True)),
    "ж": "zh",
    "х": "kh",
    "ц": "ts",
    "ч": "ch",
    "ш": "sh",
    "щ": "shch",
    "ъ": "",
    "ь": "",
    "ю": "yu",
    "я": "ya",
}
_GERMAN = {"ä": "ae", "ö": "oe", "ü": "ue"}


def made(source: Source) -> Person:
    """Draw a person."""
    sex = source.pick(("female", "male"))
    fake: Any = source.fake
    if source.locale == "ja_JP":
        pairs = source.provider("person")
        first, _, first_latin = source.pick(tuple(getattr(pairs, f"first_name_{sex}_pairs")))
        last, _, last_latin = source.pick(tuple(pairs.last_name_pairs))
    else:
        first, last = getattr(fake, f"first_name_{sex}")(), getattr(fake, f"last_name_{sex}")()
        if source.locale in ("en_US", "en_GB") and source.chance(0.05):
            last = f"{last}-{fake.last_name()}"
        first_latin, last_latin = first, last
    # Of Chinese characters nothing says how they are read.
    is_readable = source.locale != "zh_CN"
    username = _username(source, first_latin, last_latin) if is_readable else fake.user_name()
    return Person(sex=sex, first=first, last=last, username=username)


def _username(source: Source, first: str, last: str) -> str:
    """``kmorgan``, ``kyle.morgan``, ``kyle_morgan``, ``kyle42`` or ``morgan.kyle7``."""
    given, family = _ascii(first, source.locale), _ascii(last, source.locale)
    number = source.integer(1, 99)
    return source.pick(
        (
            f"{given[:1]}{family}",
            f"{given}.{family}",
            f"{given}_{family}",
            f"{given}{number}",
            f"{family}.{given}{number}",
        )
    )


def _ascii(name: str, locale: str) -> str:
    table = _LETTERS | (_GERMAN if locale == "de_DE" else {})
    text = "".join(table.get(letter, letter) for letter in unicodedata.normalize("NFC", name.lower()))
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", text))
