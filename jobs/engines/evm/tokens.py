"""Reads what a token says of itself. Any answer is possible: none, 32 bytes instead of a text, a revert, all gas used up."""

from dataclasses import dataclass
from typing import Any

from jobs.engines.evm import abi, text
from jobs.engines.evm.quantity import formatted
from jobs.engines.evm.selectors import DECIMALS, GAS_PRICE_ORACLE, L1_FEE_UPPER_BOUND, NAME, SYMBOL
from jobs.engines.evm.unlimited import unlimited_form
from jobs.ports.chains import Call

METADATA_GAS = 1_000_000
"""Limit for each read: a token that uses up all gas must not keep the node busy."""
_MAX_TEXT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Token:
    """A token's own words.

    Attributes:
        address: in lower case.
        symbol, name: cleaned of what is invisible; None when it has none.
        decimals: 0 to 255; None when it does not say.
        symbol_cleaned: whether the symbol had more than `symbol` shows.
    """

    address: str
    symbol: str | None
    decimals: int | None
    name: str | None = None
    symbol_cleaned: bool = False

    def formatted(self, amount: int | None) -> str | None:
        """An amount with its decimals; None when there are none."""
        return None if self.decimals is None or amount is None else formatted(amount, self.decimals)

    def formatted_allowance(self, amount: int | None) -> str | None:
        """The same, and `unlimited` for a number that means no limit."""
        return "unlimited" if amount is not None and unlimited_form(amount) else self.formatted(amount)


def metadata_calls(token: str) -> tuple[Call, Call]:
    """The reads of a token's decimals and symbol."""
    return _metadata(token, DECIMALS), _metadata(token, SYMBOL)


def name_call(token: str) -> Call:
    """The read of a token's name."""
    return _metadata(token, NAME)


def l1_fee_call(transaction_bytes: int) -> Call:
    """The read of the highest L1 fee of a transaction of this size, on an OP Stack chain."""
    data = L1_FEE_UPPER_BOUND + abi.encode_words(transaction_bytes)
    return Call(to=GAS_PRICE_ORACLE, data=data, gas=METADATA_GAS)


def token_of(address: str, decimals: Any, symbol: Any, name: Any = None) -> Token:
    """The token that the results of these reads describe."""
    number = word(decimals)
    return Token(
        address,
        text_of(symbol, text.MAX_SYMBOL),
        number if number is not None and number <= 255 else None,
        text_of(name, text.MAX_NAME),
        symbol_cleaned=(_raw(symbol) or "") != (text_of(symbol, text.MAX_SYMBOL) or ""),
    )


def word(result: Any) -> int | None:
    """The number in the first 32 bytes; None when there are fewer, or the call failed."""
    return int.from_bytes(result[:32], "big") if isinstance(result, bytes) and len(result) >= 32 else None


def truth(result: Any) -> bool | None:
    """A bool; None when it is none."""
    return {0: False, 1: True}.get(-1 if (number := word(result)) is None else number)


def text_of(result: Any, limit: int) -> str | None:
    """A string, or 32 bytes that hold one (MKR, SAI and other tokens from before the standard); None when it is neither."""
    raw = _raw(result)
    return None if raw is None else text.clean(raw.replace("\ufffd", ""), limit) or None


def _raw(result: Any) -> str | None:
    """The text as the contract has it."""
    if not isinstance(result, bytes) or not result:
        return None
    # A name of megabytes is no name.
    raw = abi.string_bytes(result[: _MAX_TEXT_BYTES + 64])
    if raw is None and len(result) == 32:
        raw = result.rstrip(b"\0")
    return None if raw is None else raw.decode("utf-8", "replace")


def _metadata(token: str, selector: bytes) -> Call:
    return Call(to=token, data=selector, gas=METADATA_GAS, is_constant=True)
