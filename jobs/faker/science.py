"""faker.science: JSON objects."""

from __future__ import annotations

from jobs.faker.source import Source
from jobs.faker.text import as_json

_ELEMENTS = (
    ("H", "Hydrogen"), ("He", "Helium"), ("Li", "Lithium"), ("Be", "Beryllium"), ("B", "Boron"), ("C", "Carbon"),
    ("N", "Nitrogen"), ("O", "Oxygen"), ("F", "Fluorine"), ("Ne", "Neon"), ("Na", "Sodium"), ("Mg", "Magnesium"),
    ("Al", "Aluminium"), ("Si", "Silicon"), ("P", "Phosphorus"), ("S", "Sulfur"), ("Cl", "Chlorine"), ("Ar", "Argon"),
    ("K", "Potassium"), ("Ca", "Calcium"), ("Sc", "Scandium"), ("Ti", "Titanium"), ("V", "Vanadium"),
    ("Cr", "Chromium"), ("Mn", "Manganese"), ("Fe", "Iron"), ("Co", "Cobalt"), ("Ni", "Nickel"), ("Cu", "Copper"),
    ("Zn", "Zinc"), ("Ga", "Gallium"), ("Ge", "Germanium"), ("As", "Arsenic"), ("Se", "Selenium"), ("Br", "Bromine"),
    ("Kr", "Krypton"), ("Rb", "Rubidium"), ("Sr", "Strontium"), ("Y", "Yttrium"), ("Zr", "Zirconium"),
    ("Nb", "Niobium"), ("Mo", "Molybdenum"), ("Tc", "Technetium"), ("Ru", "Ruthenium"), ("Rh", "Rhodium"),
    ("Pd", "Palladium"), ("Ag", "Silver"), ("Cd", "Cadmium"), ("In", "Indium"), ("Sn", "Tin"), ("Sb", "Antimony"),
    ("Te", "Tellurium"), ("I", "Iodine"), ("Xe", "Xenon"),
)  # fmt: skip
_UNITS = (
    ("meter", "m"), ("second", "s"), ("mole", "mol"), ("ampere", "A"), ("kelvin", "K"), ("candela", "cd"),
    ("kilogram", "kg"), ("radian", "rad"), ("hertz", "Hz"), ("newton", "N"), ("pascal", "Pa"), ("joule", "J"),
    ("watt", "W"), ("coulomb", "C"), ("volt", "V"), ("ohm", "Ω"), ("tesla", "T"), ("degree Celsius", "°C"),
    ("lumen", "lm"), ("becquerel", "Bq"), ("gray", "Gy"), ("sievert", "Sv"), ("steradian", "sr"), ("farad", "F"),
    ("siemens", "S"), ("weber", "Wb"), ("henry", "H"), ("lux", "lx"), ("katal", "kat"),
)  # fmt: skip


def chemical_element(source: Source) -> str:
    """``{"symbol":"Al","name":"Aluminium","atomicNumber":13}``, hydrogen to xenon."""
    index = source.integer(0, len(_ELEMENTS) - 1)
    symbol, name = _ELEMENTS[index]
    return as_json({"symbol": symbol, "name": name, "atomicNumber": index + 1})


def unit(source: Source) -> str:
    """``{"name":"joule","symbol":"J"}``, of the SI."""
    name, symbol = source.pick(_UNITS)
    return as_json({"name": name, "symbol": symbol})
