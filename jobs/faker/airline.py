"""faker.airline: air travel. What has a name and a code is a JSON object; the codes are IATA's."""

from jobs.faker.lists import LISTS
from jobs.faker.source import Source, gives, signs
from jobs.faker.text import as_json

record_locator = signs(
    "ABCDEFGHJKLMNPQRSTUVWXYZ", 6, "Six capital letters; I and O are left out, as they are read as digits."
)


def _named(source: Source, section: str, code: str) -> str:
    value, _, name = source.pick(LISTS[section]).partition(" ")
    return as_json({"name": name, code: value})


def airline(source: Source) -> str:
    """``{"name":"Air China","iataCode":"CA"}``."""
    return _named(source, "airline.airlines", "iataCode")


def airplane(source: Source) -> str:
    """``{"name":"Airbus A320","iataTypeCode":"320"}``."""
    return _named(source, "airline.airplanes", "iataTypeCode")


def airport(source: Source) -> str:
    """``{"name":"Dublin Airport","iataCode":"DUB"}``."""
    return _named(source, "airline.airports", "iataCode")


def flight_number(source: Source) -> str:
    """One to four digits, the first not 0; every length as likely as the next."""
    length = source.integer(1, 4)
    return str(source.integer(10 ** (length - 1), 10**length - 1))


seat = gives(
    "Of a narrowbody: row 1 to 35, A to F.", lambda source: f"{source.integer(1, 35)}{source.chars('ABCDEF', 1)}"
)
