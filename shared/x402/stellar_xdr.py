"""A strict reader of Stellar's XDR (RFC 4506), in which each value has one encoding.

Padding must be zero, an option is 0 or 1, an enum has a known value, and nothing follows the end. Each byte is read once, and
values nest at most ten deep. It knows only what a payment consists of: see Stellar-transaction.x and Stellar-contract.x of
stellar/stellar-xdr.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from shared.x402.stellar_address import ACCOUNT, CONTRACT, MUXED, Address

Value = tuple[int, Any]
"""A Soroban value: its SCValType, and its content as a Python value."""

BOOL, VOID, ERROR, U32, I32, U64, I64, TIMEPOINT, DURATION, U128, I128, U256, I256 = range(13)
BYTES, STRING, SYMBOL, VEC, MAP, ADDRESS, INSTANCE, KEY_INSTANCE, KEY_NONCE = range(13, 22)

_INTEGERS = {
    U32: (4, False),
    I32: (4, True),
    U64: (8, False),
    I64: (8, True),
    TIMEPOINT: (8, False),
    DURATION: (8, False),
    U128: (16, False),
    I128: (16, True),
    U256: (32, False),
    I256: (32, True),
    KEY_NONCE: (8, True),
}
_DEEPEST = 10
_CONTRACT_ERROR = 0
_ERROR_TYPES, _ERROR_CODES = 10, 10
_SYMBOL_BYTES = 32
_KEY_ED25519, _KEY_MUXED_ED25519 = 0, 0x100
_LEDGER_ACCOUNT, _LEDGER_TRUSTLINE, _LEDGER_CONTRACT_DATA, _LEDGER_CONTRACT_CODE = 0, 1, 6, 7
_ASSET_NATIVE, _ASSET_ALPHANUM4, _ASSET_ALPHANUM12, _ASSET_POOL_SHARE = range(4)

T = TypeVar("T")


class Malformed(ValueError):
    """The bytes are not well-formed XDR of a payment."""


class Reader:
    """Reads from the front. Every method raises Malformed."""

    __slots__ = ("_data", "at")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def fixed(self, length: int) -> bytes:
        """So many bytes. The number must be a multiple of four."""
        start, self.at = self.at, self.at + length
        if self.at > len(self._data):
            raise Malformed("it ends too early")
        return self._data[start : self.at]

    def since(self, start: int) -> bytes:
        """The bytes that were read since `at` was `start`."""
        return self._data[start : self.at]

    def integer(self, length: int, *, signed: bool = False) -> int:
        """A number of so many bytes, the highest first."""
        return int.from_bytes(self.fixed(length), "big", signed=signed)

    def u32(self) -> int:
        """A number of four bytes: also an enum, the arm of a union, and the length of an array."""
        return int.from_bytes(self.fixed(4), "big")

    def opaque(self, most: int | None = None) -> bytes:
        """Bytes or a string, after their length."""
        length = self.u32()
        if most is not None and length > most:
            raise Malformed("it is too long")
        padded = self.fixed(length + -length % 4)
        if any(padded[length:]):
            raise Malformed("padding is not zero")
        return padded[:length]

    def option(self) -> bool:
        """Whether an optional value follows."""
        return self.one_of(0, 1) == 1

    def one_of(self, *known: int) -> int:
        """A number that must be one of these."""
        number = self.u32()
        if number not in known:
            raise Malformed(f"{number} is not known here")
        return number

    def array(self, read: Callable[[], T], most: int | None = None) -> tuple[T, ...]:
        """Elements, after their number. Each has at least four bytes, which bounds the number."""
        count = self.u32()
        if count > (len(self._data) - self.at) // 4 or (most is not None and count > most):
            raise Malformed("there are too many elements")
        return tuple([read() for _ in range(count)])

    def end(self) -> None:
        """Check that nothing follows."""
        if self.at != len(self._data):
            raise Malformed("something follows the end")

    def account_id(self) -> Address:
        """An account."""
        self.one_of(_KEY_ED25519)
        return Address(ACCOUNT, self.fixed(32))

    def muxed_account(self) -> Address:
        """An account, or one of its customers."""
        if self.one_of(_KEY_ED25519, _KEY_MUXED_ED25519) == _KEY_ED25519:
            return Address(ACCOUNT, self.fixed(32))
        return self._muxed()

    def address(self) -> Address:
        """An account, a contract or a multiplexed account."""
        kind = self.one_of(ACCOUNT, CONTRACT, MUXED)
        if kind == MUXED:
            return self._muxed()
        return self.account_id() if kind == ACCOUNT else Address(CONTRACT, self.fixed(32))

    def symbol(self) -> bytes:
        """The name of a function or a field."""
        return self.opaque(_SYMBOL_BYTES)

    def value(self, depth: int = 0) -> Value:
        """A Soroban value. Payments have no contract instances, so those are refused."""
        kind = self.u32()
        if form := _INTEGERS.get(kind):
            return kind, self.integer(form[0], signed=form[1])
        if kind in (VOID, KEY_INSTANCE):
            return kind, None
        if kind in (BYTES, STRING):
            return kind, self.opaque()
        if kind in (ADDRESS, SYMBOL, BOOL, ERROR):
            return kind, self._simple(kind)
        if kind not in (VEC, MAP):
            raise Malformed(f"value type {kind} is not known here")
        if depth == _DEEPEST:
            raise Malformed("it nests too deeply")
        if not self.option():
            return kind, None
        if kind == VEC:
            return kind, self.array(lambda: self.value(depth + 1))
        return kind, self.array(lambda: (self.value(depth + 1), self.value(depth + 1)))

    def ledger_key(self) -> None:
        """Read a key of the footprint. It is not kept."""
        kind = self.one_of(_LEDGER_ACCOUNT, _LEDGER_TRUSTLINE, _LEDGER_CONTRACT_DATA, _LEDGER_CONTRACT_CODE)
        if kind == _LEDGER_CONTRACT_DATA:
            self.address()
            self.value()
            self.one_of(0, 1)
        elif kind == _LEDGER_CONTRACT_CODE:
            self.fixed(32)
        else:
            self.account_id()
            if kind == _LEDGER_TRUSTLINE:
                self._trustline_asset()

    def _simple(self, kind: int) -> Any:
        if kind == ADDRESS:
            return self.address()
        if kind == SYMBOL:
            return self.symbol()
        return self.option() if kind == BOOL else self._error()

    def _muxed(self) -> Address:
        number = self.integer(8)
        return Address(MUXED, self.fixed(32), number)

    def _error(self) -> tuple[int, int]:
        kind = self.one_of(*range(_ERROR_TYPES))
        return kind, self.u32() if kind == _CONTRACT_ERROR else self.one_of(*range(_ERROR_CODES))

    def _trustline_asset(self) -> None:
        kind = self.one_of(_ASSET_NATIVE, _ASSET_ALPHANUM4, _ASSET_ALPHANUM12, _ASSET_POOL_SHARE)
        if kind == _ASSET_POOL_SHARE:
            self.fixed(32)
        elif kind != _ASSET_NATIVE:
            self.fixed(4 if kind == _ASSET_ALPHANUM4 else 12)
            self.account_id()
