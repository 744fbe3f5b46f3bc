"""Texts as numbers: exactly, or not at all."""

from hypothesis import given
from hypothesis import strategies as st

from jobs.llm_tool_validate.numbers import MAX_DIGITS, MAX_WRITTEN_OUT, integer, number
from tests.each import each

INTEGERS = [
    ("-0", 0),
    ("12.0", 12),
    ("-12.0", -12),
    ("0.0", 0),
    ("2e10", 20_000_000_000),
    ("1.5e1", 15),
    ("100e-2", 1),
    ("0e999999", 0),
    ("9007199254740993", 9_007_199_254_740_993),
    ("9007199254740993.0", 9_007_199_254_740_993),
    ("123456789012345678901234567890", 123_456_789_012_345_678_901_234_567_890),
    ("9" * MAX_DIGITS, 10**MAX_DIGITS - 1),
    ("1e39", 10**39),
]

NO_INTEGERS = [
    *("", " ", "1a", "a1", "1.5", "1e-1", "0.1", "+1", "01", "007", "-01", "1.", ".5", "1e", "1e+", "e1", "--1"),
    *("- 1", "0x10", "0b1", "0o7", "1_000", "1,000", "1 000", "1/2", "5%", "$5", "1f", "1L", "1n", "\u0661\u0662"),
    *("\uff11", "\u00bd", "²", "NaN", "nan", "Infinity", "-Infinity", "inf", "1e400", "1e999999", "1e9999999"),
    *("-1e400", "1e40", "9" * (MAX_DIGITS + 1), "9" * 100_000, "1e" + "9" * 100_000, "1\x00", "1\n2", "true"),
    *("null", "twelve"),
]

NUMBERS = [
    ("1.50", 1.5),
    ("12.0", 12.0),
    ("1e5", 100_000.0),
    ("2.5e-3", 0.0025),
    ("123456789012345678901234567890", 123_456_789_012_345_678_901_234_567_890),
    ("9007199254740993.0", 9_007_199_254_740_993),
    ("0.0", 0.0),
]

NO_NUMBERS = [
    *("1e400", "-1e400", "1e-400", "2e-324", "3.14159265358979323846", "0.1000000000000000000001"),
    *("1.7976931348623159e308", "9007199254740993.5", "NaN", "Infinity", ".5", "5.", "+1.5", "01.5", "1.5.5", "1,5"),
    *("1e5.5", "", "1" + "0" * 400 + ".5", "9" * (MAX_DIGITS + 1)),
]


@each(("text", "value"), INTEGERS)
def test_integers(text: str, value: int) -> None:
    """JSON's way to write an integer, with a fraction of zeros or an exponent too."""
    found = integer(text)
    assert (found, type(found)) == (value, int)


@each("text", NO_INTEGERS)
def test_no_integers(text: str) -> None:
    """What JSON does not know as a number, has a fraction, or would be too long."""
    assert integer(text) is None


@each(("text", "value"), NUMBERS)
def test_numbers(text: str, value: float) -> None:
    """An integer where there is neither a fraction nor an exponent; else the double, if it says the same."""
    found = number(text)
    assert (found, type(found)) == (value, type(value))


@each("text", NO_NUMBERS)
def test_no_numbers(text: str) -> None:
    """What no double has exactly, for want of digits or range."""
    assert number(text) is None


@given(st.integers(-(10**MAX_DIGITS) + 1, 10**MAX_DIGITS - 1))
def test_every_integer_is_read_back(value: int) -> None:
    """Exactly."""
    assert integer(str(value)) == number(str(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_is_read_back(value: float) -> None:
    """From its shortest text."""
    assert number(repr(value)) == value


@given(st.integers(-999, 999), st.integers(-60, 60))
def test_exponents_are_worth_what_they_say(digits: int, exponent: int) -> None:
    """An integer when it is one that has at most 40 digits."""
    expected = digits * 10**exponent if exponent >= 0 else digits // 10**-exponent
    is_whole = exponent >= 0 or digits % 10**-exponent == 0
    is_short = len(str(abs(expected))) <= MAX_WRITTEN_OUT
    assert integer(f"{digits}e{exponent}") == (expected if is_whole and is_short else None)
