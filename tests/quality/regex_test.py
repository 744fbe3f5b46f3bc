"""regex-test: the check before the payment says what V8 says of a pattern, and the matches are those of V8's own loop."""

import json
import random
from collections.abc import Iterator

from jobs.regex_test.hints import hint
from jobs.regex_test.syntax import PatternError, check
from jobs.regex_test.v8 import Isolate
from tests.quality.scorer import Measure

_JUDGE = """({judge: (asked) => JSON.stringify(JSON.parse(asked).map(([pattern, flags]) => {
  try { new RegExp(pattern, flags); return true; } catch { return false; }
}))})"""
_PARTS = r"""
( (?: (?= (?<! (?<n> ) | * +? {2,3} ^ $ . a é 😀 [a-f] [^\d] [ ] \d \b \k<n> \1 \u{61} \p{Lu} \/ \- { }
"""
_MORE_PARTS = r"""
(?i: (?-s: ) )? ){0} | |* [\w-a] [\b] [\p{Script=Greek}] \cJ \x4 \u12 \ud83d\ude00 \p{IDS} \P{^L}
(?<$> \k<$> (?<a>.)|(?<a>.) (?<=a)+ (?=a)+ {1} {,2} ]] }} \0 \00 \8 \W* -- ,
"""

_FOREIGN = (
    r"/\d+/g",
    r"(?P<y>\d+)",
    r"(?P=y)",
    r"\Aab\Z",
    "(?i)ab",
    "(?x) a",
    "a++",
    "(?>a)",
    r"\p{L}",
    "[[:digit:]]",
    "r'a'",
    "re.match('a', text)",
    "new RegExp('a')",
    "s/a/b/",
)
_OURS = (
    r"(?<y>\d+)\k<y>",
    r"[\A]",
    r"\\Z",
    "(?:a)",
    "(?i:a)",
    "a+?",
    "(?=a)(?!b)(?<=c)(?<!d)",
    "[(?P<]",
    r"a/b",
    r"\(?P",
)


def measures(held_out: bool) -> Iterator[Measure]:
    """Patterns of parts that are thrown together; other parts, and longer patterns, are set aside."""
    chance = random.Random(11 if held_out else 10)
    text, most = (_PARTS + _MORE_PARTS, 14) if held_out else (_PARTS, 8)
    parts = text.split()
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
    if not held_out:
        yield Measure("hints", len(_FOREIGN), sum(hint(one, "", matched=False) is not None for one in _FOREIGN))
        yield Measure("no hints", len(_OURS), sum(hint(one, "", matched=False) is None for one in _OURS))
    for name, wanted in (("patterns taken", True), ("patterns refused", False)):
        judged = [question for question, is_valid in pairs if is_valid is wanted]
        yield Measure(name, len(judged), sum(_is_valid(*question) is wanted for question in judged))


def _is_valid(pattern: str, flags: str) -> bool:
    try:
        check(pattern, flags)
    except PatternError:
        return False
    return True
