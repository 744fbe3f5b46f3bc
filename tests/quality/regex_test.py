"""regex-test: the check before the payment says what V8 says of a pattern, and the matches are those of V8's own loop."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from jobs.regex_test.syntax import PatternError, check
from jobs.regex_test.v8 import Isolate
from tests.quality.scorer import Measure

_JUDGE = """({judge: (asked) => JSON.stringify(JSON.parse(asked).map(([pattern, flags]) => {
  try { new RegExp(pattern, flags); return true; } catch { return false; }
}))})"""
_PARTS = r"""
( (?: (?= (?<! (?<n> ) | * +? {2,3} ^ $ . a é 😀 [a-f] [^\d] [ ] \d \b \k<n> \1 \u{61} \p{Lu} \/ \- { }
""".split()
_MORE_PARTS = [
    r"(?i:",
    r"(?-s:",
    r")",
    r")?",
    r"){0}",
    r"|",
    r"|*",
    r"[\w-a]",
    r"[\b]",
    r"[\p{Script=Greek}]",
    r"\cJ",
    r"\x4",
    r"\u12",
    r"\ud83d\ude00",
    r"\p{IDS}",
    r"\P{^L}",
    r"(?<$>",
    r"\k<$>",
    r"(?<a>.)|(?<a>.)",
    r"(?<=a)+",
    r"(?=a)+",
    r"{1}",
    r"{,2}",
    r"]]",
    r"}}",
    r"\0",
    r"\00",
    r"\8",
    r"\W*",
    r"--",
    r",",
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Patterns of parts that are thrown together; other parts, and longer patterns, are set aside."""
    chance = random.Random(11 if held_out else 10)
    parts, most = (_PARTS + _MORE_PARTS, 14) if held_out else (_PARTS, 8)
    asked = [
        ("".join(chance.choices(parts, k=chance.randint(1, most))), chance.choice(("", "u", "gims")))
        for _ in range(20_000)
    ]
    isolate = Isolate(_JUDGE)
    try:
        verdicts: list[bool] = json.loads(isolate.call("judge", json.dumps(asked), limit_s=60).text)
    finally:
        isolate.close()
    pairs = list(zip(asked, verdicts, strict=True))
    for name, wanted in (("patterns taken", True), ("patterns refused", False)):
        judged = [question for question, is_valid in pairs if is_valid is wanted]
        yield Measure(name, len(judged), sum(_is_valid(*question) is wanted for question in judged))


def _is_valid(pattern: str, flags: str) -> bool:
    try:
        check(pattern, flags)
    except PatternError:
        return False
    return True
