"""A payment's TransactionEnvelope: one contract call, the authorization entries that its payer signed, and Soroban data.

All of it is read, so that no part of it is unchecked. What only the sender of a transaction needs is not kept.
"""

from dataclasses import dataclass

from shared.x402.refusal import PaymentRefused
from shared.x402.stellar_address import Address
from shared.x402.stellar_xdr import Malformed, Reader, Value

WRONG_OPERATION = "invalid_exact_stellar_payload_wrong_operation"
HAS_SUBINVOCATIONS = "invalid_exact_stellar_payload_has_subinvocations"
UNSUPPORTED_CREDENTIALS = "invalid_exact_stellar_payload_unsupported_credential_type"
WRONG_INVOCATION = "invalid_exact_stellar_payload_wrong_invocation"

BY_ADDRESS, BY_ADDRESS_V2 = 1, 2
"""Credentials that an account signs: the first form, and the form with the account in the signed text (CAP-71)."""

_ENVELOPE_TX = 2
_PRECONDITIONS_NONE, _PRECONDITIONS_TIME = 0, 1
_MEMO_NONE, _MEMO_TEXT, _MEMO_ID, _MEMO_HASH, _MEMO_RETURN = range(5)
_MEMO_TEXT_BYTES = 28
_INVOKE_HOST_FUNCTION = 24
_INVOKE_CONTRACT = 0
_MOST_SIGNATURES = 20
_MOST_AUTH_ENTRIES = 16


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a contract's function.

    Attributes:
        raw: its XDR (InvokeContractArgs), in its only form.
    """

    contract: Address
    function: bytes
    args: tuple[Value, ...]
    raw: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """An authorization entry: the call that somebody allows in their name, without further calls.

    Attributes:
        credentials: BY_ADDRESS or BY_ADDRESS_V2.
        expiration_ledger: the last ledger in which it is valid.
        signature: in the form of the account's contract; void when the entry is not signed.
        address_raw, invocation_raw: XDR, as it is signed.
    """

    credentials: int
    address: Address
    nonce: int
    expiration_ledger: int
    signature: Value
    call: Call
    address_raw: bytes
    invocation_raw: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A transaction with one contract call.

    Attributes:
        source: the account whose sequence number it uses. A facilitator replaces it by its own.
        fee: stroops in all.
    """

    source: Address
    fee: int
    operation_source: Address | None
    call: Call
    entries: tuple[Entry, ...]


def read(data: bytes) -> Envelope:
    """The envelope in these bytes.

    Raises:
        Malformed: they are no envelope, or one of a form that payments do not have.
        PaymentRefused: the transaction does something else, with the specification's reason.
    """
    reader = Reader(data)
    reader.one_of(_ENVELOPE_TX)
    source = reader.muxed_account()
    fee = reader.u32()
    reader.integer(8, signed=True)  # the sequence number
    if reader.one_of(_PRECONDITIONS_NONE, _PRECONDITIONS_TIME) == _PRECONDITIONS_TIME:
        reader.fixed(16)
    _memo(reader)
    if reader.u32() != 1:
        raise PaymentRefused(WRONG_OPERATION)
    operation_source = reader.muxed_account() if reader.option() else None
    if reader.u32() != _INVOKE_HOST_FUNCTION or reader.u32() != _INVOKE_CONTRACT:
        raise PaymentRefused(WRONG_OPERATION)
    call = _call(reader)
    entries = reader.array(lambda: _entry(reader), most=_MOST_AUTH_ENTRIES)
    _soroban_data(reader)
    reader.array(lambda: (reader.fixed(4), reader.opaque(64)), most=_MOST_SIGNATURES)
    reader.end()
    return Envelope(source, fee, operation_source, call, entries)


def _memo(reader: Reader) -> None:
    match reader.one_of(_MEMO_NONE, _MEMO_TEXT, _MEMO_ID, _MEMO_HASH, _MEMO_RETURN):
        case 1:
            reader.opaque(_MEMO_TEXT_BYTES)
        case 2:
            reader.fixed(8)
        case 3 | 4:
            reader.fixed(32)


def _call(reader: Reader) -> Call:
    start = reader.at
    contract, function, args = reader.address(), reader.symbol(), reader.array(reader.value)
    return Call(contract, function, args, reader.since(start))


def _entry(reader: Reader) -> Entry:
    credentials = reader.u32()
    if credentials not in (BY_ADDRESS, BY_ADDRESS_V2):
        raise PaymentRefused(UNSUPPORTED_CREDENTIALS)
    start = reader.at
    address = reader.address()
    address_raw = reader.since(start)
    nonce, expiration_ledger = reader.integer(8, signed=True), reader.u32()
    signature = reader.value()
    start = reader.at
    if reader.u32() != _INVOKE_CONTRACT:
        raise PaymentRefused(WRONG_INVOCATION)
    call = _call(reader)
    if reader.u32() != 0:
        raise PaymentRefused(HAS_SUBINVOCATIONS)
    invocation_raw = reader.since(start)
    return Entry(credentials, address, nonce, expiration_ledger, signature, call, address_raw, invocation_raw)


def _soroban_data(reader: Reader) -> None:
    """Footprint and resources, which a transaction with a contract call must have."""
    if reader.u32() != 1:
        raise Malformed("there is no Soroban data")
    if reader.one_of(0, 1):
        reader.array(reader.u32)  # archived entries
    reader.array(reader.ledger_key)
    reader.array(reader.ledger_key)
    reader.fixed(12)  # instructions, bytes to read and to write
    reader.fixed(8)  # the resource fee
