"""METHODS: the names that a request may use, with their functions. Any other name is refused.

The names are those of all faker-js methods (@faker-js/faker 10) that need no argument. `helpers.*`, `date.between`,
`date.betweens` and `string.fromCharacters` are missing, because they need arguments.
"""

from __future__ import annotations

import re
from importlib import import_module

from jobs.faker.lists import LISTS
from jobs.faker.source import Method, one_of

# A section of lists.txt has the values, or a module's function of the same name in snake case makes them. An underscore
# follows a word of Python's.
_NAMES = {
    "airline": "aircraftType airline airplane airport flightNumber recordLocator seat",
    "animal": "bear bird cat cetacean cow crocodilia dog fish horse insect lion petName rabbit rodent snake type",
    "book": "author format genre publisher series title",
    "color": "cmyk colorByCSSColorSpace cssSupportedFunction cssSupportedSpace hsl human hwb lab lch rgb space",
    "commerce": "department isbn price product productAdjective productDescription productMaterial productName upc",
    "company": (
        "buzzAdjective buzzNoun buzzPhrase buzzVerb catchPhrase catchPhraseAdjective catchPhraseDescriptor "
        "catchPhraseNoun name"
    ),
    "database": "collation column engine mongodbObjectId type",
    "datatype": "boolean",
    "date": "anytime birthdate future month past recent soon timeZone weekday",
    "finance": (
        "accountName accountNumber amount bic bitcoinAddress creditCardCVV creditCardIssuer creditCardNumber currency "
        "currencyCode currencyName currencyNumericCode currencySymbol ethereumAddress iban litecoinAddress pin "
        "routingNumber transactionDescription transactionType"
    ),
    "food": "adjective description dish ethnicCategory fruit ingredient meat spice vegetable",
    "git": "branch commitDate commitEntry commitMessage commitSha",
    "hacker": "abbreviation adjective ingverb noun phrase verb",
    "image": "avatar avatarGitHub dataUri personPortrait url urlLoremFlickr urlPicsumPhotos",
    "internet": (
        "displayName domainName domainSuffix domainWord email emoji exampleEmail httpMethod httpStatusCode ip ipv4 "
        "ipv6 jwt jwtAlgorithm mac password port protocol url userAgent username"
    ),
    "location": (
        "buildingNumber cardinalDirection city continent country countryCode county direction language latitude "
        "longitude nearbyGPSCoordinate ordinalDirection postalAddress secondaryAddress state street streetAddress "
        "timeZone zipCode"
    ),
    "lorem": "lines paragraph paragraphs sentence sentences slug text word words",
    "music": "album artist genre songName",
    "number": "bigInt binary float hex int octal romanNumeral",
    "person": (
        "bio firstName fullName gender jobArea jobDescriptor jobTitle jobType lastName middleName prefix sex sexType "
        "suffix zodiacSign"
    ),
    "phone": "imei number",
    "science": "chemicalElement unit",
    "string": "alpha alphanumeric binary hexadecimal nanoid numeric octal sample symbol ulid uuid",
    "system": (
        "commonFileExt commonFileName commonFileType cron directoryPath fileExt fileName filePath fileType mimeType "
        "networkInterface semver"
    ),
    "vehicle": "bicycle color fuel manufacturer model type vehicle vin vrm",
    "word": "adjective adverb conjunction interjection noun preposition sample verb words",
}


def _method(module: str, name: str) -> Method:
    if f"{module}.{name}" in LISTS:
        return one_of(f"{module}.{name}")
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    taken = words in {"type", "format", "int", "float", "hex"}
    function: Method = getattr(import_module(f"jobs.faker.{module}"), f"{words}_" if taken else words)
    return function


METHODS: dict[str, Method] = {
    f"{module}.{name}": _method(module, name) for module, names in _NAMES.items() for name in names.split()
}
