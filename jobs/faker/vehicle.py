"""faker.vehicle."""

from __future__ import annotations

import string

from jobs.faker import checks, color
from jobs.faker.source import Source, one_of

_VIN_SIGNS = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
_VIN_YEARS = str.maketrans("UZ0", "VY1")
"""No model year is written with the first three (49 CFR 565.15)."""

bicycle = one_of(
    "Adventure Road Bicycle", "BMX Bicycle", "City Bicycle", "Cruiser Bicycle", "Cyclocross Bicycle",
    "Dual-Sport Bicycle", "Fitness Bicycle", "Folding Bicycle", "Hybrid Bicycle", "Mountain Bicycle",
    "Recumbent Bicycle", "Road Bicycle", "Tandem Bicycle", "Touring Bicycle", "Track/Fixed-Gear Bicycle",
    "Triathlon/Time Trial Bicycle",
)  # fmt: skip
fuel = one_of("Diesel", "Electric", "Gasoline", "Hybrid")
manufacturer = one_of(
    "Aston Martin", "Audi", "BMW", "BYD", "Cadillac", "Chevrolet", "Dodge", "Ferrari", "Fiat", "Ford", "Honda",
    "Hyundai", "Jaguar", "Jeep", "Kia", "Land Rover", "Mazda", "Mercedes Benz", "Mini", "Nissan", "Polestar",
    "Porsche", "Renault", "Rivian", "Subaru", "Tesla", "Toyota", "Volkswagen", "Volvo",
)  # fmt: skip
model = one_of(
    "911", "A4", "Accord", "Altima", "Beetle", "Camaro", "Camry", "Charger", "Civic", "Corvette", "Countach", "CX-9",
    "Element", "Escalade", "Expedition", "Explorer", "F-150", "Fiesta", "Focus", "Fortwo", "Golf", "Impala", "Jetta",
    "Model 3", "Model S", "Mustang", "Prius", "Ranchero", "Roadster", "Sentra", "Silverado", "Taurus", "Wrangler",
    "XC90",
)  # fmt: skip
type_ = one_of(
    "Cargo Van", "Convertible", "Coupe", "Crew Cab Pickup", "Extended Cab Pickup", "Hatchback", "Minivan",
    "Passenger Van", "SUV", "Sedan", "Wagon",
)  # fmt: skip


def color_(source: Source) -> str:
    """A color by its English name."""
    return color.human(source)


def vehicle(source: Source) -> str:
    """Manufacturer and model, drawn apart: ``Mini Mustang`` happens."""
    return f"{manufacturer(source)} {model(source)}"


def vin(source: Source) -> str:
    """Seventeen signs without I, O and Q; the ninth is a valid check sign, the tenth a year's, the last five are digits."""
    text = source.chars(_VIN_SIGNS, 12) + source.digits(5)
    text = text[:9] + text[9].translate(_VIN_YEARS) + text[10:]
    return text[:8] + checks.vin(text) + text[9:]


def vrm(source: Source) -> str:
    """A British registration: two letters, two digits, three letters."""
    return source.chars(string.ascii_uppercase, 2) + source.digits(2) + source.chars(string.ascii_uppercase, 3)
