"""echo says back exactly what it was sent."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.echo import ENDPOINT
from jobs.ports import Context
from shared.outcome import Ok
from tests.each import each
from workers.execute import execute


def said(body: bytes) -> object:
    """`youSent` of the answer to a body."""
    answer = execute(ENDPOINT, body, Context(payer="0x0"))
    assert isinstance(answer, Ok)
    content = json.loads(answer.body)
    assert content.keys() == {"ok", "service", "youSent"}
    assert (content["ok"], content["service"]) == (True, "coinslot")
    return content["youSent"]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=500))
def test_any_text_comes_back_as_it_was(text: str) -> None:
    """NUL, right-to-left marks, combining characters and emoji included, however JSON writes them."""
    assert said(json.dumps({"message": text}).encode()) == text
    assert said(json.dumps({"message": text}, ensure_ascii=False).encode()) == text


@each("body", [b"", b"{}", b'{"message": null}', b'{"other": 1}'])
def test_no_message_is_null(body: bytes) -> None:
    """An absent body, an absent message and null are the same; other fields are ignored."""
    assert said(body) is None


def test_an_empty_message_is_not_null() -> None:
    """The empty string is a message."""
    assert said(b'{"message": ""}') == ""


@pytest.mark.parametrize("text", ["x" * 500, "😀" * 500, "e\u0301" * 250])
def test_five_hundred_code_points_are_allowed(text: str) -> None:
    """Code points, not bytes or UTF-16 units."""
    assert said(json.dumps({"message": text}).encode()) == text


@each(
    "body",
    [
        json.dumps({"message": "x" * 501}).encode(),
        json.dumps({"message": "😀" * 501}).encode(),
        b"[]",
        b"null",
    ],
)
def test_anything_else_is_refused_before_payment(body: bytes) -> None:
    """By the request's declaration, which the API decodes before it settles."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(body, type=ENDPOINT.request)
