"""Decides which digits are a phone number by their form alone, without the text around them."""

from functools import lru_cache
from itertools import pairwise

from jobs.engines.text.linear import compiled
from jobs.pii_redact import plans

MIN_DIGITS = 7

_NANP_SHAPES = frozenset(("3-3-4", "1-3-3-4", "3-7", "1-3-7", "1-10"))
_USUAL_SHAPES = compiled(
    "4-4(-4)?|2-2-2-2(-2)?|3-2-3(-2)?|3-3-3|3-4(-4)?|[23]-3-2-2|3-2-2-2|2-[45]-4|4-3-3|5-5|[45]-6|1-7|1-3-4|2-3-[34]|2-[67]|3-6"
    "|[1-4]-3-3-4"
)
_NATIONAL_SHAPES = compiled("[1-5](?:-[2-8]){1,4}")
_BEHIND_AREA = compiled("[234]-(?:[34]-[34]|4-5|3-2-2|3-3-[34]|2-3-[34]|4-[45]|[79])|[1-4]-3-3-2-2|3-2-2-2")
_CENTURIES = ("19", "20")
_THOUSANDS = compiled("[123](?:-3)+")
_IMPOSSIBLE_AREAS = ("000", "001")
_MIN_MARKED = 8
_MIN_NATIONAL = 9
"""Minimum without a label. Small towns have shorter numbers, but far more short numbers are not phones."""
_CONSTANTS = ("21474836", "858993459")
"""The first digits of 2^31 and 2^33, and of values near them. They look like numbers in Dallas and San Diego."""
_MIN_ABROAD = 11
_LARGEST_STEP = 10
_EXIT_CODES = ("00", "011")
_PLAIN = frozenset((" ", "-"))
"""Separators that fit any number. Most have no other."""
_MARKS = frozenset("-()[]")
"""Few numbers other than phones have them."""


def fits(gaps: list[str]) -> bool:
    """Whether the separators are those of one number: at most one slash, after the area code with or without its trunk digits;
    full stops only without other separators, or after the slash."""
    if _PLAIN.issuperset(gaps):
        return True
    marks = [gap.strip(" ()[]") for gap in gaps]
    if any(len(mark) > 1 for mark in marks) or "  " in gaps[-1] or marks.count("/") > 1 or "/" in marks[2:]:
        return False
    if "." not in marks:
        return True
    if marks[0] == "/":
        marks = marks[1:]
        gaps = gaps[1:]
    return all(mark == "." or (not mark and gap.strip(" ")) for mark, gap in zip(marks, gaps, strict=True))


def is_decimal(first: str, gaps: list[str]) -> bool:
    """Whether the digits after a plus sign are a decimal number. Domain registries write phones as `+44.2079460958`.

    Args:
        first: the first group, which is a calling code in that form (RFC 5733).
        gaps: the separators.
    """
    return gaps == ["."] and plans.country_code(first) != int(first)


def is_grouped(digits: str, shape: str, gaps: list[str]) -> bool:
    """Whether grouped digits are a number of North America, of a country with such groups, or have an exit code.

    Args:
        digits: all digits.
        shape: the lengths of the groups, joined by hyphens.
        gaps: the separators, at least one.
    """
    if gaps == ["."] and not (digits[0] == "0" and shape[0] != "1"):
        return False  # a decimal number
    if shape == "3-4":
        return digits.startswith("555") and gaps == ["-"]
    if gaps == ["-"] and (shape == "5-4" or (shape == "5-5" and digits[:5] < digits[5:])):
        return False  # an American postal code; a range
    if gaps == ["/"] and shape == "5-5" and digits[0] != "0":
        return False  # two groups of five digits
    if _are_years(digits, shape):
        return False
    if set(shape) == {"2", "-"} and ((len(digits) == 8 and set(gaps) == {"-"}) or _is_counted(digits)):
        return False  # bytes, pages, sizes; a phone in fours has a hyphen only after the area code
    is_marked = not _MARKS.isdisjoint("".join(gaps))
    if len(digits) < (_MIN_MARKED if is_marked and len(gaps) > 1 else _MIN_NATIONAL):
        return False
    if shape in _NANP_SHAPES and _is_nanp(digits, shape, is_marked=is_marked or "." in gaps):
        return True
    if set(shape) == {"4", "-"} and "-" not in gaps:
        return False  # many kinds of numbers are written in fours
    if _has_exit_code(digits) or plans.is_national(digits, shape, is_marked=is_marked):
        return True
    if _is_abroad(digits, shape) or _is_behind_area(digits, shape, gaps):
        return True
    return len(gaps) > 1 and gaps[-1].strip(" ") == "-" and plans.is_switchboard(digits, shape)


