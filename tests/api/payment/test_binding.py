"""Tokens that bind a payment to a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.payment.binding import LIFE_S, TOKEN_CHARS, Binder, expiry
from tests.each import each

MASTER = bytes(range(32))
BINDER = Binder(MASTER)
NOW = 1_790_000_000
BODY = b'{"message": "a"}'


def test_a_token_is_good_for_its_request() -> None:
    """For ten minutes, and in every process of the installation."""
    token = BINDER.token("echo", BODY, NOW)

    assert len(token) == TOKEN_CHARS
    for then in (NOW, NOW + LIFE_S):
        assert Binder(MASTER).binds(token, "echo", BODY, then)
    assert not BINDER.binds(token, "echo", BODY, NOW + LIFE_S + 3)


def test_its_end_can_be_read() -> None:
    """The last second in which it is good."""
    token = BINDER.token("echo", BODY, NOW)

    assert [BINDER.binds(token, "echo", BODY, expiry(token) + late) for late in (0, 1)] == [True, False]
    assert expiry(token[:-1]) == 0


@each(
    ("endpoint", "body"),
    [("echo", BODY + b" "), ("echo", b""), ("faker", BODY), ("ech", b"o" + BODY)],
    ids=["another body", "no body", "another endpoint", "its name cut elsewhere"],
)
def test_another_request_is_not_its_request(endpoint: str, body: bytes) -> None:
    """Not even of the same price."""
    assert not BINDER.binds(BINDER.token("echo", BODY, NOW), endpoint, body, NOW)


@pytest.mark.parametrize("asked_with", [None, b""], ids=["a body that was not looked at", "no body"])
def test_a_price_that_was_asked_without_a_body_is_good_for_any(asked_with: bytes | None) -> None:
    """Of its endpoint."""
    token = BINDER.token("echo", asked_with, NOW)

    assert BINDER.binds(token, "echo", BODY, NOW)
    assert BINDER.binds(token, "echo", b"", NOW)
    assert not BINDER.binds(token, "faker", BODY, NOW)


def test_no_two_are_the_same() -> None:
    """Each pays once."""
    assert len({BINDER.token("echo", BODY, NOW) for _ in range(1_000)}) == 1_000


def test_another_installation_has_other_tokens() -> None:
    """With a key of its own."""
    assert not Binder(bytes(32)).binds(BINDER.token("echo", BODY, NOW), "echo", BODY, NOW)


@given(at=st.integers(0, TOKEN_CHARS - 1), by=st.characters(codec="utf-8"))
def test_a_changed_token_is_none(at: int, by: str) -> None:
    """Whatever it is changed to, and wherever; nothing is raised."""
    token = BINDER.token("echo", BODY, NOW)
    changed = token[:at] + by + token[at + 1 :]

    assert BINDER.binds(changed, "echo", BODY, NOW) is (changed == token)


@each("write", [str.upper, lambda t: t + "=", lambda t: t + "\n", lambda t: f" {t}", lambda t: t[:-4]])
def test_a_token_has_one_form(write: object) -> None:
    """The ledger knows it by its text."""
    assert callable(write)
    assert not BINDER.binds(write(BINDER.token("echo", BODY, NOW)), "echo", BODY, NOW)
    for alias in (BINDER.token("echo", BODY, NOW).replace("-", "+").replace("_", "/") for _ in range(50)):
        assert BINDER.binds(alias, "echo", BODY, NOW) is not ({"+", "/"} & set(alias) != set())


@given(st.text(max_size=100))
def test_anything_else_is_no_token(text: str) -> None:
    """And no error."""
    assert not BINDER.binds(text, "echo", BODY, NOW)


def test_a_token_of_the_previous_key_is_taken() -> None:
    """Until that key is gone. New tokens are of the current key."""
    both = Binder(bytes(32), MASTER)
    assert both.binds(BINDER.token("echo", BODY, NOW), "echo", BODY, NOW)
    assert not both.binds(BINDER.token("echo", BODY, NOW), "faker", BODY, NOW)
    assert Binder(bytes(32)).binds(both.token("echo", BODY, NOW), "echo", BODY, NOW)
