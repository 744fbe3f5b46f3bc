"""Reads and writes the XRP Ledger's binary format, as far as a simple payment needs it.

Unknown fields are refused and never skipped. A blob that is not in canonical form is refused, too, so that one transaction has
one blob and one hash.

Sources: xrpl.org, "Binary Format"; field codes from rippled's definitions, as xrpl-py 5.2.0 ships them.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from shared.x402.xrpl_keys import sha512_half

MAX_BLOB_BYTES = 2_048
"""A payment takes about 350."""
MAX_MEMOS = 2
MIN_EXPONENT, MAX_EXPONENT = -96, 80
MIN_MANTISSA, MAX_MANTISSA = 10**15, 10**16 - 1

_SIGNING_PREFIX = b"STX\0"
_HASH_PREFIX = b"TXN\0"
_POSITIVE = 1 << 62
_ISSUED = 1 << 63
_OBJECT_END, _ARRAY_END = 0xE1, 0xF1
_LONGEST_SHORT = 192

_UINT16, _UINT32, _HASH256, _AMOUNT, _BLOB, _ACCOUNT, _OBJECT, _ARRAY = 1, 2, 5, 6, 7, 8, 14, 15
_MEMO = (_OBJECT, 10)

FIELDS: dict[tuple[int, int], str] = {
    (_UINT16, 2): "TransactionType",
    (_UINT32, 1): "NetworkID",
    (_UINT32, 2): "Flags",
    (_UINT32, 3): "SourceTag",
    (_UINT32, 4): "Sequence",
    (_UINT32, 14): "DestinationTag",
    (_UINT32, 27): "LastLedgerSequence",
    (_UINT32, 41): "TicketSequence",
    (_HASH256, 17): "InvoiceID",
    (_AMOUNT, 1): "Amount",
    (_AMOUNT, 8): "Fee",
    (_AMOUNT, 9): "SendMax",
    (_BLOB, 3): "SigningPubKey",
    (_BLOB, 4): "TxnSignature",
    (_ACCOUNT, 1): "Account",
    (_ACCOUNT, 3): "Destination",
    (_ARRAY, 9): "Memos",
}
"""The permitted fields, in their canonical order."""
MEMO_FIELDS: dict[tuple[int, int], str] = {(_BLOB, 12): "MemoType", (_BLOB, 13): "MemoData", (_BLOB, 14): "MemoFormat"}
KNOWN_OTHERS: dict[tuple[int, int], str] = {
    (_AMOUNT, 10): "DeliverMin",
    (_ACCOUNT, 12): "Delegate",
    (_ARRAY, 3): "Signers",
    (18, 1): "Paths",
}
"""Fields that payments may have and ours may not. The refusal names them."""


class Unreadable(ValueError):
    """The bytes are not one canonical transaction of the fields in FIELDS."""


class Foreign(Unreadable):
    """A field that is not in FIELDS.

    Args:
        field: its name where KNOWN_OTHERS has it, else empty.
    """

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


@dataclass(frozen=True, slots=True)
class Drops:
    """An amount of XRP in millionths."""

    drops: int


@dataclass(frozen=True, slots=True)
class Issued:
    """An amount of an issued currency.

    Attributes:
        value: exact.
        currency: 20 bytes.
        issuer: an account id.
    """

    value: Decimal
    currency: bytes
    issuer: bytes


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction as it was signed.

    Attributes:
        fields: numbers as int, hashes, keys and account ids as bytes, amounts as Drops or Issued, Memos as a list of dicts.
        signed: what the signature covers.
    """

    fields: dict[str, Any]
    blob: bytes
    signed: bytes

    @property
    def hash(self) -> str:
        """The transaction's name on the network: upper-case hex."""
        return sha512_half(_HASH_PREFIX + self.blob).hex().upper()


def decode(blob: bytes) -> Transaction:
    """Read a signed transaction. Linear in its length, which is bounded. Raises Unreadable."""
    if len(blob) > MAX_BLOB_BYTES:
        raise Unreadable("too long")
    fields = _Reader(blob).read()
    if encode(fields) != blob:
        raise Unreadable("not canonical")
    unsigned = {name: value for name, value in fields.items() if name != "TxnSignature"}
    return Transaction(fields, blob, _SIGNING_PREFIX + encode(unsigned))


def encode(fields: dict[str, Any]) -> bytes:
    """The canonical bytes of these fields. Raises Unreadable for a value that the format cannot hold."""
    return b"".join(_field(code, fields[name]) for code, name in FIELDS.items() if name in fields)