def is_bare(digits: str) -> bool:
    """Whether digits without separators are a valid number of North America, a mobile, or have an exit code."""
    if len(digits) == 11 and digits[0] == "1":
        return plans.is_nanp(digits[1:])
    if digits.startswith("00"):
        # With zeros in front, half of all ids of ten or eleven digits would be numbers of North America.
        return _has_exit_code(digits) and plans.country_code(digits[2:]) != plans.NANP_CODE
    return (plans.is_nanp(digits) and not digits.startswith(_CONSTANTS)) or plans.is_bare_mobile(digits)


@lru_cache(1024)
def is_usual(shape: str) -> bool:
    """Whether any country writes numbers in such groups."""
    return _USUAL_SHAPES.fullmatch(shape) is not None


def may_be_national(digits: str, shape: str, gaps: list[str]) -> bool:
    """Whether grouped digits may be a phone where something points to one: no version, score, count or pair of years."""
    if any("." in gap for gap in gaps) or _are_years(digits, shape):
        return False
    if set(shape) == {"2", "-"} and (set(gaps) != {" "} or _is_counted(digits)):
        return False
    return _is_national_shape(shape)


@lru_cache(1024)
def _is_national_shape(shape: str) -> bool:
    return _NATIONAL_SHAPES.fullmatch(shape) is not None


def _are_years(digits: str, shape: str) -> bool:
    """Whether the last two groups are years."""
    return shape.endswith("4-4") and digits[-8:-6] in _CENTURIES and digits[-4:-2] in _CENTURIES


def is_thousands(shape: str, gaps: list[str]) -> bool:
    """Whether grouped digits may be one large number, with spaces for the commas."""
    return set(gaps) == {" "} and _THOUSANDS.fullmatch(shape) is not None


def _is_nanp(digits: str, shape: str, *, is_marked: bool) -> bool:
    """Accepts more than valid numbers: any area code and exchange in the usual form, also 555, reserved for fiction."""
    number = digits.removeprefix("1") if len(digits) == 11 else digits
    if len(number) != 10 or number[0] in "01":
        # Programs that make up people do not know which area codes exist.
        return is_marked and shape.endswith("3-3-4") and not number.startswith(_IMPOSSIBLE_AREAS)
    if not shape.endswith("3-3-4"):
        return plans.is_nanp(number)
    return is_marked or number[3] not in "01" or number.startswith("555") or len(digits) == 11


def _is_counted(digits: str) -> bool:
    """Whether pairs of digits increase or decrease in small steps."""
    pairs = [int(digits[place : place + 2]) for place in range(0, len(digits), 2)]
    steps = {after - before for before, after in pairwise(pairs)}
    return len(steps) == 1 and 0 < abs(steps.pop()) <= _LARGEST_STEP


def _is_behind_area(digits: str, shape: str, gaps: list[str]) -> bool:
    """Whether digits begin with a code in brackets, and the rest is grouped as in a phone: (351) 967 865 797."""
    is_year = shape[0] == "4" and digits.startswith(("19", "20"))
    return gaps[0].startswith((")", "]")) and not is_year and _BEHIND_AREA.fullmatch(shape) is not None


def _has_exit_code(digits: str) -> bool:
    return any(digits.startswith(code) and plans.is_valid(digits[len(code) :]) for code in _EXIT_CODES)


def _is_abroad(digits: str, shape: str) -> bool:
    """Whether an exit code, a calling code and a length that its country has are grouped, but not as bytes."""
    is_pairs = set(shape) == {"2", "-"}
    return digits.startswith("00") and len(digits) >= _MIN_ABROAD and not is_pairs and plans.is_possible(digits[2:])
