"""JSON in prose, in code blocks, next to other text, and text without any."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.json_repair import NotRepairable, repair
from tests.each import each

FENCED = [
    ('```json\n{"a":1}\n```', {"a": 1}),
    ('```json\n{"a":1}', {"a": 1}),
    ('```json\n{"a":[1,\n```', {"a": [1]}),
    ('```json\n{"a":"b\n```', {"a": "b"}),
    ("```\n[1,2]\n```", [1, 2]),
    ('```json {"a":"b"} ```', {"a": "b"}),
    ('```json{"a":1}```', {"a": 1}),
    ('````json\n{"a":1}\n````', {"a": 1}),
    ('~~~\n{"a":1}\n~~~', {"a": 1}),
    ("Answer:\n```json\n42\n```", 42),
    ('[```json\n{"a":1}\n```]', [{"a": 1}]),
    ('{```json\n"a":1\n```}', {"a": 1}),
    ('```json\n{"a":1}\n}\n```', {"a": 1}),
    ('Sure!\n\n```json\n{"a": [1,2]}\n```\nLet me know [1] if it\'s ok.', {"a": [1, 2]}),
    ("```python\nx = {'no': 1}\n```\n```json\n{\"yes\": 1}\n```", {"yes": 1}),
    ('```json\n{"a":1}\n```\nand\n```json\n{"b":2}\n```', [{"a": 1}, {"b": 2}]),
    ('Set {"x": 0} aside:\n```json\n{"a":1}\n```', {"a": 1}),
    ('{"a": "```json\\n{}\\n```",}', {"a": "```json\n{}\n```"}),
    ("'''json\n{\"a\":1}\n'''", {"a": 1}),
    ('"""\n{"a": "b"}\n"""', {"a": "b"}),
    ("``json\n[1]\n``", [1]),
    ('```json\n"x"\n```', "x"),
]

PROSE = [
    ('Here is the result: {"a":1} Hope this helps', {"a": 1}),
    ("Sure! Here's the JSON, as \"requested\":\n{'a': [1, 2,]}\nDone.", {"a": [1, 2]}),
    ('{"a":1} Hope this helps!', {"a": 1}),
    ('{"a":1}\nHope this helps: let me know', {"a": 1}),
    ('{"a":1}\n"quoted" remark', {"a": 1}),
    ("The answer is [1, 2, 3].", [1, 2, 3]),
    ('I filled {name} and [this] in: {"a":1}', {"a": 1}),
    ('As shown in [1], it is {"a":1}', {"a": 1}),
    ('[INFO] {"a":1}', {"a": 1}),
    ('- [x] done {"a": 1}', {"a": 1}),
    ("x = [1]", [1]),
    ('<tool_call>\n{"name": "f"}\n</tool_call>', {"name": "f"}),
    ('<think>maybe {"x":1}</think>\n{"a":1}', {"a": 1}),
    ('data: {"a":1}\n\ndata: {"b":2}\n\ndata: [DONE]', [{"a": 1}, {"b": 2}]),
    ('1. {"a":1}\n2. {"b":2}', [{"a": 1}, {"b": 2}]),
    ('{"a":1} and also {"b":2}', [{"a": 1}, {"b": 2}]),
    ('json\n{"a": 1}', {"a": 1}),
    ('JSON: {"a": "b', {"a": "b"}),
    ("Result(s): {a: 1}", {"a": 1}),
    ("callback {}", {}),
    ('{"a": "b", SOME COMMENT "c": "d"}', {"a": "b", "c": "d"}),
    ('{"a": "b" STRAY }', {"a": "b"}),
    ('It uses `{}`. Result: {"x": [1, {"y": null}]} - done!', {"x": [1, {"y": None}]}),
    ('I set {x}, "as asked", to: {"a":1}', {"a": 1}),
    ('<thinking>maybe {"x":1}</thinking>\n{"a":1}', {"a": 1}),
    ('<think>{"x":1}</think>{"a":"</think>"}', {"a": "</think>"}),
    ('window["data"]["x"] = {"a": 1};', {"a": 1}),
    ('see ["a", "b"]', ["a", "b"]),
    ('{"a": 1}\n(END)', {"a": 1}),
]

PLAIN = [
    ("hello", "hello"),
    ("hello world", "hello world"),
    ("name: Ada\nage: 36 years", "name: Ada\nage: 36 years"),
    ("apples, pears", ["apples", "pears"]),
]

NOTHING = [
    "",
    " ",
    "\n\t\r",
    "\ufeff",
    "// only",
    "/* only */",
    "# only",
    ",",
    ",,,",
    ":",
    "}",
    "]]",
    "...",
    "```",
    "--",
    ")]}'",
    "for(;;);",
    "Hello, how are you today?",
    "The answer is 42.",
    "I am sorry, but I cannot share this list",
    "No results were found.\nPlease try another date.",
    "\u5bf9\u4e0d\u8d77\u3002",
]

SWALLOWING = [
    ('{"a": {"b": 1 // one }, "c": 2}', {"a": {"b": 1}, "c": 2}),
    ('{"a": {"b": 1 # one }, "c": 2}', {"a": {"b": 1}, "c": 2}),
    ('{"a": {"b": 1 /* one }, "c": 2}', {"a": {"b": 1}, "c": 2}),
    ('{"a": [1, // see {x} ]\n, "c": 2}', {"a": [1], "c": 2}),
    ('{"a": {"b": 1 // one }\n, "c": 2}', {"a": {"b": 1}, "c": 2}),
    ('{"a": 1,\n// "b": {\n//   "c": 2\n// },\n"d": 3}', {"a": 1, "d": 3}),
    ('{"a": 1, // was {"b": 2}\n"d": 3}', {"a": 1, "d": 3}),
    ('{"a": 1 // see } there\n, "d": 3}', {"a": 1, "d": 3}),
]


@each(("text", "value"), SWALLOWING)
def test_a_comment_does_not_swallow_the_brackets_that_a_document_needs(text: str, value: Any) -> None:
    """A document without its line breaks keeps the keys after a comment."""
    assert repair(text).value == value


@each(("text", "value"), FENCED)
def test_code_blocks(text: str, value: Any) -> None:
    """A code block is worth its JSON, closed or not, and more than the text around it."""
    assert repair(text).value == value


@each(("text", "value"), PROSE)
def test_prose(text: str, value: Any) -> None:
    """Of prose only the JSON counts."""
    assert repair(text).value == value


@each(("text", "value"), PLAIN)
def test_plain_text(text: str, value: Any) -> None:
    """Text without JSON is a string, and single words between commas or on lines are an array."""
    assert repair(text).value == value


@each("text", NOTHING)
def test_nothing(text: str) -> None:
    """Blanks, comments, punctuation and sentences have no value."""
    with pytest.raises(NotRepairable) as caught:
        repair(text)
    assert caught.value.reason == "not_repairable"
