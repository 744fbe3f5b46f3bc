"""Addresses: both forms, and what looks like one. xrpl-py is the second opinion."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xrpl.core import addresscodec
from xrpl.wallet import Wallet

from jobs.xrpl_wallet_watch import addresses
from jobs.xrpl_wallet_watch.addresses import NotAnAddress, Recipient
from jobs.xrpl_wallet_watch.endpoint import EXAMPLE_ADDRESS, Request
from shared.endpoint import InvalidField
from shared.x402.xrpl_keys import address
from tests.each import each

X_ADDRESS = addresscodec.classic_address_to_xaddress(EXAMPLE_ADDRESS, 7, False)


@given(st.binary(min_size=20, max_size=20), st.none() | st.integers(0, 2**32 - 1))
def test_an_x_address_is_an_address_with_a_tag(account: bytes, tag: int | None) -> None:
    """As xrpl-py writes it."""
    classic = address(account)
    assert addresses.read(classic) == Recipient(classic, None)
    written = addresscodec.classic_address_to_xaddress(classic, tag, False)
    assert addresses.read(written) == Recipient(classic, tag)


@each(
    ("text", "sentence"),
    [
        (EXAMPLE_ADDRESS[:-1] + "B", "checksum"),
        (X_ADDRESS[:-1] + "3", "checksum"),
        ("r" + X_ADDRESS, "checksum"),
        (EXAMPLE_ADDRESS + " ", "start with r or X"),
        (addresscodec.classic_address_to_xaddress(EXAMPLE_ADDRESS, 7, True), "test network"),
        (Wallet.from_entropy("00" * 16).seed, "secret seed"),
        ("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "start with r or X"),
        ("é" * 40, "start with r or X"),
    ],
)
def test_what_is_no_address_is_refused_with_the_reason(text: str, sentence: str) -> None:
    """Without the text itself, which might be a secret."""
    with pytest.raises(NotAnAddress, match=sentence) as refused:
        addresses.read(text)
    assert text not in str(refused.value)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"address": "r" * 40}, "address"),
        ({"address": EXAMPLE_ADDRESS, "allowedDestinations": [EXAMPLE_ADDRESS, "rx"]}, "allowedDestinations"),
    ],
)
def test_a_request_with_one_is_refused_unpaid(body: object, field: str) -> None:
    """With the field and its code."""
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(body, Request)
    cause = refused.value.__cause__
    assert isinstance(cause, InvalidField)
    assert (cause.field, cause.code) == (field, "invalid_address")


@each("fields", [{"address": ""}, {"minCallsRemaining": -1}, {"allowedDestinations": [EXAMPLE_ADDRESS] * 101}])
def test_bounds_are_checked_before_the_payment(fields: dict[str, object]) -> None:
    """Lengths and numbers have limits."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"address": EXAMPLE_ADDRESS} | fields, Request)
