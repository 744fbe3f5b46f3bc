"""What is sealed opens with the same key for the same purpose, and in no other way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.sealing.sealing import Sealer, Unsealable, derive

KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
SEALER = Sealer(KEY)
PLAIN, BOUND = b"a secret body", b"job|echo"


@given(st.binary(max_size=2_000), st.binary(max_size=100))
def test_round_trip(plain: bytes, bound_to: bytes) -> None:
    """Also by another process that read the same key file."""
    assert Sealer(KEY).open(SEALER.seal(plain, bound_to), bound_to) == plain


def test_nothing_else_opens() -> None:
    """Neither another key or binding, nor a text with a byte changed, missing or added at any place."""
    sealed = SEALER.seal(PLAIN, BOUND)
    flipped = (
        sealed[:at] + bytes([sealed[at] ^ flip]) + sealed[at + 1 :]
        for at in range(len(sealed))
        for flip in (0x01, 0x80, 0xFF)
    )
    cut = (sealed[:length] for length in range(len(sealed)))
    for changed in (*flipped, *cut, sealed + b"\0", b"\0" + sealed, sealed * 2):
        with pytest.raises(Unsealable):
            SEALER.open(changed, BOUND)
    for bound_to in (b"", b"job|faker", b"other|echo", BOUND + b"\0", BOUND[:-1]):
        with pytest.raises(Unsealable):
            SEALER.open(sealed, bound_to)
    with pytest.raises(Unsealable):
        Sealer(OTHER_KEY).open(sealed, BOUND)


@given(st.binary(max_size=200))
def test_garbage_does_not_open(garbage: bytes) -> None:
    """Whatever its length."""
    with pytest.raises(Unsealable):
        SEALER.open(garbage, BOUND)


def test_a_refusal_shows_nothing() -> None:
    """Neither the text nor the exception's chain has any of it."""
    with pytest.raises(Unsealable) as caught:
        SEALER.open(SEALER.seal(PLAIN, BOUND), b"another job")

    assert caught.value.__suppress_context__
    assert "secret" not in str(caught.value)


def test_the_same_twice_looks_different() -> None:
    """A fresh nonce each time: nobody sees that two callers sent the same."""
    sealed = {SEALER.seal(PLAIN, BOUND) for _ in range(1_000)}

    assert len({one[:12] for one in sealed}) == 1_000
    assert all(PLAIN not in one for one in sealed)


def test_each_purpose_has_its_own_key() -> None:
    """Derived keys are 32 bytes, repeatable, and show nothing of each other or of the key file's."""
    keys = {derive(master, purpose) for master in (KEY, OTHER_KEY) for purpose in ("", "a", "b", "job-arguments")}

    assert len(keys | {KEY, OTHER_KEY}) == 10
    assert {len(key) for key in keys} == {32}
    assert derive(KEY, "a") == derive(KEY, "a")


def test_a_purpose_that_is_too_long_is_an_error() -> None:
    """It would be cut short, and two purposes could share a key."""
    with pytest.raises(ValueError, match="person"):
        derive(KEY, "a" * 17)
    with pytest.raises(UnicodeEncodeError):
        derive(KEY, "é")


def test_keys_are_not_shown() -> None:
    """repr() of a sealer has nothing of its key."""
    assert KEY.hex() not in repr(SEALER)
    assert derive(KEY, "job-arguments").hex() not in repr(SEALER)


def test_the_previous_key_opens_and_seals_nothing() -> None:
    """What it sealed is distinguished from what the current key sealed. A third key opens neither."""
    both = Sealer(OTHER_KEY, previous=KEY)
    assert both.opened(SEALER.seal(PLAIN, BOUND), BOUND) == (PLAIN, True)
    assert both.opened(both.seal(PLAIN, BOUND), BOUND) == (PLAIN, False)
    assert Sealer(OTHER_KEY).open(both.seal(PLAIN, BOUND), BOUND) == PLAIN
    with pytest.raises(Unsealable):
        both.open(Sealer(bytes(32)).seal(PLAIN, BOUND), BOUND)
