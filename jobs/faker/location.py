"""faker.location: addresses of the locale; countries, time zones, coordinates and languages of the world."""

import functools
import re
from math import asin, atan2, cos, degrees, radians, sin

from jobs.faker import locales
from jobs.faker.lists import LISTS
from jobs.faker.source import Source, fakes, gives
from jobs.faker.text import as_json, as_number

_LANGUAGES = dict(pair.split() for pair in LISTS["location.languages"])
_FLATS = {
    "de_DE": "Wohnung ##", "fr_FR": "Appartement ##", "ja_JP": "!##号室", "pt_BR": "Apto. ##", "ru_RU": "кв. ##",
    "zh_CN": "!##室",
}  # fmt: skip
"""Where Python Faker has none. A sign as in `Source.fill`."""
_EARTH_RADIUS_KM = 6371.0


@functools.cache
def _italian_cities() -> list[str]:
    """Python Faker has them in the order of a set, which is another in every process."""
    from faker.providers.address.it_IT import Provider

    return sorted(Provider.cities)


city = gives(
    "``Lake Morgan``: invented where Python Faker invents the locale's places, otherwise real.",
    lambda source: source.pick(_italian_cities()) if source.locale == "it_IT" else source.fake.city().strip(),
)
building_number = gives(
    "Written as in the locale; in en_US three to five digits.", lambda source: _houses(source.fake.building_number())
)
zip_code = fakes("postcode", "The locale's postal code; in en_US five digits.")
time_zone = fakes("timezone", "An IANA name: ``Europe/Vaduz``.")
state = fakes(
    "administrative_unit", "The locale's largest part of the country: state, land, region, prefecture; in en_GB county."
)


def county(source: Source) -> str:
    """A county of the United States; in other locales as `state`."""
    return source.pick(LISTS["location.counties"]) if source.locale == "en_US" else state(source)


country = gives(
    "The name in the locale's language, of any that has an ISO 3166-1 code.",
    lambda source: source.pick(tuple(locales.names(source.locale).countries.values())),
)
country_code = gives("ISO 3166-1 alpha-2.", lambda source: source.pick(tuple(locales.names(source.locale).countries)))


def street(source: Source) -> str:
    """``Sims Divide``."""
    return str(source.fake.town()) if source.locale == "ja_JP" else source.fake.street_name().strip()


def street_address(source: Source) -> str:
    """``252 Gwendolyn Prairie``, written as in the locale."""
    if source.locale == "ja_JP":
        return f"{street(source)}{source.integer(1, 9)}-{source.integer(1, 29)}-{source.integer(1, 29)}"
    return _houses(", ".join(source.fake.street_address().split("\n")))


def _houses(text: str) -> str:
    """No house has the number 0, nor one that begins with it."""
    return re.sub(r"\b0+(?=\d)", "", re.sub(r"\b0+\b", "1", text)).strip()


def secondary_address(source: Source) -> str:
    """``Apt. 641`` or ``Suite 863``, written as in the locale."""
    flat = _FLATS.get(source.locale)
    return source.fill(flat) if flat else str(source.fake.secondary_address()).strip()


def postal_address(source: Source) -> str:
    """The lines of an address on a letter, as in the locale."""
    if source.locale == "en_US":  # half of Python Faker's are of the armed forces
        lines = [street_address(source), f"{city(source)}, {source.fake.state_abbr(False)} {zip_code(source)}"]
    else:
        lines = source.fake.address().split("\n")
    return "\n".join([*map(_houses, lines[:-1]), lines[-1].strip()])


def _coordinate(value: float) -> str:
    return as_number(round(value, 4) + 0.0)  # + 0.0 turns -0.0 into 0.0


latitude = gives("-90 to 90, at most four decimals.", lambda source: _coordinate(source.rng.uniform(-90, 90)))
longitude = gives("-180 to 180, at most four decimals.", lambda source: _coordinate(source.rng.uniform(-180, 180)))


def nearby_gps_coordinate(source: Source) -> str:
    """``[latitude,longitude]``, within 10 km of somewhere."""
    start = radians(source.rng.uniform(-90, 90)), radians(source.rng.uniform(-180, 180))
    bearing, distance = radians(source.rng.uniform(0, 360)), source.rng.uniform(0, 10) / _EARTH_RADIUS_KM
    sine = sin(start[0]) * cos(distance) + cos(start[0]) * sin(distance) * cos(bearing)
    turn = atan2(sin(bearing) * sin(distance) * cos(start[0]), cos(distance) - sin(start[0]) * sine)
    around = (degrees(start[1] + turn) + 180) % 360 - 180
    return f"[{_coordinate(degrees(asin(max(-1.0, min(1.0, sine)))))},{_coordinate(around)}]"


def language(source: Source) -> str:
    """``{"name":"Korean","alpha2":"ko","alpha3":"kor"}``, ISO 639; the name in the locale's language."""
    code = source.pick(tuple(_LANGUAGES))
    return as_json({"name": locales.names(source.locale).languages[code], "alpha2": code, "alpha3": _LANGUAGES[code]})
