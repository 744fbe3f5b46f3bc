"""No text that reaches the dashboard can become HTML."""

from hypothesis import given
from hypothesis import strategies as st

from ops.rq_keys import MOST_CHARS, MOST_ID_CHARS, plain, plain_id
from tests.each import each


@given(st.text())
def test_nothing_that_means_something_is_left(text: str) -> None:
    """In HTML, in attributes, in scripts, in templates, in shells."""
    assert not set(plain(text)) & set("<>&\"'`%\\;(){}[]$\n\r\0")
    assert len(plain(text)) <= MOST_CHARS
    assert len(plain_id(text)) <= MOST_ID_CHARS
    assert not set(plain_id(text)) & set("<>&\"'`%\\;(){}[]$:/. \n\0")
    assert plain_id(text)


@each(
    "text",
    ["chain/erc20-balance", "eip155:8453:0x8335…2913:0xab", "6f1c.a_b-c", "2026-11-22T14:05:01.1+00:00", "code=a, b"],
)
def test_our_own_texts_are_unchanged(text: str) -> None:
    """Endpoints, ids, times and causes."""
    assert plain(text) == text


def test_ids_of_jobs_are_unchanged() -> None:
    """They are found by them."""
    assert plain_id("0f" * 16) == "0f" * 16
    assert plain_id("../a:b") == "___a_b"
    assert plain_id("") == "_"
