"""faker.vehicle."""

from __future__ import annotations

import string

from jobs.faker import checks
from jobs.faker.color import human
from jobs.faker.source import Source, gives, one_of

_VIN_SIGNS = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
_VIN_YEARS = str.maketrans("UZ0", "VY1")
"""No model year is written with the first three (49 CFR 565.15)."""

color = human
bicycle = one_of("""
    Bicycle: Adventure Road, BMX, City, Cruiser, Cyclocross, Dual-Sport, Fitness, Folding, Hybrid, Mountain, Recumbent, Road
    Bicycle: Tandem, Touring, Track/Fixed-Gear, Triathlon/Time Trial
""")
fuel = one_of("Diesel, Electric, Gasoline, Hybrid")
manufacturer = one_of("""
    Aston Martin, Audi, BMW, BYD, Cadillac, Chevrolet, Dodge, Ferrari, Fiat, Ford, Honda, Hyundai, Jaguar, Jeep, Kia
    Land Rover, Mazda, Mercedes Benz, Mini, Nissan, Polestar, Porsche, Renault, Rivian, Subaru, Tesla, Toyota, Volkswagen
    Volvo
""")
model = one_of("""
    911, A4, Accord, Altima, Beetle, Camaro, Camry, Charger, Civic, Corvette, Countach, CX-9, Element, Escalade, Expedition
    Explorer, F-150, Fiesta, Focus, Fortwo, Golf, Impala, Jetta, Model 3, Model S, Mustang, Prius, Ranchero, Roadster, Sentra
    Silverado, Taurus, Wrangler, XC90
""")
type_ = one_of("""
    Cargo Van, Convertible, Coupe, Crew Cab Pickup, Extended Cab Pickup, Hatchback, Minivan, Passenger Van, SUV, Sedan, Wagon
""")
vehicle = gives(
    "Manufacturer and model, drawn apart: ``Mini Mustang`` happens.",
    lambda source: f"{manufacturer(source)} {model(source)}",
)


def vin(source: Source) -> str:
    """Seventeen signs without I, O and Q; the ninth is a valid check sign, the tenth a year's, the last five are digits."""
    text = source.chars(_VIN_SIGNS, 12) + source.digits(5)
    text = text[:9] + text[9].translate(_VIN_YEARS) + text[10:]
    return text[:8] + checks.vin(text) + text[9:]


vrm = gives(
    "A British registration: two letters, two digits, three letters.",
    lambda source: source.chars(string.ascii_uppercase, 2) + source.digits(2) + source.chars(string.ascii_uppercase, 3),
)