class _Reader:
    """Reads from the front. It accepts non-canonical forms: the comparison with the canonical bytes finds them."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def read(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        last = (0, 0)
        while self._at < len(self._data):
            code = self._header()
            if code not in FIELDS:
                raise Foreign(KNOWN_OTHERS.get(code, ""))
            if code <= last:
                raise Unreadable("fields out of order")
            fields[FIELDS[code]] = self._value(code[0])
            last = code
        return fields

    def _value(self, kind: int) -> Any:
        match kind:
            case 1:
                return self._number(2)
            case 2:
                return self._number(4)
            case 5:
                return self._take(32)
            case 6:
                return self._amount()
            case 15:
                return self._memos()
        content = self._take(self._length())
        if kind == _ACCOUNT and len(content) != 20:
            raise Unreadable("an account id has 20 bytes")
        return content

    def _amount(self) -> Drops | Issued:
        number = self._number(8)
        if not number & _ISSUED:
            # Without its sign bit it would be negative; with the one below, another kind of token.
            if not number & _POSITIVE or number & 1 << 61:
                raise Unreadable("not an amount of XRP")
            return Drops(number & ~_POSITIVE)
        currency, issuer = self._take(20), self._take(20)
        mantissa, exponent = number & (1 << 54) - 1, (number >> 54 & 0xFF) - 97
        if not number & _POSITIVE or not MIN_MANTISSA <= mantissa <= MAX_MANTISSA:
            raise Unreadable("not a positive amount")
        if not MIN_EXPONENT <= exponent <= MAX_EXPONENT:
            raise Unreadable("an exponent out of range")
        return Issued(Decimal(mantissa).scaleb(exponent), currency, issuer)

    def _memos(self) -> list[dict[str, bytes]]:
        memos: list[dict[str, bytes]] = []
        while self._peek() != _ARRAY_END:
            if self._header() != _MEMO or len(memos) == MAX_MEMOS:
                raise Unreadable("not a list of memos")
            memo: dict[str, bytes] = {}
            while self._peek() != _OBJECT_END:
                name = MEMO_FIELDS.get(self._header())
                if name is None or name in memo:
                    raise Unreadable("not a memo")
                memo[name] = self._take(self._length())
            self._at += 1
            memos.append(memo)
        self._at += 1
        return memos

    def _header(self) -> tuple[int, int]:
        first = self._number(1)
        return first >> 4 or self._number(1), first & 15 or self._number(1)

    def _length(self) -> int:
        """The length of what follows. A length of three bytes would be more than a blob may have."""
        first = self._number(1)
        if first <= _LONGEST_SHORT:
            return first
        if first > 240:
            raise Unreadable("too long")
        return 193 + (first - 193) * 256 + self._number(1)

    def _peek(self) -> int:
        if self._at >= len(self._data):
            raise Unreadable("too short")
        return self._data[self._at]

    def _number(self, size: int) -> int:
        return int.from_bytes(self._take(size), "big")

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) != size:
            raise Unreadable("too short")
        self._at += size
        return taken


def _field(code: tuple[int, int], value: Any) -> bytes:
    return _encoded_header(code) + _encoded_value(code[0], value)


def _encoded_header(code: tuple[int, int]) -> bytes:
    kind, number = code
    return bytes([kind << 4 | number]) if number < 16 else bytes([kind << 4, number])


def _encoded_value(kind: int, value: Any) -> bytes:
    match kind:
        case 1:
            return int(value).to_bytes(2, "big")
        case 2:
            return int(value).to_bytes(4, "big")
        case 5:
            return bytes(value)
        case 6:
            return _encoded_amount(value)
        case 15:
            return b"".join(_encoded_memo(memo) for memo in value) + bytes([_ARRAY_END])
    return _prefixed(value)


def _encoded_amount(amount: Drops | Issued) -> bytes:
    if isinstance(amount, Drops):
        return (_POSITIVE | amount.drops).to_bytes(8, "big")
    return encoded_value(amount.value) + amount.currency + amount.issuer


def encoded_value(value: Decimal) -> bytes:
    """A positive value of an issued currency: 16 digits and an exponent. Raises Unreadable when it needs more."""
    if not value.is_finite() or value <= 0:
        raise Unreadable("not a positive amount")
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # of what is finite
    mantissa = int("".join(map(str, digits)))
    while mantissa < MIN_MANTISSA:
        mantissa, exponent = mantissa * 10, exponent - 1
    while mantissa > MAX_MANTISSA and mantissa % 10 == 0:
        mantissa, exponent = mantissa // 10, exponent + 1
    if mantissa > MAX_MANTISSA or not MIN_EXPONENT <= exponent <= MAX_EXPONENT:
        raise Unreadable("more digits than the ledger keeps")
    return (_ISSUED | _POSITIVE | (exponent + 97) << 54 | mantissa).to_bytes(8, "big")


def _encoded_memo(memo: dict[str, bytes]) -> bytes:
    content = b"".join(
        _encoded_header(code) + _prefixed(memo[name]) for code, name in MEMO_FIELDS.items() if name in memo
    )
    return _encoded_header(_MEMO) + content + bytes([_OBJECT_END])


def _prefixed(content: bytes) -> bytes:
    if len(content) <= _LONGEST_SHORT:
        return bytes([len(content)]) + content
    more = len(content) - 193
    return bytes([193 + (more >> 8), more & 0xFF]) + content
