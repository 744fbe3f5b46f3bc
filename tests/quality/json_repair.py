"""json-repair: documents with one defect each come back with their value. Other documents and defects are set aside."""

import html
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jobs.json_repair import NotRepairable, repair
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
_WORDS = ("tea", "blue cup", "Zürich", "42", "a-b", "x_1", "late, again", "see: page 3", "")


def measures(held_out: bool) -> Iterator[Measure]:
    """One measure for each defect."""
    drawn = random.Random(2_026 if held_out else 1_122)  # not a secret
    documents = [_value(drawn, 3) for _ in range(60)]
    for name, defect in (_SET_ASIDE if held_out else _OPEN).items():
        right = sum(_repaired(defect(json.dumps(value, indent=1, ensure_ascii=False))) == value for value in documents)
        yield Measure(name, len(documents), right)


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
