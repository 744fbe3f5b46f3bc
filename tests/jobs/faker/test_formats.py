"""The format of what the methods give, judged by other code than that which made it."""

import base64
import json
import re
import uuid
import zoneinfo
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

import phonenumbers
import pytest
from faker.providers.person.en_US import Provider

from jobs.faker import date
from jobs.faker.locales import LOCALES
from jobs.faker.records import records
from tests.each import each

NOW = datetime(2028, 2, 29, 23, 59, 58, tzinfo=UTC)  # a leap day, which not every year has
YEAR = timedelta(days=365)
DAY = timedelta(days=1)

PATTERNS = {
    "airline.aircraftType": r"narrowbody|regional|widebody",
    "airline.flightNumber": r"[1-9]\d{0,3}",
    "airline.recordLocator": r"[A-HJ-NP-Z]{6}",
    "airline.seat": r"([1-9]|[12]\d|3[0-5])[A-F]",
    "color.rgb": r"#[0-9a-f]{6}",
    "commerce.isbn": r"978-[01]-\d{2,7}-\d{1,6}-\d",
    "commerce.price": r"[1-9]\d{0,2}\.\d\d",
    "commerce.upc": r"\d{12}",
    "company.name": r"[A-Z]\w+(-[A-Z]\w+| (Inc|and Sons|LLC|Group|PLC|Ltd)|, [A-Z]\w+ and [A-Z]\w+)",
    "database.mongodbObjectId": r"[0-9a-f]{24}",
    "datatype.boolean": r"true|false",
    "date.month": r"(January|February|March|April|May|June|July|August|September|October|November|December)",
    "date.weekday": r"(Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day",
    "finance.accountNumber": r"\d{8}",
    "finance.amount": r"(0|[1-9]\d{0,3})\.\d\d",
    "finance.bic": r"[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?",
    "finance.bitcoinAddress": r"[13][1-9A-HJ-NP-Za-km-z]{25,33}|bc1q[02-9ac-hj-np-z]{38}|bc1p[02-9ac-hj-np-z]{58}",
    "finance.creditCardCVV": r"\d{3}",
    "finance.creditCardNumber": r"\d{4}-\d{6}-\d{4,5}|\d{4}-\d{4}-\d{4}-\d{4}|4\d{12}",
    "finance.currencyCode": r"[A-Z]{3}",
    "finance.currencyNumericCode": r"\d{3}",
    "finance.ethereumAddress": r"0x[0-9a-f]{40}",
    "finance.iban": r"[A-Z]{2}\d\d[A-Z0-9]{11,24}",
    "finance.litecoinAddress": r"[LM3][1-9A-HJ-NP-Za-km-z]{25,32}",
    "finance.pin": r"\d{4}",
    "finance.routingNumber": r"(0[1-9]|1[0-2])\d{7}",
    "git.branch": r"[a-z]+(-[a-z]+)+",
    "git.commitDate": r"[A-Z][a-z]{2} [A-Z][a-z]{2} [1-9]\d? \d\d:\d\d:\d\d 2028 [+-]\d{4}",
    "git.commitSha": r"[0-9a-f]{40}",
    "internet.domainSuffix": r"[a-z]{2,4}",
    "internet.domainWord": r"[a-z]+-[a-z]+",
    "internet.httpMethod": r"GET|POST|PUT|DELETE|PATCH",
    "internet.httpStatusCode": r"[1-5]\d\d",
    "internet.ipv6": r"2001:0db8(:[0-9a-f]{4}){6}",
    "internet.mac": r"[0-9a-f]{2}(:[0-9a-f]{2}){5}",
    "internet.password": r"\w{15}",
    "internet.port": r"\d{1,5}",
    "internet.protocol": r"https?",
    "internet.userAgent": r"Mozilla/5\.0 \([^)]+\) (AppleWebKit|Gecko)/.+",
    "internet.username": r"[a-z]+([._][a-z]+)?\d{0,2}",
    "location.buildingNumber": r"[1-9]\d{0,4}",
    "location.countryCode": r"[A-Z]{2}",
    "location.postalAddress": r"[1-9]\d{0,4} .+\n[A-Z].+, [A-Z]{2} \d{5}",
    "location.secondaryAddress": r"(Apt\.|Suite) \d{3}",
    "location.streetAddress": r"[1-9]\d{0,4} [A-Z].+",
    "location.zipCode": r"\d{5}",
    "lorem.sentence": r"[A-Z][a-z]*( [a-z]+){2,9}\.",
    "lorem.slug": r"[a-z]+-[a-z]+-[a-z]+",
    "lorem.word": r"[a-z]+",
    "lorem.words": r"[a-z]+ [a-z]+ [a-z]+",
    "number.bigInt": r"\d{1,15}",
    "number.binary": r"[01]",
    "number.float": r"0|0\.\d+",
    "number.hex": r"[0-9a-f]",
    "number.int": r"\d{1,16}",
    "number.octal": r"[0-7]",
    "number.romanNumeral": r"M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})",
    "person.jobTitle": r"[A-Z][a-z]+ [A-Z][a-z]+ [A-Z][a-z]+",
    "person.sex": r"female|male",
    "phone.imei": r"\d{2}-\d{6}-\d{6}-\d",
    "phone.number": r"((1-)?[2-9]\d\d-555-01\d\d|[2-9]\d\d\.555\.01\d\d|\([2-9]\d\d\) 555-01\d\d)( x\d{3,5})?",
    "string.alpha": r"[A-Za-z]",
    "string.alphanumeric": r"[A-Za-z0-9]",
    "string.binary": r"0b[01]",
    "string.hexadecimal": r"0x[0-9a-fA-F]",
    "string.nanoid": r"[A-Za-z0-9_-]{21}",
    "string.numeric": r"\d",
    "string.octal": r"0o[0-7]",
    "string.sample": r"[!-}]{10}",
    "string.symbol": r"[!-/:-@\[-`{-~]",
    "string.ulid": r"[0-7][0-9A-HJKMNP-TV-Z]{25}",
    "system.cron": r"(\*|\d{1,2}) (\*|\d{1,2}) (\*|\?|\d{1,2}) (\*|\d{1,2}) (\*|\?|[0-6]|[A-Z]{3})",
    "system.fileName": r"[a-z_]+\.[a-z0-9]+",
    "system.filePath": r"(/[A-Za-z]+)+/[a-z_]+\.[a-z0-9]+",
    "system.mimeType": r"(application|audio|image|message|text|video)/[a-z0-9.+-]+",
    "system.networkInterface": r"(P\d)?(en|wl|ww)(o\d|x[0-9a-f]{12}|(p\d)?s\d(f\d)?(d\d)?)",
    "system.semver": r"\d{1,2}\.\d{1,2}\.\d{1,2}",
    "vehicle.vin": r"[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-TV-Y1-9][A-HJ-NPR-Z0-9]{2}\d{5}",
    "vehicle.vrm": r"[A-Z]{2}\d{2}[A-Z]{3}",
}


