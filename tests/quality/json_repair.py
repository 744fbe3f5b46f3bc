"""json-repair: documents with one defect each come back with their value. Other documents and defects are set aside."""

import html
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jobs.json_repair import NotRepairable, repair
from jobs.json_repair.endpoint import ENDPOINT
from tests.jobs.calls import answer_to
from tests.quality.scorer import Measure

Defect = Callable[[str], str]

_OPEN: Mapping[str, Defect] = {
    "trailing comma": lambda text: re.sub(r"([\]}])", r",\1", text),
    "single quotes": lambda text: text.replace('"', "'"),
    "python words": lambda text: text.replace("true", "True").replace("false", "False").replace("null", "None"),
    "unquoted keys": lambda text: re.sub(r'"(\w+)":', r"\1:", text),
    "missing end": lambda text: text.rstrip("]}"),
    "code block": lambda text: f"Here it is:\n```json\n{text}\n```\nGood luck!",
    "html entities": html.escape,
    "line comments": lambda text: re.sub(r",\n", ", // note\n", text),
}
_SET_ASIDE: Mapping[str, Defect] = {
    "typographic quotes": lambda text: re.sub(r'"([^"\n]*)"', "\u201c\\1\u201d", text),
    "missing commas": lambda text: text.replace(",\n", "\n"),
    "block comments": lambda text: text.replace(",\n", ", /* see above */\n"),
    "callback": lambda text: f"callback({text});",
    "escaped": lambda text: json.dumps(text)[1:-1],
    "prose around": lambda text: f"Sure, the answer is {text} as you asked.",
    "no line breaks": lambda text: " ".join(text.split("\n")).replace(",  ", ","),
}
_OBJECT = {"type": "object"}
# A text, its schema, and its value: a text that is one string is a string, unless the schema wants what was encoded twice.
_ENCODED: list[tuple[str, Any, Any]] = [
    ('"{\\"a\\": 1}"', None, '{"a": 1}'),
    ('"[1, 2]"', None, "[1, 2]"),
    ('"say \\"hi\\""', None, 'say "hi"'),
    ('"null"', None, "null"),
    ('"{\\"a\\": 1}"', _OBJECT, {"a": 1}),
    (json.dumps(json.dumps(json.dumps({"a": [1]}))), _OBJECT, {"a": [1]}),
    ('"{\\"a\\": True,}"', _OBJECT, {"a": True}),
    ('"{\\"a\\": 1}"', {"type": ["object", "string"]}, '{"a": 1}'),
]
_ENCODED_SET_ASIDE: list[tuple[str, Any, Any]] = [
    ('"{a: 1}"', None, "{a: 1}"),
    ('"```json"', None, "```json"),
    ("'{\"a\": 1}'", _OBJECT, {"a": 1}),
    ('"[1, 2"', {"type": "array"}, [1, 2]),
    ('"12"', {"type": "string"}, "12"),
]
# A text with one defect, and what was there and became what.
_CHANGED = [
    ("[True]", "True", "true"),
    ("{'a': 1}", "'", '"'),
    ("{&quot;a&quot;: 1}", "&quot;", '"'),
    ('{"a": 12:30}', "12:30", '"12:30"'),
    ('["\\d"]', "\\", "\\\\"),
    ('{"a": two words}', "two words", '"two words"'),
]
_CHANGED_SET_ASIDE = [
    ("[None]", "None", "null"),
    ('{"a": yes please}', "yes please", '"yes please"'),
    ("[&#34;a&#34;]", "&#34;", '"'),
    ("f([1])", "f(", ""),
]
_WORDS = ("tea", "blue cup", "Zürich", "42", "a-b", "x_1", "late, again", "see: page 3", "")


def measures(held_out: bool) -> Iterator[Measure]:
    """One measure for each defect."""
    drawn = random.Random(2_026 if held_out else 1_122)  # not a secret
    documents = [_value(drawn, 3) for _ in range(60)]
    for name, defect in (_SET_ASIDE if held_out else _OPEN).items():
        right = sum(_repaired(defect(json.dumps(value, indent=1, ensure_ascii=False))) == value for value in documents)
        yield Measure(name, len(documents), right)
    encoded = _ENCODED_SET_ASIDE if held_out else _ENCODED
    values = [_answer(text, schema).get("repaired") == value for text, schema, value in encoded]
    yield Measure("one string, or encoded twice", len(values), sum(values))
    changed = _CHANGED_SET_ASIDE if held_out else _CHANGED
    shown = [
        (before, after) in [(one.get("before"), one.get("after")) for one in _answer(text, None)["repairs"]]
        for text, before, after in changed
    ]
    yield Measure("what was there and what it became", len(shown), sum(shown))


def _answer(text: str, schema: Any) -> dict[str, Any]:
    return answer_to(ENDPOINT, {"malformed": text, **({} if schema is None else {"schema": schema})})


def _value(drawn: random.Random, depth: int) -> Any:
    keys = drawn.sample(("id", "name", "items", "total", "is_paid", "note", "tags"), drawn.randint(2, 4))
    return {key: _part(drawn, depth - 1) for key in keys}


def _part(drawn: random.Random, depth: int) -> Any:
    if depth and drawn.random() < 0.4:
        return (
            _value(drawn, depth)
            if drawn.random() < 0.5
            else [_part(drawn, depth - 1) for _ in range(drawn.randint(1, 3))]
        )
    return drawn.choice((drawn.choice(_WORDS), drawn.randint(-9, 10**6), drawn.random(), True, False, None))


def _repaired(text: str) -> Any:
    try:
        return repair(text).value
    except NotRepairable:
        return NotRepairable
