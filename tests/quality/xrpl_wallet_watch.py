"""xrpl-wallet-watch: tokens that pass for RLUSD, and those that do not."""

from collections.abc import Iterator
from decimal import Decimal

from jobs.ports.xrpl import Amount
from jobs.xrpl_wallet_watch.lookalike import imitates_rlusd
from shared.x402.networks import XRPL_RLUSD
from shared.x402.xrpl_keys import address
from tests.quality.scorer import Measure

_NETWORK = "xrpl:0"
_ISSUER = XRPL_RLUSD[_NETWORK].issuer
_OTHER = address(b"another issuer of it")
_COPIES = (
    "RLUSD",
    "rlusd",
    "RlUSD",
    "RLUSD2",
    "wRLUSD",
    "R-LUSD",
    "RŁUSD",
    "ＲＬＵＳＤ",
    "Ripple USD",
    "RLUSD\u200b",
    "ЯLUSD",
)
_COPIES_SET_ASIDE = ("RLUЅD", "R1USD", "RLUSD.", "RippleUSD", "RL USD", "$RLUSD", "RLU$D", "RꓡUSD")
_HONEST = ("USD", "EUR", "USDC", "SOLO", "XRPH", "CSC", "RPR", "USDT", "BTC", "LUSD", "FRLUS")
_HONEST_SET_ASIDE = ("RUSD", "GBP", "XAH", "EURØP", "CORE", "ELS", "USDB", "RLUX")


def measures(held_out: bool) -> Iterator[Measure]:
    """By their currency codes, of twenty bytes where three signs are too few."""
    copies = _COPIES_SET_ASIDE if held_out else _COPIES
    honest = _HONEST_SET_ASIDE if held_out else _HONEST
    yield Measure("copies of RLUSD", len(copies), sum(_is_copy(text, _OTHER) for text in copies))
    yield Measure("other tokens", len(honest), sum(not _is_copy(text, _OTHER) for text in honest))
    yield Measure("of its issuer", len(honest), sum(not _is_copy(text, _ISSUER) for text in honest))


def _is_copy(text: str, issuer: str) -> bool:
    code = text if len(text) == 3 and text.isascii() else text.encode().ljust(20, b"\0").hex().upper()
    return imitates_rlusd(Amount(Decimal(1), code, issuer), _NETWORK)
