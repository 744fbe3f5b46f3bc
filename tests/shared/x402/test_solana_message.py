"""The codec against solders: what ours reads, solders reads to the same values; everything else is Malformed, and soon."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import Message, MessageV0, to_bytes_versioned
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

from shared.x402.solana_message import MAX_TRANSACTION_BYTES, Malformed, Transaction, read_transaction
from tests.each import each
from tests.solana_signing import raw_of

_ACCOUNTS = st.builds(
    AccountMeta, st.binary(min_size=32, max_size=32).map(Pubkey), is_signer=st.just(False), is_writable=st.booleans()
)
_INSTRUCTIONS = st.lists(
    st.builds(
        Instruction,
        program_id=st.binary(min_size=32, max_size=32).map(Pubkey),
        data=st.binary(max_size=150),
        accounts=st.lists(_ACCOUNTS, max_size=3),
    ),
    max_size=4,
)
_PAYER = Keypair.from_seed(bytes(range(32)))


def written(transaction: Transaction) -> dict[str, Any]:
    """Ours, as comparable values."""
    message = transaction.message
    return {
        "signatures": transaction.signatures,
        "version": message.version,
        "header": (message.signers, message.readonly_signers, message.readonly_others),
        "keys": message.keys,
        "blockhash": message.blockhash,
        "instructions": [(one.program, one.accounts, one.data) for one in message.instructions],
        "lookups": [(one.table, one.writable, one.readonly) for one in message.lookups],
        "signed": transaction.signed,
    }


def by_solders(raw: bytes) -> dict[str, Any]:
    """The same of solders."""
    transaction = VersionedTransaction.from_bytes(raw)
    message, header = transaction.message, transaction.message.header
    lookups = message.address_table_lookups if isinstance(message, MessageV0) else []
    return {
        "signatures": tuple(map(bytes, transaction.signatures)),
        "version": 0 if isinstance(message, MessageV0) else None,
        "header": (
            header.num_required_signatures,
            header.num_readonly_signed_accounts,
            header.num_readonly_unsigned_accounts,
        ),
        "keys": tuple(map(bytes, message.account_keys)),
        "blockhash": bytes(message.recent_blockhash),
        "instructions": [(one.program_id_index, bytes(one.accounts), bytes(one.data)) for one in message.instructions],
        "lookups": [
            (bytes(one.account_key), bytes(one.writable_indexes), bytes(one.readonly_indexes)) for one in lookups
        ],
        "signed": to_bytes_versioned(message),
    }


@given(_INSTRUCTIONS, st.booleans())
def test_what_solders_writes_is_read(instructions: list[Instruction], legacy: bool) -> None:
    """Legacy and version 0, unless it is longer than a node takes."""
    message: Message | MessageV0
    if legacy:
        message = Message.new_with_blockhash(instructions, _PAYER.pubkey(), Hash.default())
    else:
        message = MessageV0.try_compile(_PAYER.pubkey(), instructions, [], Hash.default())
    raw = raw_of(message, [_PAYER])
    if len(raw) > MAX_TRANSACTION_BYTES:
        with pytest.raises(Malformed):
            read_transaction(raw)
    else:
        assert written(read_transaction(raw)) == by_solders(raw)


def with_table() -> bytes:
    """A transaction that takes two of its accounts from a table."""
    others = [Pubkey(bytes([n]) * 32) for n in range(1, 5)]
    table = AddressLookupTableAccount(Pubkey(bytes([9]) * 32), others)
    accounts = [AccountMeta(others[0], False, True), AccountMeta(others[1], False, False)]
    instruction = Instruction(Pubkey(bytes([7]) * 32), b"data", accounts)
    return raw_of(MessageV0.try_compile(_PAYER.pubkey(), [instruction], [table], Hash.default()), [_PAYER])


def payment() -> bytes:
    """Something of the size and shape of a payment."""
    others = [AccountMeta(Pubkey(bytes([n]) * 32), False, n % 2 == 0) for n in range(1, 4)]
    instructions = [Instruction(Pubkey(bytes([n]) * 32), bytes([n] * n), others[:n]) for n in range(11, 15)]
    return raw_of(MessageV0.try_compile(_PAYER.pubkey(), instructions, [], Hash.default()), [_PAYER])


GOOD = [payment(), with_table()]


@pytest.mark.parametrize("raw", GOOD, ids=["plain", "with a table"])
def test_tables_are_read(raw: bytes) -> None:
    """So that whoever reads knows that they are there."""
    assert written(read_transaction(raw)) == by_solders(raw)


@pytest.mark.parametrize("raw", GOOD, ids=["plain", "with a table"])
def test_every_changed_byte_is_read_alike_or_not_at_all(raw: bytes) -> None:
    """Each byte, set to some other values."""
    read = 0
    for at in range(len(raw)):
        for value in (0, 1, 2, 3, 0x7F, 0x80, 0x81, 0xFF, raw[at] ^ 1, (raw[at] + 1) % 256):
            read += read_alike(raw[:at] + bytes([value]) + raw[at + 1 :])
    assert read > len(raw)


@given(st.data())
def test_what_is_cut_up_is_read_alike_or_not_at_all(data: st.DataObject) -> None:
    """Slices taken out, doubled, and put in from elsewhere."""
    raw = data.draw(st.sampled_from(GOOD))
    start = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(start, min(len(raw), start + 40)))
    patch = data.draw(st.one_of(st.binary(max_size=8), st.just(raw[start:end] * 2)))
    read_alike(raw[:start] + patch + raw[end:])


@given(st.binary(max_size=300))
def test_noise_is_read_alike_or_not_at_all(raw: bytes) -> None:
    """Nothing but Malformed is ever raised."""
    read_alike(raw)


def read_alike(raw: bytes) -> bool:
    """Whether ours reads it. Then solders must, too, to the same values and the same bytes."""
    try:
        ours = written(read_transaction(raw))
    except Malformed:
        return False
    assert ours == by_solders(raw)
    VersionedTransaction.from_bytes(raw).sanitize()
    assert bytes(VersionedTransaction.from_bytes(raw)) == raw
    return True


@each("raw", GOOD, ids=["plain", "with a table"])
@each("more", [b"\0", b"\0" * 64, b"\1"])
def test_nothing_may_follow(raw: bytes, more: bytes) -> None:
    """Not even zeros."""
    with pytest.raises(Malformed):
        read_transaction(raw + more)


@pytest.mark.parametrize("raw", GOOD, ids=["plain", "with a table"])
def test_nothing_may_be_missing(raw: bytes) -> None:
    """Wherever it is cut off."""
    for end in range(len(raw)):
        with pytest.raises(Malformed):
            read_transaction(raw[:end])


@each("length", [b"\x81\x00", b"\x81\x80\x00", b"\xff\xff\xff", b"\x80\x80\x04", b"\x80\x00"])
def test_lengths_have_one_form(length: bytes) -> None:
    """Not a longer one, and not one above 65,535."""
    with pytest.raises(Malformed):
        read_transaction(length + GOOD[0][1:])


def test_a_key_twice_is_refused() -> None:
    """Else an account could hide behind a second number."""
    raw = bytearray(GOOD[0])
    first = 1 + 64 + 1 + 3 + 1
    raw[first + 32 : first + 64] = raw[first : first + 32]
    VersionedTransaction.from_bytes(bytes(raw)).sanitize()
    with pytest.raises(Malformed, match="twice"):
        read_transaction(bytes(raw))


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)])
def test_a_transaction_has_a_longest_size(more: int, is_read: bool) -> None:
    """To the byte."""
    data = MAX_TRANSACTION_BYTES - len(raw_of(_with_data(0), [_PAYER])) - 1  # a second byte for the length
    raw = raw_of(_with_data(data + more), [_PAYER])
    assert len(raw) == MAX_TRANSACTION_BYTES + more
    assert read_alike(raw) is is_read


def _with_data(size: int) -> MessageV0:
    return MessageV0.try_compile(
        _PAYER.pubkey(), [Instruction(Pubkey(bytes([7]) * 32), bytes(size), [])], [], Hash.default()
    )


@each(("loaded", "is_read"), [(0, False), (1, True), (254, True), (255, False)])
def test_tables_give_something_and_not_too_much(loaded: int, is_read: bool) -> None:
    """With two keys of its own, a message has 256 accounts at most."""
    head = b"\1" + bytes(64) + b"\x80\1\0\1\2" + bytes(32) + bytes([7]) * 32 + bytes(32) + b"\0"
    count = bytes([loaded]) if loaded < 0x80 else bytes([loaded & 0x7F | 0x80, loaded >> 7])
    raw = head + b"\1" + bytes([9]) * 32 + count + bytes(range(256))[:loaded] + b"\0"
    assert read_alike(raw) is is_read


def test_a_list_that_claims_to_be_long_is_refused() -> None:
    """A count of 65,535 is believed only as far as there are bytes."""
    for raw in (
        b"\xff\xff\x03" * 410,
        b"\x01" + bytes(64) + b"\x80\x01\x00\x00\xff\xff\x03" + bytes(1100),
        b"\x00" * 1232,
    ):
        with pytest.raises(Malformed):
            read_transaction(raw)
