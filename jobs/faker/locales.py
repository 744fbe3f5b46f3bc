"""The locales: which there are, how they may be spelled, and their names from the CLDR, as Babel has them."""

import functools
import re
from typing import NamedTuple

LOCALES = ("en_US", "en_GB", "de_DE", "es_ES", "fr_FR", "it_IT", "ja_JP", "pt_BR", "ru_RU", "zh_CN")
"""The first of a language is the one that is meant by the language alone."""

# Codes of two letters in the CLDR that are not assigned in ISO 3166-1: reserved ones, groups, and ones for tests.
_NOT_ISO = frozenset(["AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "XK", "ZZ"])


def canonical(name: str) -> str | None:
    """The locale that is meant by ``de_DE``, ``de-DE``, ``de`` or ``DE``; None when there is none."""
    asked = name.replace("-", "_").lower()
    return next((locale for locale in LOCALES if asked in (locale.lower(), locale[:2])), None)


class Names(NamedTuple):
    """Names in one language, by code: ISO 3166-1 alpha-2, ISO 639-1, ISO 4217."""

    countries: dict[str, str]
    languages: dict[str, str]
    currencies: dict[str, str]


@functools.cache
def names(locale: str) -> Names:
    """The names in the locale's language. The first call takes some milliseconds and reads a file."""
    from babel import Locale

    data = Locale.parse(locale)
    countries = {
        str(code): re.sub(r" \(.*\)$", "", name)  # Myanmar (Burma)
        for code, name in data.territories.items()
        if len(code) == 2 and code not in _NOT_ISO
    }
    languages = {str(code): name for code, name in data.languages.items() if len(code) == 2}
    currencies = {**Locale.parse("en").currencies, **data.currencies}  # new ones have their names in English first
    return Names(dict(sorted(countries.items())), dict(sorted(languages.items())), currencies)
