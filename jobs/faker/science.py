"""faker.science: JSON objects."""

from jobs.faker.lists import LISTS
from jobs.faker.source import Source
from jobs.faker.text import as_json


def chemical_element(source: Source) -> str:
    """``{"symbol":"Al","name":"Aluminium","atomicNumber":13}``, any of the 118."""
    number, element = source.pick(tuple(enumerate(LISTS["science.elements"], 1)))
    symbol, name = element.split(" ")
    return as_json({"symbol": symbol, "name": name, "atomicNumber": number})


def unit(source: Source) -> str:
    """``{"name":"joule","symbol":"J"}``, of the SI."""
    name, _, symbol = source.pick(LISTS["science.units"]).rpartition(" ")
    return as_json({"name": name, "symbol": symbol})
