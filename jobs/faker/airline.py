"""faker.airline: air travel. The thing with a name and a code is a JSON object."""

from __future__ import annotations

import string

from jobs.faker.source import Source, one_of
from jobs.faker.text import as_json

_AIRLINES = (
    ("Aegean Airlines", "A3"), ("Aer Lingus", "EI"), ("Aeromexico", "AM"), ("Air Canada", "AC"), ("Air China", "CA"),
    ("Air France", "AF"), ("Air India", "AI"), ("Air New Zealand", "NZ"), ("Alaska Airlines", "AS"),
    ("All Nippon Airways", "NH"), ("American Airlines", "AA"), ("Austrian Airlines", "OS"), ("Avianca", "AV"),
    ("British Airways", "BA"), ("Cathay Pacific", "CX"), ("Delta Air Lines", "DL"), ("Emirates", "EK"),
    ("Ethiopian Airlines", "ET"), ("Finnair", "AY"), ("Iberia", "IB"), ("Icelandair", "FI"), ("Japan Airlines", "JL"),
    ("JetBlue Airways", "B6"), ("KLM", "KL"), ("Kenya Airways", "KQ"), ("Korean Air", "KE"), ("LATAM Airlines", "LA"),
    ("LOT Polish Airlines", "LO"), ("Lufthansa", "LH"), ("Qantas", "QF"), ("Qatar Airways", "QR"), ("Ryanair", "FR"),
    ("Singapore Airlines", "SQ"), ("Southwest Airlines", "WN"), ("Thai Airways", "TG"), ("Turkish Airlines", "TK"),
    ("United Airlines", "UA"),
)  # fmt: skip
_AIRPLANES = (
    ("Airbus A220-100", "221"), ("Airbus A220-300", "223"), ("Airbus A318", "318"), ("Airbus A319", "319"),
    ("Airbus A320", "320"), ("Airbus A321", "321"), ("Airbus A330-200", "332"), ("Airbus A330-300", "333"),
    ("Airbus A340-300", "343"), ("Airbus A350-900", "359"), ("Airbus A350-1000", "351"), ("Airbus A380-800", "388"),
    ("Boeing 717", "717"), ("Boeing 737-700", "73G"), ("Boeing 737-800", "738"), ("Boeing 737-900", "739"),
    ("Boeing 747-400", "744"), ("Boeing 747-8", "748"), ("Boeing 757-200", "752"), ("Boeing 767-300", "763"),
    ("Boeing 777-200", "772"), ("Boeing 777-300ER", "77W"), ("Boeing 787-8", "788"), ("Boeing 787-9", "789"),
    ("Boeing 787-10", "781"), ("Embraer 170", "E70"), ("Embraer 175", "E75"), ("Embraer 190", "E90"),
    ("Embraer 195", "E95"), ("Saab 340", "SF3"),
)  # fmt: skip
_AIRPORTS = (
    ("Amsterdam Airport Schiphol", "AMS"), ("Athens International Airport", "ATH"), ("Auckland Airport", "AKL"),
    ("Cairo International Airport", "CAI"), ("Cape Town International Airport", "CPT"),
    ("Charlotte Douglas International Airport", "CLT"), ("Copenhagen Airport", "CPH"),
    ("Dallas Fort Worth International Airport", "DFW"), ("Denver International Airport", "DEN"),
    ("Dubai International Airport", "DXB"), ("Dublin Airport", "DUB"), ("Frankfurt Airport", "FRA"),
    ("Hamad International Airport", "DOH"), ("Haneda Airport", "HND"),
    ("Hartsfield-Jackson Atlanta International Airport", "ATL"), ("Helsinki Airport", "HEL"),
    ("Hong Kong International Airport", "HKG"), ("Incheon International Airport", "ICN"), ("Istanbul Airport", "IST"),
    ("John F. Kennedy International Airport", "JFK"), ("Jomo Kenyatta International Airport", "NBO"),
    ("London Gatwick Airport", "LGW"), ("London Heathrow Airport", "LHR"),
    ("Los Angeles International Airport", "LAX"), ("Melbourne Airport", "MEL"),
    ("Miami International Airport", "MIA"), ("Munich Airport", "MUC"), ("O'Hare International Airport", "ORD"),
    ("Oslo Airport Gardermoen", "OSL"), ("Paris Charles de Gaulle Airport", "CDG"),
    ("San Francisco International Airport", "SFO"), ("Seattle-Tacoma International Airport", "SEA"),
    ("Singapore Changi Airport", "SIN"), ("Stockholm Arlanda Airport", "ARN"), ("Suvarnabhumi Airport", "BKK"),
    ("Sydney Airport", "SYD"), ("Toronto Pearson International Airport", "YYZ"),
    ("Vancouver International Airport", "YVR"), ("Vienna International Airport", "VIE"), ("Zurich Airport", "ZRH"),
)  # fmt: skip

aircraft_type = one_of("narrowbody", "regional", "widebody")


def airline(source: Source) -> str:
    """``{"name":"Air China","iataCode":"CA"}``."""
    name, code = source.pick(_AIRLINES)
    return as_json({"name": name, "iataCode": code})


def airplane(source: Source) -> str:
    """``{"name":"Airbus A320","iataTypeCode":"320"}``."""
    name, code = source.pick(_AIRPLANES)
    return as_json({"name": name, "iataTypeCode": code})


def airport(source: Source) -> str:
    """``{"name":"Dublin Airport","iataCode":"DUB"}``."""
    name, code = source.pick(_AIRPORTS)
    return as_json({"name": name, "iataCode": code})


def flight_number(source: Source) -> str:
    """One to four digits, the first not 0; every length as likely as the next."""
    length = source.integer(1, 4)
    return str(source.integer(10 ** (length - 1), 10**length - 1))


def record_locator(source: Source) -> str:
    """Six capital letters; I and O are left out, as they are read as digits."""
    return source.chars([letter for letter in string.ascii_uppercase if letter not in "IO"], 6)


def seat(source: Source) -> str:
    """Of a narrowbody: row 1 to 35, A to F."""
    return f"{source.integer(1, 35)}{source.chars('ABCDEF', 1)}"