def _values(name: str, count: int = 400) -> list[str]:
    return [str(record["key"]) for record in records({"key": name}, count, seed=99, now=NOW)]


@each("name", PATTERNS)
def test_pattern(name: str) -> None:
    """Every value has the written form of its method."""
    pattern = re.compile(PATTERNS[name], re.ASCII)
    for value in _values(name):
        assert pattern.fullmatch(value), value


def _luhn(text: str) -> bool:
    digits = [int(sign) for sign in text if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _mod97(text: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


def _isbn(text: str) -> bool:
    digits = [int(sign) for sign in text.replace("-", "")]
    return len(digits) == 13 and (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0


def _upc(text: str) -> bool:
    digits = [int(sign) for sign in text]
    return (3 * sum(digits[::2]) + sum(digits[1::2])) % 10 == 0


def _aba(text: str) -> bool:
    digits = [int(sign) for sign in text]
    return (3 * sum(digits[0::3]) + 7 * sum(digits[1::3]) + sum(digits[2::3])) % 10 == 0


def _vin(text: str) -> bool:
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", "123456781234579234567890123456789", strict=True))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    rest = sum(int(values[sign]) * weight for sign, weight in zip(text, weights, strict=True)) % 11
    return text[8] == ("X" if rest == 10 else str(rest))


@each(
    ("name", "valid"),
    [
        ("finance.creditCardNumber", _luhn),
        ("phone.imei", _luhn),
        ("finance.iban", _mod97),
        ("commerce.isbn", _isbn),
        ("commerce.upc", _upc),
        ("finance.routingNumber", _aba),
        ("vehicle.vin", _vin),
    ],
)
def test_check_digits(name: str, valid: Callable[[str], bool]) -> None:
    """Every number that has a check digit has the right one."""
    assert all(valid(value) for value in _values(name))


# The ranges of registrants in the two English-language groups, as the International ISBN Agency publishes them: the last
# seven digits of each, and how many of them are the registrant's. Group 1 from 4000 on.
_ISBN_RANGES = {
    "0": "1999999 2 2279999 3 2289999 4 3689999 3 3699999 4 6389999 3 6397999 4 6399999 7 6449999 3 6459999 7 6479999 3 "
    "6489999 7 6549999 3 6559999 4 6999999 3 8499999 4 8999999 5 9003709 6 9003719 7 9499999 6 9999999 7",
    "1": "5499999 4 6499999 5 6799999 4 6859999 5 7139999 4 7169999 3 7319999 4 7399999 7 8697999 5 9159999 6 9165059 7 "
    "9168699 6 9169079 7 9191639 6 9195649 7 9195999 6 9196549 7 9729999 6 9877999 4",
}


def test_isbn_hyphens() -> None:
    """They stand where the registrant's range says."""
    for value in _values("commerce.isbn", 1000):
        _, group, registrant, publication, _ = value.split("-")
        ranges = _ISBN_RANGES[group].split()
        digits = f"{registrant}{publication}"[:7]
        last = next(last for last in ranges[::2] if digits <= last)
        assert len(registrant) == int(ranges[ranges.index(last) + 1]), value


def test_countries_exist() -> None:
    """No country that has dissolved or goes by another name, nor one that says more than its name."""
    names = set(_values("location.country", 2000))
    assert {"Curaçao", "Eswatini", "Libya", "South Korea", "Slovakia", "Antarctica", "Bouvet Island"} <= names
    gone = {"Netherlands Antilles", "Swaziland", "Libyan Arab Jamahiriya", "Korea", "Czechoslovakia", "Yugoslavia"}
    assert not gone & names
    assert not [name for name in names if "(the " in name or name.endswith(("(Slovak Republic)", "(Bouvetoya)"))]


def test_iban_lengths() -> None:
    """An IBAN is as long as its country's is."""
    lengths = {"AT": 20, "BE": 16, "BG": 22, "CH": 21, "CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18}
    lengths |= {"FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IT": 27, "LT": 20, "LU": 20, "NL": 18}
    lengths |= {"NO": 15, "PL": 28, "PT": 25, "RO": 24, "SE": 24, "SK": 24}
    assert {value[:2]: len(value) for value in _values("finance.iban", 1000)} == lengths


def test_prefixes_suit_first_names() -> None:
    """Nobody is called Mr. Jennifer or Mrs. Robert; Mr. and Mrs. Taylor may be."""
    titled = [value.split()[:2] for value in _values("person.fullName", 3000)]
    by_title = {
        title: {first for this, first in titled if this == title} for title in ("Mr.", "Mrs.", "Ms.", "Miss", "Dr.")
    }

    assert all(by_title.values())
    assert not by_title["Mr."] & {"Jennifer", "Mary", "Linda", "Elizabeth", "Jessica", "Amanda", "Michelle", "Amy"}
    women = by_title["Mrs."] | by_title["Ms."] | by_title["Miss"]
    assert not women & {"Robert", "John", "James", "Michael", "David", "William", "Thomas", "Steven", "Kevin", "Brian"}
    assert not by_title["Mr."] & (set(Provider.first_names_female) - set(Provider.first_names_male))
    assert not women & (set(Provider.first_names_male) - set(Provider.first_names_female))


def test_user_agents_agree_with_themselves() -> None:
    """An iPhone's Safari is as old as its system; Firefox writes the version of macOS with a dot."""
    agents = _values("internet.userAgent", 1000)
    phones = [
        re.search(r"iPhone OS (\d+)_(\d+) .* Version/(\d+)\.(\d+) ", agent) for agent in agents if "iPhone" in agent
    ]
    macs = [agent for agent in agents if "Firefox" in agent and "Macintosh" in agent]

    assert phones
    assert all(found and found[1] == found[3] and found[2] == found[4] for found in phones)
    assert macs
    assert all("(Macintosh; Intel Mac OS X 10.15; rv:" in agent for agent in macs)


def test_words_have_their_spaces() -> None:
    """Jargon is written in words."""
    words = set(_values("company.catchPhraseDescriptor", 2000))
    assert {"24 hour", "6th generation", "leading edge"} <= words
    assert not [word for word in words if word.endswith("generation") and " " not in word]


def test_uuid() -> None:
    """string.uuid is a version 4 UUID of RFC 9562."""
    for value in _values("string.uuid"):
        parsed = uuid.UUID(value)
        assert str(parsed) == value
        assert parsed.version == 4
        assert parsed.variant == uuid.RFC_4122


def test_ulid_carries_the_reference_date() -> None:
    """The first ten signs of a ULID decode to the reference date in milliseconds."""
    moment = 0
    for sign in _values("string.ulid", 1)[0][:10]:
        moment = moment * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(sign)
    assert moment == int(NOW.timestamp() * 1000)


@each(
    ("name", "earliest", "latest"),
    [
        ("date.anytime", NOW - YEAR, NOW + YEAR),
        ("date.past", NOW - YEAR, NOW - timedelta(milliseconds=1)),
        ("date.future", NOW + timedelta(milliseconds=1), NOW + YEAR),
        ("date.recent", NOW - DAY, NOW - timedelta(milliseconds=1)),
        ("date.soon", NOW + timedelta(milliseconds=1), NOW + DAY),
        ("date.birthdate", datetime(1947, 3, 1, tzinfo=UTC), datetime(2010, 2, 28, 23, 59, 58, tzinfo=UTC)),
    ],
)
def test_dates(name: str, earliest: datetime, latest: datetime) -> None:
    """A date is ISO-8601 in UTC with milliseconds, on its side of the reference date, and reaches far into its range."""
    values = _values(name)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value) for value in values)
    moments = [datetime.fromisoformat(value) for value in values]
    assert earliest <= min(moments)
    assert max(moments) <= latest
    assert max(moments) - min(moments) > (latest - earliest) * 0.9


def test_birthdate_ages_are_18_to_80() -> None:
    """Whoever was born then is 18 to 80 years old on the reference date, which may be a leap day."""
    for value in _values("date.birthdate", 2000):
        born = datetime.fromisoformat(value)
        age = NOW.year - born.year - ((NOW.month, NOW.day) < (born.month, born.day))
        assert 18 <= age <= 80


def test_years_before_a_leap_day() -> None:
    """Whole years before 29 February end on the 28th where the year has no such day."""
    assert date._years_before(NOW, 18).day == 28
    assert date._years_before(NOW, 20).day == 29


@pytest.mark.parametrize("name", ["location.timeZone", "date.timeZone"])
def test_time_zones_exist(name: str) -> None:
    """Every time zone is in the IANA database."""
    assert set(_values(name)) <= zoneinfo.available_timezones()


@pytest.mark.parametrize("name", ["internet.email", "internet.exampleEmail"])
def test_mail_goes_to_example_domains_only(name: str) -> None:
    """No address can belong to anyone."""
    for value in _values(name, 2000):
        assert re.fullmatch(r"[A-Za-z0-9._]+@example\.(com|net|org)", value), value


@each(
    "name",
    [
        *("internet.url", "internet.domainName", "image.avatar", "image.avatarGitHub", "image.personPortrait"),
        *("image.url", "image.urlLoremFlickr", "image.urlPicsumPhotos"),
    ],
)
def test_urls_lead_to_example_domains_only(name: str) -> None:
    """No address can be fetched from anyone."""
    for value in _values(name):
        parts = urlsplit(value if "://" in value else f"https://{value}")
        assert parts.scheme in ("http", "https")
        assert re.fullmatch(r"[a-z0-9-]{1,63}\.example\.(com|net|org)", parts.netloc), value


def test_commit_entries_name_example_addresses() -> None:
    """A git log entry has its lines ended by CR LF and an author at an example domain."""
    for value in _values("git.commitEntry"):
        lines = value.split("\r\n")
        assert lines[0].startswith("commit ")
        assert re.fullmatch(r"Author: .+ <[\w.]+@example\.(com|net|org)>", lines[-5])
        assert lines[-4].startswith("Date: ")
        assert "\n" not in value.replace("\r\n", "")


@pytest.mark.parametrize("name", ["internet.ip", "internet.ipv4", "internet.ipv6"])
def test_addresses_route_nowhere(name: str) -> None:
    """Every address is of a network set aside for documentation or benchmarks."""
    nets = ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15", "2001:db8::/32")
    networks = [ip_network(net) for net in nets]
    for value in _values(name):
        assert any(ip_address(value) in network for network in networks), value


def test_git_dates_are_within_the_day_before() -> None:
    """A commit's date names the right weekday and lies within the day before the reference date."""
    for value in _values("git.commitDate"):
        moment = datetime.strptime(value, "%a %b %d %H:%M:%S %Y %z")
        assert moment.strftime("%a") == value[:3]
        assert NOW - DAY < moment < NOW


def test_jwt() -> None:
    """A JWT's header and claims are base64url JSON, and its times surround the reference date."""
    for value in _values("internet.jwt", 50):
        header, claims, signature = value.split(".")
        assert re.fullmatch(r"[A-Za-z0-9_-]{64}", signature)
        decoded, body = (
            json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in (header, claims)
        )
        assert decoded["typ"] == "JWT"
        assert set(body) == {"iat", "exp", "nbf", "iss", "sub", "aud", "jti"}
        assert body["nbf"] <= body["iat"] <= NOW.timestamp() <= body["exp"]


@pytest.mark.parametrize(("name", "bound"), [("location.latitude", 90), ("location.longitude", 180)])
def test_coordinates(name: str, bound: int) -> None:
    """A coordinate is a decimal with at most four places, within its bounds, and never minus zero."""
    for value in _values(name):
        assert re.fullmatch(r"-?\d{1,3}(\.\d{1,4})?", value)
        assert value not in ("-0", "-0.0")
        assert abs(float(value)) <= bound


@each(
    ("name", "bounds"),
    [
        ("color.cmyk", [(0, 1)] * 4),
        ("color.hsl", [(0, 360), (0, 1), (0, 1)]),
        ("color.hwb", [(0, 360), (0, 1), (0, 1)]),
        ("color.lab", [(0, 1), (-100, 100), (-100, 100)]),
        ("color.lch", [(0, 1), (0, 230), (0, 360)]),
        ("color.colorByCSSColorSpace", [(0, 1)] * 3),
        ("location.nearbyGPSCoordinate", [(-90, 90), (-180, 180)]),
    ],
)
def test_arrays(name: str, bounds: list[tuple[float, float]]) -> None:
    """An array is compact JSON of numbers within bounds, written as JavaScript writes them."""
    for value in _values(name):
        numbers = json.loads(value)
        assert len(numbers) == len(bounds)
        assert all(low <= number <= high for number, (low, high) in zip(numbers, bounds, strict=True))
        assert not re.search(r" |\.0[,\]]|-0[,\]]|e", value)


@each(
    ("name", "keys"),
    [
        ("airline.airline", ["name", "iataCode"]),
        ("airline.airplane", ["name", "iataTypeCode"]),
        ("airline.airport", ["name", "iataCode"]),
        ("finance.currency", ["name", "code", "symbol", "numericCode"]),
        ("location.language", ["name", "alpha2", "alpha3"]),
        ("science.chemicalElement", ["symbol", "name", "atomicNumber"]),
        ("science.unit", ["name", "symbol"]),
    ],
)
def test_objects(name: str, keys: list[str]) -> None:
    """An object is compact JSON with faker-js's keys in faker-js's order."""
    for value in _values(name):
        assert list(json.loads(value)) == keys
        assert json.dumps(json.loads(value), separators=(",", ":"), ensure_ascii=False) == value


def test_data_uri() -> None:
    """A data URI holds a complete SVG in either encoding."""
    encodings = set()
    for value in _values("image.dataUri"):
        head, _, body = value.partition(",")
        encodings.add(head)
        svg = base64.b64decode(body).decode() if head.endswith("base64") else unquote(body)
        assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
        assert svg.endswith("</svg>")
    assert encodings == {"data:image/svg+xml;base64", "data:image/svg+xml;charset=UTF-8"}


def test_cron_fields_are_in_range() -> None:
    """A cron line has no question mark in both of day and weekday, and no number out of range."""
    for value in _values("system.cron", 1000):
        fields = value.split()
        assert (fields[2], fields[4]) != ("?", "?")
        for field, highest in zip(fields, (59, 23, 31, 12, 6), strict=True):
            assert not field.isdigit() or int(field) <= highest


@each(
    ("locale", "pattern"),
    [
        # Ofcom, Telephone numbers for use in TV and radio drama programmes.
        ("en_GB", r"(0113|0114|0115|0116|0117|0118|0121|0131|0141|0151|0161) 496 0\d{3}|020 7946 0\d{3}|0191 498 0\d{3}|"
         r"028 9649 6\d{3}|029 2018 0\d{3}|01632 960\d{3}|07700 900\d{3}|0808 157 0\d{3}|0909 879 0\d{3}|03069 990\d{3}"),
        # Bundesnetzagentur, Rufnummern für Medienproduktionen.
        ("de_DE", r"(030 23125|040 66969|069 90009|0221 4710|089 99998) \d{3}|0171 39200 \d\d"),
        # Arcep, decision 2018-0881, 2.5.12.
        ("fr_FR", r"(01 99 00|02 61 91|03 53 01|04 65 71|05 36 49|06 39 98) \d\d \d\d"),
        ("en_US", PATTERNS["phone.number"]),
    ],
)  # fmt: skip
def test_nobody_answers(locale: str, pattern: str) -> None:
    """Every telephone number is of a range that is kept for fiction."""
    made = records({"key": "phone.number"}, 400, seed=99, now=NOW, locale=locale)
    assert all(re.fullmatch(pattern, str(record["key"]), re.ASCII) for record in made)


@each("locale", ["es_ES", "it_IT", "ja_JP", "pt_BR", "ru_RU", "zh_CN"])
def test_numbers_of_countries_without_a_range_for_fiction_are_unused(locale: str) -> None:
    """They have the length and the notation of the country's, and libphonenumber knows of none that begins so."""
    for record in records({"key": "phone.number"}, 200, seed=99, now=NOW, locale=locale):
        number = phonenumbers.parse(str(record["key"]), locale[-2:])
        assert number.country_code == phonenumbers.country_code_for_region(locale[-2:])
        assert phonenumbers.is_possible_number(number)
        assert not phonenumbers.is_valid_number(number)


@each("locale", LOCALES)
def test_mail_addresses_are_ascii_in_every_locale(locale: str) -> None:
    """And at example domains."""
    for record in records({"key": "internet.email"}, 400, seed=99, now=NOW, locale=locale):
        assert re.fullmatch(r"[a-z0-9._-]+@example\.(com|net|org)", str(record["key"]), re.ASCII), record


def test_closed_sets_are_complete() -> None:
    """IUPAC's elements, ISO 3166-1's countries, ISO 4217's currencies in use."""
    elements = {json.loads(value)["atomicNumber"] for value in _values("science.chemicalElement", 3000)}
    assert elements == set(range(1, 119))
    assert len(set(_values("location.countryCode", 6000))) == 249
    assert len(set(_values("finance.currencyCode", 6000))) == 154


@each(
    ("locale", "name", "values"),
    [
        ("de_DE", "date.month", {"Januar", "März"}),
        ("fr_FR", "location.country", {"Allemagne", "Japon"}),
        ("ja_JP", "date.weekday", {"月曜日"}),
        ("pt_BR", "location.state", {"Bahia", "São Paulo"}),
        ("es_ES", "finance.currencyName", {"euro", "lira turca"}),
        ("en_GB", "location.county", {"Hampshire"}),
    ],
)
def test_values_in_the_language_of_the_locale(locale: str, name: str, values: set[str]) -> None:
    """Some that must be among many."""
    made = records({"key": name}, 3000, seed=99, now=NOW, locale=locale)
    assert values <= {str(record["key"]) for record in made}
