"""Base58 and token accounts, by solders' judgement."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from solders.pubkey import Pubkey
from solders.signature import Signature

from shared.x402.solana import SMALL_ORDER
from shared.x402.solana_address import (
    decode_base58,
    encode_base58,
    is_address,
    is_on_curve,
    may_be_token_account,
    token_account,
)
from tests.each import each
from tests.solana_signing import ata

keys = st.binary(min_size=32, max_size=32)


@given(keys)
def test_base58_is_solders(raw: bytes) -> None:
    """Both ways, leading zeros included."""
    for some in (raw, bytes(5) + raw[5:], bytes(32)):
        assert encode_base58(some) == str(Pubkey(some))
        assert decode_base58(str(Pubkey(some)), 32) == some


@given(st.binary(min_size=64, max_size=64))
def test_signatures_are_base58_too(raw: bytes) -> None:
    """Of 64 bytes."""
    assert encode_base58(raw) == str(Signature(raw))
    assert decode_base58(str(Signature(raw)), 64) == raw


@given(st.text(alphabet="123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", max_size=70))
def test_what_is_decoded_has_one_spelling(text: str) -> None:
    """Whatever decodes to 32 bytes is how they are encoded, and solders decodes it alike; the rest is no address for both."""
    if is_address(text):
        assert encode_base58(decode_base58(text, 32)) == text
        assert bytes(Pubkey.from_string(text)) == decode_base58(text, 32)
    else:
        with pytest.raises(ValueError, match=r"."):
            Pubkey.from_string(text)


@each(
    "text",
    [
        "",
        "0" * 32,
        "1" * 31,
        "1" * 33,
        "1" * 10**6,
        "z" * 44,
        "l" * 43,
        " " + "1" * 31,
        "1" * 31 + "\n",
        "Ⅰ" * 32,
        None,
        1,
        b"1" * 32,
    ],
)
def test_what_is_no_address_is_none(text: object) -> None:
    """However long it is."""
    assert not is_address(text)


@given(keys)
def test_the_curve_is_solders(raw: bytes) -> None:
    """A key may be behind it or not."""
    assert is_on_curve(raw) == Pubkey(raw).is_on_curve()


@each("y", [0, 1, 2, 3, 2**255 - 20, 2**255 - 19, 2**255 - 18, 2**255 - 1])
@each("sign", [0, 1 << 255])
def test_the_curve_at_its_ends_is_solders(y: int, sign: int) -> None:
    """Where x is 0, and where y is written in a longer form."""
    raw = (y | sign).to_bytes(32, "little")
    assert is_on_curve(raw) == Pubkey(raw).is_on_curve()


@given(keys, keys)
def test_token_accounts_are_solders(owner: bytes, mint: bytes) -> None:
    """The account, and that it may be one."""
    assume(owner != mint)
    expected = bytes(ata(Pubkey(owner), Pubkey(mint)))
    assert token_account(owner, mint) == expected
    assert may_be_token_account(expected, owner, mint)
    assert not may_be_token_account(expected, mint, owner)
    assert not may_be_token_account(owner, owner, mint)


def test_the_small_orders_are_all() -> None:
    """Eight times each of these points is the neutral element, and there are seven ways to write their y in 255 bits."""
    p = 2**255 - 19
    d = -121665 * pow(121666, -1, p) % p

    def double_y(y: int) -> int:
        # y of 2P from y of P alone: x² follows from the curve's equation.
        x2 = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
        return (y * y + x2) * pow(2 - (y * y - x2), -1, p) % p

    for y in SMALL_ORDER:
        assert double_y(double_y(double_y(y % p))) == 1
    assert len({y % p for y in SMALL_ORDER}) == 5  # of one, two, four and twice of eight
    assert all(y + p >= 1 << 255 for y in SMALL_ORDER if y > 1)
