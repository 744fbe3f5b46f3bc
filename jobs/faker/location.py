"""faker.location: addresses of the United States; countries, time zones, coordinates and languages of the world."""

from __future__ import annotations

from math import asin, atan2, cos, degrees, radians, sin

from jobs.faker.source import Source, one_of
from jobs.faker.text import as_json, as_number

_STATES = (
    "Alabama", "Alaska", "Arizona", "Arkansas", "California", "Colorado", "Connecticut", "Delaware", "Florida",
    "Georgia", "Hawaii", "Idaho", "Illinois", "Indiana", "Iowa", "Kansas", "Kentucky", "Louisiana", "Maine",
    "Maryland", "Massachusetts", "Michigan", "Minnesota", "Mississippi", "Missouri", "Montana", "Nebraska", "Nevada",
    "New Hampshire", "New Jersey", "New Mexico", "New York", "North Carolina", "North Dakota", "Ohio", "Oklahoma",
    "Oregon", "Pennsylvania", "Rhode Island", "South Carolina", "South Dakota", "Tennessee", "Texas", "Utah",
    "Vermont", "Virginia", "Washington", "West Virginia", "Wisconsin", "Wyoming",
)  # fmt: skip
_LANGUAGES = (
    ("Arabic", "ar", "ara"), ("Basque", "eu", "eus"), ("Bengali", "bn", "ben"), ("Czech", "cs", "ces"),
    ("Danish", "da", "dan"), ("Dutch", "nl", "nld"), ("English", "en", "eng"), ("Estonian", "et", "est"),
    ("Finnish", "fi", "fin"), ("French", "fr", "fra"), ("German", "de", "deu"), ("Greek", "el", "ell"),
    ("Hebrew", "he", "heb"), ("Hindi", "hi", "hin"), ("Hungarian", "hu", "hun"), ("Icelandic", "is", "isl"),
    ("Irish", "ga", "gle"), ("Italian", "it", "ita"), ("Japanese", "ja", "jpn"), ("Korean", "ko", "kor"),
    ("Latvian", "lv", "lav"), ("Lithuanian", "lt", "lit"), ("Malay", "ms", "msa"), ("Maori", "mi", "mri"),
    ("Norwegian", "no", "nor"), ("Persian", "fa", "fas"), ("Polish", "pl", "pol"), ("Portuguese", "pt", "por"),
    ("Romanian", "ro", "ron"), ("Russian", "ru", "rus"), ("Samoan", "sm", "smo"), ("Slovak", "sk", "slk"),
    ("Spanish", "es", "spa"), ("Swahili", "sw", "swa"), ("Swedish", "sv", "swe"), ("Tamil", "ta", "tam"),
    ("Thai", "th", "tha"), ("Turkish", "tr", "tur"), ("Ukrainian", "uk", "ukr"), ("Vietnamese", "vi", "vie"),
    ("Welsh", "cy", "cym"), ("Zulu", "zu", "zul"),
)  # fmt: skip
# Python Faker's names that are out of date, ambiguous or more than a name.
_COUNTRIES = {
    "Antarctica (the territory South of 60 deg S)": "Antarctica", "Bouvet Island (Bouvetoya)": "Bouvet Island",
    "Korea": "South Korea", "Libyan Arab Jamahiriya": "Libya", "Netherlands Antilles": "Curaçao",
    "Slovakia (Slovak Republic)": "Slovakia", "Swaziland": "Eswatini",
}  # fmt: skip
_EARTH_RADIUS_KM = 6371.0

state = one_of(*_STATES)
county = one_of(
    "Adams County", "Boone County", "Brown County", "Carroll County", "Clark County", "Clay County",
    "Crawford County", "Douglas County", "Fayette County", "Franklin County", "Grant County", "Greene County",
    "Hamilton County", "Harrison County", "Henry County", "Jackson County", "Jefferson County", "Johnson County",
    "Lake County", "Lawrence County", "Lee County", "Lincoln County", "Logan County", "Madison County",
    "Marion County", "Marshall County", "Monroe County", "Montgomery County", "Morgan County", "Orange County",
    "Perry County", "Pike County", "Polk County", "Randolph County", "Scott County", "Shelby County", "Union County",
    "Warren County", "Washington County", "Wayne County", "White County",
)  # fmt: skip
continent = one_of("Africa", "Antarctica", "Asia", "Australia", "Europe", "North America", "South America")
cardinal_direction = one_of("North", "East", "South", "West")
ordinal_direction = one_of("Northeast", "Northwest", "Southeast", "Southwest")
direction = one_of("North", "East", "South", "West", "Northeast", "Northwest", "Southeast", "Southwest")


def city(source: Source) -> str:
    """``Lake Morgan``, ``Haleyport``: an invented place."""
    return source.fake.city()


def country(source: Source) -> str:
    """English short name."""
    name = source.fake.country()
    return _COUNTRIES.get(name, name)


def country_code(source: Source) -> str:
    """ISO 3166-1 alpha-2."""
    return source.fake.country_code()


def building_number(source: Source) -> str:
    """Three to five digits, the first not 0."""
    length = source.integer(3, 5)
    return str(source.integer(10 ** (length - 1), 10**length - 1))


def street(source: Source) -> str:
    """``Sims Divide``."""
    return source.fake.street_name()


def street_address(source: Source) -> str:
    """``252 Gwendolyn Prairie``."""
    return f"{building_number(source)} {street(source)}"


def secondary_address(source: Source) -> str:
    """``Apt. 641`` or ``Suite 863``."""
    return f"{source.pick(('Apt.', 'Suite'))} {source.digits(3)}"


def zip_code(source: Source) -> str:
    """Five digits, or five and four."""
    return source.fill(source.pick(("#####", "#####-####")))


def postal_address(source: Source) -> str:
    """Lines: perhaps a flat, then street, city, state and zip code."""
    flat = [secondary_address(source)] if source.rng.random() < 0.5 else []
    return "\n".join((*flat, street_address(source), city(source), state(source), zip_code(source)))


def _coordinate(value: float) -> str:
    return as_number(round(value, 4) + 0.0)  # + 0.0 turns -0.0 into 0.0


def latitude(source: Source) -> str:
    """-90 to 90, at most four decimals."""
    return _coordinate(source.rng.uniform(-90, 90))


def longitude(source: Source) -> str:
    """-180 to 180, at most four decimals."""
    return _coordinate(source.rng.uniform(-180, 180))


def nearby_gps_coordinate(source: Source) -> str:
    """``[latitude,longitude]``, within 10 km of somewhere."""
    start = radians(source.rng.uniform(-90, 90)), radians(source.rng.uniform(-180, 180))
    bearing, distance = radians(source.rng.uniform(0, 360)), source.rng.uniform(0, 10) / _EARTH_RADIUS_KM
    sine = sin(start[0]) * cos(distance) + cos(start[0]) * sin(distance) * cos(bearing)
    turn = atan2(sin(bearing) * sin(distance) * cos(start[0]), cos(distance) - sin(start[0]) * sine)
    around = (degrees(start[1] + turn) + 180) % 360 - 180
    return f"[{_coordinate(degrees(asin(max(-1.0, min(1.0, sine)))))},{_coordinate(around)}]"


def time_zone(source: Source) -> str:
    """An IANA name."""
    return source.fake.timezone()


def language(source: Source) -> str:
    """``{"name":"Korean","alpha2":"ko","alpha3":"kor"}``, ISO 639."""
    return as_json(dict(zip(("name", "alpha2", "alpha3"), source.pick(_LANGUAGES), strict=True)))
