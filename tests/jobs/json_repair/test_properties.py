"""What holds for any text at all."""

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.json_repair import NotRepairable, Repaired, repair
from jobs.json_repair.document import Document
from jobs.json_repair.source import Source
from tests.each import each
from tests.jobs.json_repair.texts import TOKENS

JUNK = st.lists(st.sampled_from(TOKENS), max_size=40).map("".join) | st.text(max_size=60)


def _containers(text: st.SearchStrategy[str], leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=12
    )
    return st.lists(values, min_size=1, max_size=4) | st.dictionaries(text, values, min_size=1, max_size=4)


SCALARS = st.none() | st.booleans() | st.integers()
TRICKY = st.text(alphabet="ab \"'\\{}[],:/#`\n.+-()1=;<>\u201c\u2019é😀", max_size=12)
LEAVES = SCALARS | st.floats(allow_nan=False, allow_infinity=False) | TRICKY
CONTAINERS = _containers(TRICKY, LEAVES)
PLAIN = st.text(alphabet="ab 1.é😀'", max_size=12)
PLAIN_CONTAINERS = _containers(PLAIN, SCALARS | PLAIN)


def _repaired(text: str) -> Repaired | None:
    try:
        return repair(text)
    except NotRepairable:
        return None


@given(st.recursive(LEAVES | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)), st.booleans())
def test_valid_json_is_left_alone(value: Any, ascii_only: bool) -> None:
    """What json.dumps writes comes back equal and unmodified."""
    repaired = repair(json.dumps(value, ensure_ascii=ascii_only))
    assert repaired.value == value
    assert not repaired.was_modified


@settings(max_examples=1000)
@given(JUNK)
def test_any_text_is_answered(text: str) -> None:
    """Any text gives a value or NotRepairable, never another error; the value encodes, and needs no repair again."""
    repaired = _repaired(text)
    if repaired is None:
        return
    again = repair(msgspec.json.encode(repaired.value).decode())
    assert again.value == repaired.value
    assert not again.was_modified
    assert repaired.was_modified == bool(repaired.repairs)


@given(CONTAINERS, st.sampled_from([None, 2]), st.booleans())
def test_the_repairer_reads_valid_json_as_json(value: Any, indent: int | None, ascii_only: bool) -> None:
    """Within prose valid JSON meets the rules for broken JSON, and they change nothing."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert Document(Source(text)).read() == value
    assert repair(f"```json\n{text}\n```").value == value
    assert repair(f"callback({text});").value == value
    if isinstance(value, dict):
        assert repair(f"Here is the result: {text} Hope this helps!").value == value


@given(CONTAINERS)
def test_python_reprs_are_read(value: Any) -> None:
    """What Python's repr writes of a JSON value has that value."""
    assert repair(repr(value)).value == value


@given(CONTAINERS)
def test_escaped_documents_are_read(value: Any) -> None:
    """A document that lost the quotes around it, but not their escapes, has its value."""
    assert repair(json.dumps(json.dumps(value))[1:-1]).value == value


@given(st.lists(CONTAINERS, min_size=2, max_size=4))
def test_lines_of_json_are_an_array(values: list[Any]) -> None:
    """NDJSON becomes an array of its lines."""
    assert repair("\n".join(map(json.dumps, values))).value == values


@given(PLAIN_CONTAINERS, st.data())
def test_a_cut_off_document_keeps_what_came_before(value: Any, data: st.DataObject) -> None:
    """However short a document is cut, what is left is a container of the same type.

    Of documents whose strings hold no brackets: in a string that lost its end, a bracket can be read as either.
    """
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text)))
    assert isinstance(repair(text[:cut]).value, type(value))


DOCUMENT = {
    "id": "ord_1",
    "items": [
        {"sku": "A-1", "qty": 2, "text": 'A 5" pipe, "new": {x} and [y]'},
        {"sku": "B", "tags": ["a, b", "{c}", "d: e"]},
    ],
    "code": 'def f(a):\n    return {"a": [a]}\n\nprint(f("x"), "y")\n',
    "html": '<a href="https://x.y/?a=1&b=2">l</a>, \\ it\'s',
    "uni": ["王", "😀 \u2028", -1.5e-7, True, None, {}],
}


def _begins(part: Any, whole: Any) -> bool:
    """Whether a value is another one cut off: all of it but its last member or element is the same."""
    if isinstance(whole, dict) and isinstance(part, dict):
        *complete, last = list(part) or [""]
        keys = list(whole)
        same = complete == keys[: len(complete)] and all(part[key] == whole[key] for key in complete)
        following = keys[len(complete) : len(complete) + 1] or [""]
        cut_key = following[0].startswith(last) and part.get(last) is None
        return same and (cut_key or (last == following[0] and _begins(part[last], whole[last])))
    if isinstance(whole, list) and isinstance(part, list):
        n = max(0, len(part) - 1)
        return part[:n] == whole[:n] and (not part or _begins(part[n], whole[n]))
    if isinstance(whole, str) and isinstance(part, str):
        return whole.startswith(part)
    return part is None or part == whole or (isinstance(part, int | float) and isinstance(whole, int | float))


@each("indent", [None, 2])
@each("ascii_only", [True, False])
@each("before", ["", "Here it is:\n```json\n"])
def test_a_document_may_be_cut_off_anywhere(indent: int | None, ascii_only: bool, before: str) -> None:
    """Wherever a document is cut off, all that was complete is there, and nothing that was not said."""
    text = json.dumps(DOCUMENT, indent=indent, ensure_ascii=ascii_only)
    wrong = [text[:cut] for cut in range(1, len(text)) if not _begins(repair(before + text[:cut]).value, DOCUMENT)]
    assert wrong == []
