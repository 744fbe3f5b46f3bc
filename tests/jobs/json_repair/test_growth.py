"""The work grows with the text, and no faster: 64 KB of a pattern take eight times the work of 8 KB, whatever is repeated."""

from __future__ import annotations

import random

from tests.each import each
from tests.jobs.json_repair.counting import work_of

TOKENS = (
    *(
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ", ",
        ":",
        ";",
        '"',
        "'",
        "`",
        "\u201c",
        "\\",
        "/",
        "//",
        "/*",
        "*/",
        "#",
        "...",
    ),
    *("=", "+", "1", "a", "b c", " ", "\n", "\t", '"a"', '{"a":', "f(", "-", "\uff0c", "```", '\\"', "."),
)
BEFORE = (
    "",
    '"',
    "'",
    "a",
    '{"a":',
    '{"a":"',
    "[",
    '["',
    "{",
    "f(",
    "{'a': '",
    "{a:b",
    "{a",
    'x "',
    "(",
    '{"a":1',
    "{a: b c",
)
AFTER = ("", "a", '"', "b}", "]", '"}', "c: 1}", '"]', 'c "d"', 'c "d" e "f"')
SLACK = 30
"""Characters looked at per character of the text that a longer text may need more. Quadratic work needs hundreds more."""


def _growth(before: str, unit: str, after: str, small: int, large: int) -> float:
    """How much more work one character takes in the larger text."""

    def work(size: int) -> float:
        return work_of(before + unit * (size // len(unit)) + after) / size

    return work(large) - work(small)


@each(
    ("before", "unit", "after"),
    [
        ("{a: b c", ",", '"d" e "f"'),
        ("{a:b", ", ", 'c "d"'),
        ('{"a":"', "\n", "b}"),
        ("{'a': '", ",", '"}'),
    ],
)
def test_known_patterns_are_linear_to_64_kb(before: str, unit: str, after: str) -> None:
    """A bare word, or a quote that is never closed, before a row of commas or line breaks."""
    assert _growth(before, unit, after, 8_000, 64_000) < SLACK


def test_generated_patterns_are_linear() -> None:
    """Patterns of two and three tokens, drawn at random, each between two others."""
    drawn = random.Random(17)
    units = [*TOKENS, *("".join(drawn.choices(TOKENS, k=k)) for k in (2, 2, 3) * 20)]
    patterns = [(drawn.choice(BEFORE), unit, drawn.choice(AFTER)) for unit in units]
    assert [pattern for pattern in patterns if _growth(*pattern, 250, 2_000) >= SLACK] == []
