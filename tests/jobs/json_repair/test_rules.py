"""Every documented rule, with the examples of rules.txt, and texts without a value."""

from typing import Any

import pytest

from jobs.json_repair import NotRepairable, repair
from tests.each import each
from tests.jobs.json_repair import texts


@each(("rule", "cases"), lambda: texts.rules().items())
def test_rule(rule: str, cases: list[tuple[str, Any]]) -> None:
    """The text has the value, of the very same types, and counts as modified with at least one repair listed."""
    for text, value in cases:
        repaired = repair(text)
        assert (text, repr(repaired.value)) == (text, repr(value))
        assert repaired.was_modified, text
        assert repaired.repairs, text
        assert all(0 <= item.offset <= len(text) for item in repaired.repairs), text


@each(
    "text",
    [
        *(
            *("", " ", "\n\t\r", "\ufeff", "// only", "/* only */", "# only", ",", ",,,", ":", "}", "]]", "..."),
            *("```", "--"),
        ),
        *(
            ")]}'",
            "for(;;);",
            "Hello, how are you today?",
            "The answer is 42.",
            "I am sorry, but I cannot share this list",
        ),
        *("No results were found.\nPlease try another date.", "\u5bf9\u4e0d\u8d77\u3002"),
    ],
)
def test_nothing(text: str) -> None:
    """Blanks, comments, punctuation and sentences have no value."""
    with pytest.raises(NotRepairable) as caught:
        repair(text)
    assert caught.value.reason == "not_repairable"
