"""chain/erc20-balance: balances of tokens of every kind, and what their symbols hide."""

from collections.abc import Iterator
from typing import Any

from jobs.chain.erc20_balance import ENDPOINT
from jobs.engines.evm.known_tokens import known_tokens
from jobs.engines.evm.selectors import BALANCE_OF
from jobs.ports.chains import Reverted
from tests.jobs.engines.evm.fake_chains import FakeChains, answered, text, word
from tests.quality.scorer import Measure

_ANYWHERE = "0x5555555555555555555555555555555555555555"
_OWNER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
# What a token says of its symbol and decimals; the symbol that is shown, a balance of 25,000,000, and whether it was cleaned.
_TOKENS: list[tuple[Any, Any, str | None, str | None, bool]] = [
    ("USDC", 6, "USDC", "25", False),
    (b"MKR".ljust(32, b"\0"), 18, "MKR", "0.000000000025", False),
    ("", 0, None, "25000000", False),
    ("US\u200bDC", 6, "USDC", "25", True),
    ("\u202eCDSU", 6, "CDSU", "25", True),
    (" USDC ", 6, "USDC", "25", True),
    (Reverted(b""), Reverted(b""), None, None, False),
    ("USD₮", 6, "USD₮", "25", False),
    ("A" * 40, 6, "A" * 32, "25", True),
    (word(5), word(300), None, None, True),
]
_TOKENS_SET_ASIDE: list[tuple[Any, Any, str | None, str | None, bool]] = [
    ("US\ufe0fDC", 6, "USDC", "25", True),
    ("USDC\x00", 6, "USDC", "25", True),
    ("U\u00adSDC", 8, "USDC", "0.25", True),
    ("wstETH", 18, "wstETH", "0.000000000025", False),
    ("币安人生", 18, "币安人生", "0.000000000025", False),
    ("a\nb", 6, "a b", "25", True),
    (text("DAI") + bytes(64), 6, "DAI", "25", False),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Odd tokens, and those that are canonical by their address alone."""
    tokens = _TOKENS_SET_ASIDE if held_out else _TOKENS
    answers = [(_answer(_ANYWHERE, symbol, decimals), *wanted) for symbol, decimals, *wanted in tokens]
    yield Measure(
        "symbol and balance",
        len(answers),
        sum((given["symbol"], given["balanceFormatted"]) == (symbol, balance) for given, symbol, balance, _ in answers),
    )
    yield Measure(
        "cleaned", len(answers), sum(given.get("symbolCleaned") is cleaned for given, _, _, cleaned in answers)
    )
    canonical = sorted(known_tokens("base"))[int(held_out) :: 20]
    found = [_answer(address, "ANY", 6).get("isCanonical") is True for address in canonical]
    yield Measure("canonical", len(found), sum(found))
    yield Measure("not canonical", len(answers), sum(given.get("isCanonical") is not True for given, *_ in answers))


def _answer(token: str, symbol: Any, decimals: Any) -> dict[str, Any]:
    chains = FakeChains()
    chains.base.token(token, symbol, decimals)
    chains.base.calls[token, BALANCE_OF] = word(25_000_000)
    return answered(ENDPOINT, chains, {"chain": "base", "token": token, "address": _OWNER})
