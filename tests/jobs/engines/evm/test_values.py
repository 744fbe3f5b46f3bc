"""Addresses, numbers, data and texts as callers and contracts write them."""

import pytest
from eth_utils import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.evm import address, quantity, text
from shared.endpoint import InvalidField
from tests.each import each

USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


@given(st.binary(min_size=20, max_size=20))
def test_checksums_are_those_of_eip_55(raw: bytes) -> None:
    """eth-utils is the second opinion."""
    assert address.checksummed("0x" + raw.hex()) == to_checksum_address(raw)


@each("written", [USDC, USDC.lower(), "0x" + USDC[2:].upper(), "0X" + USDC[2:].upper()])
def test_any_case_is_accepted(written: str) -> None:
    """Lower, upper, and the right checksum."""
    assert address.parse(written, field="token") == USDC.lower()


def test_a_wrong_checksum_is_refused_with_the_right_one() -> None:
    """A mistyped address is caught before anything is paid."""
    with pytest.raises(InvalidField) as refused:
        address.parse("0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913", field="token")
    assert refused.value.code == "invalid_address"
    assert refused.value.field == "token"
    assert refused.value.suggestions == (USDC,)
    assert USDC in refused.value.detail


@each("written", ["", "0x", USDC[2:], USDC + "0", USDC[:-1], "vitalik.eth", "0x" + "g" * 40, " " + USDC])
def test_what_is_no_address_is_refused(written: str) -> None:
    """Names, and other lengths."""
    with pytest.raises(InvalidField) as refused:
        address.parse(written, field="token")
    assert refused.value.code == "invalid_address"


@given(st.integers(0, 2**256 - 1))
def test_numbers_are_read_in_decimal_and_hex(number: int) -> None:
    """Both forms mean the same."""
    assert quantity.parse_uint256(str(number), field="n") == number
    assert quantity.parse_uint256(hex(number), field="n") == number


@each("written", ["", "-1", "1.5", "0x", "1e18", str(2**256), "0x1" + "0" * 64, "١", "1_000", " 1"])
def test_other_numbers_are_refused(written: str) -> None:
    """Too large, negative, broken, of other scripts."""
    with pytest.raises(InvalidField):
        quantity.parse_uint256(written, field="n")


@each("written", ["", "0x0", "abcd", "0xzz", "0x" + "00" * (128 * 1024 + 1)])
def test_other_data_is_refused(written: str) -> None:
    """Odd, without a prefix, not hex, or too long."""
    with pytest.raises(InvalidField):
        quantity.parse_data(written, field="data")


@given(st.integers(0, 2**256 - 1), st.integers(0, 255))
def test_formatted_amounts_are_exact(amount: int, decimals: int) -> None:
    """Nothing is rounded, nothing is superfluous."""
    shown = quantity.formatted(amount, decimals)
    whole, _, fraction = shown.partition(".")
    assert int(whole + fraction.ljust(decimals, "0")) == amount
    assert not fraction.endswith("0")
    assert whole == "0" or not whole.startswith("0")


@each(
    ("raw", "shown"),
    [
        ("USDC", "USDC"),
        ("US\u200bDC", "USDC"),
        ("\u202eCDSU", "CDSU"),
        ("A\nB\tC", "A B C"),
        ("\u2066evil\u2069", "evil"),
        ("x" * 100, "x" * 32),
        ("Z\u0300\u0301\u0302\u0303", "Z\u0300"),
        ("\ufeff\u00ad\u3164", ""),
        ("USD₮0", "USD₮0"),
        ("猫", "猫"),
        ("\U000e0041\U000e0042", ""),
    ],
)
def test_nothing_hides_in_a_text(raw: str, shown: str) -> None:
    """Control, bidirectional, zero-width and blank characters go; 32 characters stay."""
    assert text.clean(raw) == shown


@given(st.text())
def test_clean_text_is_stable_and_short(raw: str) -> None:
    """Cleaning twice changes nothing."""
    once = text.clean(raw)
    assert len(once) <= 32
    assert text.clean(once) == once
    assert once.isprintable()
