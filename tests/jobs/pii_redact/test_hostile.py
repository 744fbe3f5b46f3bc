"""Text that is meant to take forever. The work is counted, not timed."""

import ast
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.pii_redact.redaction import redact
from jobs.pii_redact.spans import KINDS
from tests.each import each

ROOT = Path(__file__).parents[3]
SOURCES = sorted(path for folder in ("pii_redact", "text") for path in (ROOT / "jobs" / folder).glob("*.py"))
assert SOURCES
STEPS_PER_CHARACTER = 200
"""Calls of functions. Digits that are groups of a hundred possible numbers take the most."""

UNITS = [
    *("1", "1 ", "0 ", "4 ", "1-", "1.", "1/", "1,", "12 ", "123 ", "1234 ", "0123 ", "4111-", "4111 "),
    *("+1 ", "+", "(", "((((( ", "(1", "+1(", "+1 (", "1)", "[1", "1;ext=", " x1", "1 x1", "00 44 20 "),
    *("12 34 56 78 9", "030-12 34 56 78 90 ", "415-555-0132 ", "4155550132 ", "4155550132\n"),
    *("020 7946 0958 ", "+1 4 1 5 5 5 5 0 1 3 2 ", "+49 30 123456 ", "0612345678 ", "Tel: 2123 4567, "),
    *("phone: 12345678 ", "tel 1 ", "tel ", "call me at ", "电话", "电话12345678", "a@", "@", "@a.", "a@a."),
    *("a@1.", "a@b.cc ", "@b.cc", "a.b@c.dd,", "%40", "a%40", "a%40b.cc", '"', '"a"@b.cc ', '\\"', '"@'),
    *("a", "a.", "a-", "=", "a=", "?a=", "/", "//", "a/", "'", "a'", "|", "é", "用"),
    *("e\u0301", "\u0301", "4111 1111 1111 1111 ", "4111111111111111 ", "123-45-6789 ", "123 45 6789 "),
    *("ssn 123456789 ", "123456789 ", "ssn ", "1.1.1.1 ", "1.1.1.1.", "1.1.1.1-", "v1.1.1.1 "),
    *("0123456789abcdef", "0123456789abcdef0123456789abcdef ", "0x", "a1b2", "1:11 ", "2026-11-20 "),
    *("DE89370400440532013000 ", "DE89 ", "AB12 ", "12.3456,12.3456 ", "123e4567-", "-", "[EMAIL]"),
    *("[EMAIL] ", "[PHONE]1", "[", "\u200b", "1\u200b", "１", "𝟏", "🙂", "aA", "Aa", "A", "\n", " "),
    *("\x00", "$1", "\\n", "\\n1", "\\u003c", "1 tel ", "1 tel no ", "📞1", "📞", "0711 12345-0 ", "02/123.45.67 "),
    *("v1.1.1.1 to ", "1.1.1.1,", "+4915112345678 ", "tel 1234567/", "%B4111111111111111"),
    *("M1,1", "M1.5.5c-.1.2", "m.1", "c-.1 ", "M1 1L2 2 ", "a==1.2.3.4 ", "f (1.2.3.4-1) ", "bump a to 1.2.3.4 "),
    *("02-03-04-05 ", "06 12 18 24 30 ", "Tel: 900 12 345 678 ", "54E8 5546 5531 5617 5968 ", "<a=b@b.cc"),
    *(
        "password=",
        "password=a",
        "password: '",
        "token=a1",
        "api_key ",
        "bearer ",
        "--token ",
        "a://b:c@",
        "a://:",
        "sk-",
        "sk- ",
    ),
    *(
        "AKIA",
        "key-",
        "nginx/1.1.1.1 ",
        "a/1.1.1.1 ",
        "php 1.1.1.1 ",
        "+47 22 41 50 10 22 41 50 10 ",
        "22 41 50 10 a@b.cc ",
    ),
    *("git@github.com:a ", "on 22 41 50 10 ", "a@b.no 22415010 "),
    *("a-1.2.3.4/b 1.2.3.4 ", "1.2.3.4-1 (", "1.2.3.4==", "x_1.2.3.4-1_all "),
]


def _text(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _steps(text: str) -> int:
    """How many functions are called, of Python and of C, to redact a text."""
    steps = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        redact(text, KINDS)
    finally:
        sys.setprofile(before)
    return steps


@pytest.fixture(autouse=True)
def _loaded() -> None:
    """What is loaded once is not counted."""
    redact("+1 415 555 0132, 020 7946 0958, (11) 91234-5678", KINDS)


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_is_answered(unit: str) -> None:
    """Any repeated pattern is searched in a bounded number of steps, four times the text in about four times as many.

    A little more, because where the last repetition is cut decides about those before it.
    """
    short, long = _steps(_text(unit, 500)), _steps(_text(unit, 2000))
    assert long <= STEPS_PER_CHARACTER * 2000
    assert long <= 5 * short + 2000


PIECES = st.sampled_from(
    [*"0123456789 -.()+/x#@:%\"=[]\na,'é用", "415-555-0132", "4111", "@b.cc", "tel ", "+44", "ssn", "1.1.1.1"]
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, min_size=1, max_size=8).map("".join))
def test_work_grows_with_the_text_and_no_faster(unit: str) -> None:
    """Whatever pattern is repeated. Whole, because a last one that is cut can double the work of both."""
    count = 500 // len(unit) + 1
    assert _steps(unit * 4 * count) <= 5 * _steps(unit * count) + 2000


@pytest.mark.parametrize(
    "unit",
    ["1 ", "(", "+1 ", "a@", "a%40", "1.", "4111 ", "030-12 34 56 78 90 ", "\u200b", '"', "é", "password=a", "sk-"],
)
def test_the_longest_text_that_is_accepted_is_answered(unit: str, capfd: pytest.CaptureFixture[str]) -> None:
    """100 000 characters are searched to the end, and RE2 never gives up for want of memory, which it would say on stderr."""
    assert redact(_text(unit, 100_000), KINDS).text
    assert capfd.readouterr().err == ""


@each("path", SOURCES)
def test_no_backtracking_regular_expression_sees_the_text(path: Path) -> None:
    """Neither `re` nor the functions of phonenumbers that use it are named; of phonenumbers, only its tables."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        module = node.module if isinstance(node, ast.ImportFrom) else None
        assert not {"re", "regex", "sre_compile"} & {*names, module}
        assert "phonenumbers" not in names
        if module is not None and module.startswith("phonenumbers"):
            assert set(names) <= {"PhoneMetadata", "COUNTRY_CODE_TO_REGION_CODE"}
