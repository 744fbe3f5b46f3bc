"""Our codec of XRPL transactions against xrpl-py: what ours takes, both read alike; and there is one way to write anything."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xrpl.core.binarycodec import decode as sdk_decode
from xrpl.core.binarycodec import encode as sdk_encode
from xrpl.core.binarycodec import encode_for_signing

from shared.x402 import xrpl_binary
from shared.x402.xrpl_binary import Drops, Foreign, Issued, Unreadable, decode, encode, encoded_value
from shared.x402.xrpl_keys import account_id, address, is_address
from tests.each import each

ACCOUNT = "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe"
CURRENCIES = ["524C555344000000000000000000000000000000", "5553444300000000000000000000000000000000", "USD"]

accounts = st.binary(min_size=20, max_size=20).map(address)
uint32 = st.integers(0, 2**32 - 1)
blobs = st.binary(max_size=300).map(lambda raw: raw.hex().upper())
drops = st.integers(0, 10**17).map(str)
values = st.builds(
    lambda digits, scale: format(Decimal(digits).scaleb(-scale), "f"), st.integers(1, 10**15), st.integers(0, 20)
)
tokens = st.fixed_dictionaries({"currency": st.sampled_from(CURRENCIES), "issuer": accounts, "value": values})
memos = st.lists(
    st.fixed_dictionaries({"MemoData": blobs}, optional={"MemoType": blobs, "MemoFormat": blobs}).map(
        lambda memo: {"Memo": memo}
    ),
    max_size=2,
)
transactions = st.fixed_dictionaries(
    {"TransactionType": st.just("Payment")},
    optional={
        "NetworkID": uint32,
        "Flags": uint32,
        "SourceTag": uint32,
        "Sequence": uint32,
        "DestinationTag": uint32,
        "LastLedgerSequence": uint32,
        "TicketSequence": uint32,
        "InvoiceID": st.binary(min_size=32, max_size=32).map(lambda raw: raw.hex().upper()),
        "Amount": drops | tokens,
        "Fee": drops,
        "SendMax": drops | tokens,
        "SigningPubKey": blobs,
        "TxnSignature": blobs,
        "Account": accounts,
        "Destination": accounts,
        "Memos": memos,
    },
)


def as_json(fields: dict[str, Any]) -> dict[str, Any]:
    """Our fields as xrpl-py writes them."""
    written: dict[str, Any] = {}
    for name, value in fields.items():
        match value:
            case Drops(drops):
                written[name] = str(drops)
            case Issued(value, currency, issuer):
                code = currency.hex().upper()
                iso = currency[12:15].decode("latin-1") if not any(currency[:12] + currency[15:]) else ""
                written[name] = {"currency": iso or code, "issuer": address(issuer), "value": value}
            case list():
                written[name] = [{"Memo": {key: raw.hex().upper() for key, raw in memo.items()}} for memo in value]
            case bytes():
                written[name] = address(value) if name in ("Account", "Destination") else value.hex().upper()
            case _:
                written[name] = value
    written["TransactionType"] = "Payment"
    return written


def comparable(fields: dict[str, Any]) -> dict[str, Any]:
    """Values as decimals."""
    return {
        name: {**value, "value": Decimal(str(value["value"]))} if isinstance(value, dict) else value
        for name, value in fields.items()
    }


@given(transactions)
def test_what_the_sdk_writes_ours_reads(fields: dict[str, Any]) -> None:
    """The same values, the same bytes back, and the same bytes to sign."""
    blob = bytes.fromhex(sdk_encode(fields))
    read = decode(blob)
    assert comparable(as_json(read.fields)) == comparable(fields)
    assert encode(read.fields) == blob
    assert read.signed.hex().upper() == encode_for_signing(fields)


@given(transactions, st.data())
def test_what_ours_takes_the_sdk_reads_alike(fields: dict[str, Any], data: st.DataObject) -> None:
    """Given bytes that were changed anywhere, ours refuses them or both read the same, and write them the same."""
    raw = bytearray.fromhex(sdk_encode(fields))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
        if not raw:
            return
    try:
        read = decode(bytes(raw))
    except Unreadable:
        return
    blob = bytes(raw).hex().upper()
    if read.fields.get("TransactionType") != 0 or not _is_for_the_sdk(read.fields):
        return
    assert sdk_encode(sdk_decode(blob)) == blob
    assert comparable(sdk_decode(blob)) == comparable(as_json(read.fields))


def _is_for_the_sdk(fields: dict[str, Any]) -> bool:
    """xrpl-py refuses, or writes differently, a few amounts and codes that no check of ours would let through."""
    for value in fields.values():
        if isinstance(value, Drops) and value.drops > 10**17:
            return False
        if isinstance(value, Issued) and (
            not any(value.currency) or value.currency[0] == 0 or not -81 <= value.value.adjusted() <= 80
        ):
            return False
    return True


@given(st.binary(max_size=200))
def test_anything_else_is_unreadable(raw: bytes) -> None:
    """No other exception, whatever the bytes."""
    try:
        read = decode(raw)
    except Unreadable:
        return
    assert encode(read.fields) == raw


def field(code: str, content: str) -> bytes:
    return bytes.fromhex(code + content)


NATIVE, TOKEN = "4000000000000001", "D4838D7EA4C68000" + "00" * 20 + "11" * 20


@each(
    ("blob", "why"),
    [
        (field("61", "0000000000000001"), "a negative amount of XRP"),
        (field("61", "6000000000000001"), "another kind of token"),
        (field("61", "94838D7EA4C68000" + "00" * 40), "a negative amount of a token"),
        (field("61", "8000000000000000" + "00" * 40), "zero of a token"),
        (field("61", "D4800000000F4240" + "00" * 40), "a mantissa with too few digits"),
        (field("61", "D4BFFFFFFFFFFFFF" + "00" * 40), "a mantissa with too many digits"),
        (field("61", "C0038D7EA4C68000" + "00" * 40), "an exponent below all"),
        (field("61", NATIVE[:-2]), "an amount cut off"),
        (field("61", TOKEN[:-2]), "a token cut off"),
        (field("8113", "00" * 19), "an account of 19 bytes"),
        (field("8115", "00" * 21), "an account of 21 bytes"),
        (field("8100", ""), "no account"),
        (field("73FF", "00" * 20), "a length of three bytes"),
        (field("73F1", "0000"), "a length of three bytes"),
        (field("7321", "00" * 32), "a key cut off"),
        (field("F9", ""), "memos without an end"),
        (field("F9", "EA7D0100"), "a memo without an end"),
        (field("F9", "E1F1"), "an end without a memo"),
        (field("F9", "EA7D0100" + "7D0100" + "E1F1"), "data twice"),
        (field("F9", "EA7E01007D0100E1F1"), "data after format"),
        (field("F9", "EA7301AAE1F1"), "a key in a memo"),
        (field("F9", "EAE1" * 3 + "F1"), "three memos"),
        (field("24", "00000001") + field("22", "00000000"), "flags after sequence"),
        (field("22", "00000000") * 2, "flags twice"),
        (b"\x20", "half a header"),
        (b"\x20\x04\x00\x00\x00\x01", "a header longer than it need be"),
        (b"\x00", "no header"),
        (bytes(xrpl_binary.MAX_BLOB_BYTES + 1), "too long"),
    ],
)
def test_what_has_another_form_is_unreadable(blob: bytes, why: str) -> None:
    """Every value has one way to be written."""
    with pytest.raises(Unreadable):
        decode(blob)


def test_a_field_that_does_not_belong_is_named_where_it_has_a_name() -> None:
    """Others are refused without one, before their contents are looked at."""
    for header, name in (("0112", "Paths"), ("6A", "DeliverMin"), ("8C", "Delegate"), ("F3", "Signers"), ("59", "")):
        with pytest.raises(Foreign) as caught:
            decode(bytes.fromhex("120000" + header))
        assert caught.value.field == name


def test_values_that_the_ledger_cannot_hold_are_not_written() -> None:
    """More than 16 digits, nothing, and what is below zero."""
    assert encoded_value(Decimal("0.010000")) == encoded_value(Decimal("0.01")) == bytes.fromhex("D4038D7EA4C68000")
    for text in ("0", "-1", "1.2345678901234567", "1e97", "1e-97", "NaN", "Infinity"):
        with pytest.raises(Unreadable):
            encoded_value(Decimal(text))


@given(st.binary(min_size=20, max_size=20))
def test_addresses_there_and_back(raw: bytes) -> None:
    """One text for each account."""
    assert account_id(address(raw)) == raw


@each(
    "text",
    ["", "r", ACCOUNT[:-1], ACCOUNT + "e", ACCOUNT[:-1] + "f", "r" + ACCOUNT, ACCOUNT.lower(), ACCOUNT[1:], "0" + ACCOUNT[1:],
     "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ", "snoPBrXtMeMyMHUVTgbuqAfg1SUTb", "é" * 30, "r" * 10**6, None, 5],
)  # fmt: skip
def test_other_texts_are_no_addresses(text: object) -> None:
    """Not an X-address, not a seed, not one with another checksum."""
    assert not is_address(text)
