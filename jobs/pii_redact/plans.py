"""Numbering plans: which digits are a phone number, and how each country writes its numbers.

The valid numbers come from the tables of phonenumbers (libphonenumber), compiled for RE2. Its own matcher tries one region at
a time with the standard library's regular expressions, which takes about 0.1 ms for a number and a region. The groupings are
listed here, because people group more freely than that library formats.
"""

from functools import cache, lru_cache
from typing import NamedTuple

from jobs.engines.text.linear import Compiled, PatternSet, compiled

NANP_CODE = 1
_MANY_LENGTHS = 5
MAX_DIGITS = 15
"""ITU-T E.164, without an international prefix."""

_MOBILE = ("mobile",)
_FIXED = ("fixed_line",)
_ALL_TYPES = (
    *("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "personal_number", "voip", "pager", "uan"),
    "voicemail",
)


class Plan(NamedTuple):
    """How a country writes numbers at home.

    Attributes:
        region: ISO 3166.
        trunk: the digits before the national number.
        shapes: a pattern for the lengths of the groups, trunk digits included: "3-4-4" is 020 7946 0958.
        types: phonenumbers' types of number for which the plan holds.
    """

    region: str
    trunk: str
    shapes: str
    types: tuple[str, ...] = _ALL_TYPES


_FREE = "[3-6]-[4-8]|[3-5]-[245](-[2-4]){1,4}|[45]-3(-[2-4]){1,4}|3-3-[24](-[2-4]){0,3}"
"""An area code, then nearly any grouping: Germany and Austria."""

_TEN = "4-3-3|3-3-4|4-6|3-7"
"""How most countries group nine digits and the trunk digit."""

PLANS: tuple[Plan, ...] = (
    Plan("GB", "0", "3-4-4|4-3-4|5-6|5-3-3|4-3-3|4-7|3-8|5-5|4-6|3-3-3-2|5-2-2-2"),
    Plan("IE", "0", "2-3-4|3-3-4|2-7|3-7"),
    Plan("DE", "0", _FREE),
    Plan("AT", "0", f"2-[3-9]|2-[2-4](-[2-4]){{1,3}}|{_FREE}"),
    Plan("CH", "0", "3-3-2-2|4-3-3|3-7|4-6|3-3-4"),
    Plan("FR", "0", "2-2-2-2-2|4-3-3|4-2-2-2|4-6"),
    Plan("BE", "0", "2-3-2-2|3-2-2-2|4-2-2-2|4-6|2-7|3-6|4-3-3"),
    Plan("NL", "0", "2-8|3-7|4-6|3-3-4|3-3-2-2|2-2-2-2-2|4-3-3|2-4-4|4-2-2-2"),
    Plan("IT", "", "2-[5-8]|3-[5-7]|4-[4-6]|2-3-[34]|2-4-4|3-3-4|3-4-[34]|4-3-3|3-3-2-2", _FIXED),
    Plan("IT", "", "3-7|3-3-4|3-3-2-2", _MOBILE),
    Plan("ES", "", "3-2-2-2|2-3-2-2|3-6|2-7"),
    Plan("SE", "0", "2-[5-8]|2-[23]-[23](-[23])?|2-3-3-2|3-[5-7]|3-[23]-2(-[23])?|3-3-2-2|4-2-2-2|4-[4-6]|4-[23]-[23]"),
    Plan("FI", "0", "2-[5-8]|3-[5-7]|3-3-4|2-3-[34]|3-3-2-2|3-4-3"),
    Plan("PL", "", "2-3-2-2|2-7"),
    Plan("RU", "8", "1-3-3-2-2|1-3-7|1-3-3-4|4-3-2-2|1-4-2-2-2|1-4-3-3|1-10"),
    Plan("KZ", "8", "1-3-3-2-2|1-3-3-4"),
    Plan("MX", "", "3-3-4"),
    Plan("UA", "0", "3-3-2-2|3-3-4|3-7|5-5"),
    Plan("TR", "0", "4-3-2-2|4-3-4|4-7|1-3-3-2-2|1-3-3-4|1-3-7"),
    Plan("IL", "0", "2-7|3-7|2-3-4|3-3-4|2-4-3|3-4-3|3-3-2-2"),
    Plan("AE", "0", "3-3-4|2-3-4|3-7|2-7"),
    Plan("SA", "0", "3-3-4|3-7"),
    Plan("EG", "0", "3-4-4|4-3-4|3-8|2-4-4|2-8"),
    Plan("ZA", "0", "3-3-4|3-7"),
    Plan("NG", "0", "4-3-4|4-4-3|3-4-4|2-3-4|4-7"),
    Plan("KE", "0", "4-3-3|4-6"),
    Plan("IN", "0", "3-8|3-4-4|4-7|4-3-4|1-5-5|6-5|5-6|4-2-5|1-10"),
    Plan("IN", "", "5-5", _MOBILE),
    Plan("PK", "0", "4-7|3-8|4-3-4"),
    Plan("CN", "0", "3-8|4-7|4-8|3-4-4|4-4-4|4-3-4"),
    Plan("CN", "", "3-4-4", _MOBILE),
    Plan("TW", "0", "4-3-3|2-4-4|4-6|2-8|3-3-4|2-3-4"),
    Plan("JP", "0", "2-4-4|3-3-4|3-4-4|4-2-4|4-3-3|4-6|3-8|2-8"),
    Plan("KR", "0", "2-3-4|2-4-4|3-3-4|3-4-4"),
    Plan("TH", "0", "3-3-4|2-3-4|3-7|1-4-4|1-3-3-3|1-2-3-4"),
    Plan("VN", "0", "3-3-4|4-3-3|3-3-2-2|4-6|3-7"),
    Plan("ID", "0", "4-4-[345]|4-3-[345]|3-4-4|3-[78]"),
    Plan("MY", "0", "3-3-4|3-7|2-4-4|3-4-4|3-8|2-8"),
    Plan("PH", "0", "4-3-4|2-4-4|4-7"),
    Plan("AU", "0", "4-3-3|2-4-4|4-6|2-8"),
    Plan("AU", "", "4-3-3"),
    Plan("NZ", "0", "2-3-4|2-7|3-3-4"),
    Plan("NZ", "0", "3-3-3|3-3-4|3-4-4|3-6|3-7", _MOBILE),
    Plan("BR", "0", "3-4-4|3-5-4|4-3-4|3-1-4-4"),
    Plan("AR", "0", "3-4-4|4-3-4|4-7|3-2-4-4|4-2-3-4"),
    Plan("HU", "06", "2-1-3-4|2-2-3-4|2-2-7|2-2-3-3"),
    Plan("RO", "0", f"{_TEN}|3-3-2-2"),
    Plan("BG", "0", "4-3-3|4-2-2-2|4-6|2-3-4|2-7"),
    Plan("SK", "0", f"{_TEN}|4-3-2-2|2-3-3-2|2-4-4|2-8|3-3-2-2"),
    Plan("HR", "0", "2-4-3|2-7|3-3-4|3-7"),
    Plan("RS", "0", "3-3-4|3-7|3-4-3|3-3-2-2"),
    Plan("AL", "0", "3-3-4|3-7|2-3-4"),
    *(Plan(region, "0", "3-3-3|3-3-4|3-6", _MOBILE) for region in ("HR", "RS", "SI", "BA", "MK", "MD", "UY", "KH")),
    Plan("MD", "0", "4-2-3|4-5"),
    Plan("AM", "0", "3-6|4-2-3|4-5"),
    Plan("LT", "0", "1-3-2-3|1-3-5|4-2-3|4-5|1-2-6|3-6|2-3-4"),
    Plan("LT", "8", "1-3-2-3|1-3-5|4-2-3|4-5|1-2-6|3-6|2-3-4"),
    Plan("BY", "80", "1-3-3-2-2|1-3-3-4|1-4-2-2-2|1-3-7"),
    Plan("GR", "", "3-3-4|3-7"),
    Plan("GE", "0", "4-2-2-2|4-3-3|3-3-2-2"),
    Plan("GE", "", "3-2-2-2", _MOBILE),
    *(Plan(region, "0", "3-3-2-2|3-3-4|3-7|4-2-2-2|4-3-3") for region in ("AZ", "DZ", "KG")),
    *(Plan(region, "", "2-3-2-2") for region in ("UZ", "SN")),
    Plan("CM", "", "1-2-2-2-2"),
    Plan("CI", "", "2-2-2-4|2-2-1-5"),
    Plan("MA", "0", "2-2-2-2-2|4-6|4-2-2-2|4-3-3|3-7|5-5"),
    *(
        Plan(region, "0", f"{_TEN}|3-3-2-2|5-5")
        for region in ("GH", "TZ", "UG", "ET", "ZM", "ZW", "LK", "SY", "JO", "EC", "PY", "PE")
    ),
    Plan("ZW", "0", "2-3-4|2-7|4-3-4|4-6"),
    Plan("EC", "0", "2-3-4|2-7"),
    Plan("PE", "0", "2-7|2-3-4|3-6"),
    Plan("PY", "0", "3-6|2-7"),
    Plan("JO", "0", "2-4-4|2-3-4|2-7"),
    Plan("BD", "0", "5-6|4-7|3-8|2-[789]|4-6|4-3-4"),
    Plan("NP", "0", "2-7|3-6"),
    Plan("MM", "0", "2-3-3-3|2-4-4|2-3-4|2-[79]"),
    Plan("KH", "0", "3-3-4|3-[67]"),
    Plan("LA", "0", "3-2-3-3|3-2-2-3"),
    *(Plan(region, "0", "4-3-4|3-4-4|4-7|3-8") for region in ("IR", "IQ", "VE")),
    Plan("VE", "0", "4-3-2-2"),
    Plan("CO", "", "3-3-4|3-7", _MOBILE),
    Plan("CO", "", "3-3-4|3-7", _FIXED),
    Plan("CL", "", "1-4-4"),
)

_HALF_PLANS: tuple[Plan, ...] = (
    Plan("BR", "", "2-5-4|2-4-4|2-1-4-4"),
    Plan("MX", "", "2-4-4"),
    Plan("RU", "", "3-3-2-2|3-7"),
    Plan("AR", "", "2-4-4"),
    Plan("CN", "", "3-8", _MOBILE),
    Plan("GR", "", "2-4-4|4-6|4-3-3"),
    Plan("NP", "", "3-7", _MOBILE),
    Plan("CL", "", "2-3-4"),
)
"""Plans without a trunk digit or another sign. They count only with brackets around the area code, or with a hyphen."""

_SWITCHBOARDS = tuple(Plan(region, "0", "[2-6]-([4-8]-[1-5]|3-[12])", _FIXED) for region in ("DE", "AT"))

_BARE_MOBILES = compiled(
    r"0[6-9]\d{9}"  # GB, NG, JP, IN
    r"|0[35][0-5]\d{8}"  # PK, TR
    r"|0[4-9]\d{8}"  # AU and BE; IL, AE and SA; FR, NL, CH and SE; ZA and TH; TW and VN
    r"|89\d{9}"  # RU
    r"|01(?:5\d|6[023]|7\d)\d{7,8}"  # DE
    r"|010\d{8}"  # KR
    r"|02[03489]\d{8}|01(?:1\d|\d1)\d{7}"  # cities of GB
)
"""Numbers that are recognised without separators, by their first digits and their length. Nearly all are mobiles."""

_FICTITIOUS = {
    "GB": r"7700900\d{3}|1632960\d{3}|3069990\d{3}|8081570\d{3}|9098790\d{3}|2079460\d{3}",  # Ofcom, numbers for drama use
    "FR": r"(?:19900|26191|35301|46571|53649|63998)\d{4}",  # Arcep, decision 2018-0881
    "AU": r"[2378]5550\d{4}|[2378]7010\d{4}|491570\d{3}",  # ACMA, numbers for fiction
}
"""Numbers reserved for examples and fiction. A text may contain them, but libphonenumber calls most of them invalid."""


def _patterns(region: str, types: tuple[str, ...] = _ALL_TYPES) -> list[str]:
    from phonenumbers import PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(region)
    descriptions = [getattr(metadata, kind) for kind in types]
    found = [item.national_number_pattern for item in descriptions if item is not None]
    return [pattern for pattern in (*found, _FICTITIOUS.get(region)) if pattern]


@cache
def _sets(plans: tuple[Plan, ...]) -> tuple[PatternSet, PatternSet]:
    numbers = PatternSet(f"{plan.trunk}(?:{'|'.join(_patterns(plan.region, plan.types))})" for plan in plans)
    return numbers, PatternSet(plan.shapes for plan in plans)


def is_national(digits: str, shape: str, *, is_marked: bool) -> bool:
    """Whether a country has such a number and writes it in such groups.

    Args:
        digits: all digits, with the trunk digit.
        shape: the lengths of the groups, joined by hyphens.
        is_marked: there are brackets or hyphens, which few numbers other than phones have.
    """
    for half in (False, True) if is_marked else (False,):
        fitting = _of_shape(shape, half=half)
        if fitting and fitting & _numbers(half=half).fullmatch(digits):
            return True
    return False


@cache
def _numbers(*, half: bool) -> PatternSet:
    return _sets(_HALF_PLANS if half else PLANS)[0]


@lru_cache(1024)
def _of_shape(shape: str, *, half: bool) -> frozenset[int]:
    """The places of the plans with such groups. There are few shapes, and many numbers."""
    return _sets(_HALF_PLANS if half else PLANS)[1].fullmatch(shape)


def is_switchboard(digits: str, shape: str) -> bool:
    """Whether digits are a number of Germany or Austria whose last group is an extension: 030 123456-0."""
    numbers, shapes = _sets(_SWITCHBOARDS)
    fitting = shapes.fullmatch(shape)
    return bool(fitting and fitting & numbers.fullmatch(digits))


def is_bare_mobile(digits: str) -> bool:
    """Whether digits without separators are a mobile number with its trunk digit."""
    return _BARE_MOBILES.fullmatch(digits) is not None


class _Country(NamedTuple):
    lengths: frozenset[int]
    number: Compiled
    trunk: str


@cache
def _country(code: int) -> _Country | None:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

    regions = COUNTRY_CODE_TO_REGION_CODE.get(code, ())
    if not regions:
        return None
    if regions == ("001",):  # no country: +800, satellites
        metadata = PhoneMetadata.metadata_for_nongeo_region(code)
    else:
        metadata = PhoneMetadata.metadata_for_region(regions[0])
    assert metadata is not None
    assert metadata.general_desc is not None
    patterns = [pattern for region in regions if region != "001" for pattern in _patterns(region)]
    number = "|".join(patterns) or metadata.general_desc.national_number_pattern or ""
    return _Country(frozenset(metadata.general_desc.possible_length), compiled(number), metadata.national_prefix or "")


def country_code(digits: str) -> int | None:
    """The calling code with which digits start, if there is one. No code is the beginning of another."""
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    if digits[:1] in ("", "0"):
        return None
    return next((int(digits[:n]) for n in (1, 2, 3) if int(digits[:n]) in COUNTRY_CODE_TO_REGION_CODE), None)


@cache
def _codes() -> dict[str, int]:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    return {region: code for code, regions in COUNTRY_CODE_TO_REGION_CODE.items() for region in regions}


def code_of_region(region: str) -> int | None:
    """The calling code of a region (ISO 3166)."""
    return _codes().get(region)


def is_valid(digits: str) -> bool:
    """Whether digits with a calling code are a number that may be in use there."""
    return any(country.number.fullmatch(number) for country, number in _readings(digits))


def is_at_home(code: int, digits: str, shape: str) -> bool:
    """Whether digits are a number of a country, in groups as it writes them.

    Without groups they need the country's trunk digits, and a country whose numbers have few lengths: else many would be one.
    """
    country = _country(code)
    if country is None or not is_valid(f"{code}{digits}"):
        return False
    has_trunk = digits.startswith(country.trunk)
    if "-" in shape:
        return _home_shapes(code, has_trunk=has_trunk and country.trunk != "").fullmatch(shape) is not None
    return has_trunk and len(country.lengths) < _MANY_LENGTHS


@cache
def _home_shapes(code: int, *, has_trunk: bool) -> Compiled:
    """The groups in which libphonenumber writes the numbers of a country for its people, with or without trunk digits."""
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(COUNTRY_CODE_TO_REGION_CODE[code][0])
    trunk = (metadata and metadata.national_prefix) or ""
    shapes = []
    for item in metadata.number_format if metadata else ():
        groups = (item.pattern or "")[1:-1].split(")(")
        is_written = trunk != "" and trunk in (item.national_prefix_formatting_rule or "")
        if is_written == has_trunk and len(groups) > 1 and all(group.startswith("\\d") for group in groups):
            first = _lengths(groups[0], len(trunk) if has_trunk else 0)
            shapes.append("-".join((first, *map(_lengths, groups[1:]))))
    return compiled("|".join(shapes) or "none")


def _lengths(group: str, more: int = 0) -> str:
    """A pattern for the lengths of a group such as `\\d{2,3}`, with some digits more."""
    least, _, most = group.removeprefix("\\d").strip("{}").partition(",")
    lengths = range(int(least or 1) + more, int(most or least or 1) + more + 1)
    return f"(?:{'|'.join(map(str, lengths))})"


def is_possible(digits: str) -> bool:
    """Whether digits with a calling code have a length that exists there."""
    return any(len(number) in country.lengths for country, number in _readings(digits))


def _readings(digits: str) -> list[tuple[_Country, str]]:
    """The country and its national number; also without the trunk digit that people often keep: +44 020 7946 0958.

    Mobiles of Mexico had a 1 after the calling code until 2019, and people still write it.
    """
    code = country_code(digits)
    country = None if code is None else _country(code)
    if country is None:
        return []
    number = digits[len(str(code)) :]
    is_left_in = number[:1] == ("1" if code == 52 else "0")
    return [(country, number), (country, number[1:])] if is_left_in else [(country, number)]


def is_nanp(digits: str) -> bool:
    """Whether ten digits may be in use in North America."""
    return len(digits) == 10 and is_valid(f"{NANP_CODE}{digits}")
