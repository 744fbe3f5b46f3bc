"""xrpl-wallet-watch: tokens that pass for RLUSD, and those that do not; what is promised, and what an issuer takes back."""

from collections.abc import Iterator
from decimal import Decimal

from jobs.ports.xrpl import Amount, Transaction
from jobs.xrpl_wallet_watch.lookalike import imitates_rlusd
from shared.x402.networks import XRPL_RLUSD
from shared.x402.xrpl_keys import address
from tests.jobs.xrpl_wallet_watch.test_endpoint import OTHER, STATE, WALLET, Ledger, call, codes, later, transaction
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
    if held_out:
        return
    first = call(Ledger(STATE))[1]
    promises = [
        transaction(1_500, sender=OTHER, destination=WALLET, type=kind, delivered=None, xrp=Decimal(0), promised=amount)
        for kind in ("EscrowCreate", "CheckCreate", "PaymentChannelCreate")
        for amount in (Amount(Decimal(5), "XRP", None), Amount(Decimal("2.5"), "USD", OTHER))
    ]
    told = [_codes(first, one) for one in promises]
    yield Measure("promised, and not paid", len(told), sum("payment_promised" in codes for codes in told))
    taken = [
        transaction(
            1_500, type=kind, sender=_ISSUER, destination=None, delivered=None, xrp=Decimal(0), rlusd=Decimal(held)
        )
        for kind in ("Clawback", "AMMClawback")
        for held in ("-0.75", "0")
    ]
    told = [_codes(first, one) for one in taken]
    yield Measure("taken back by the issuer", len(told), sum("clawback" in codes for codes in told))


def _codes(first: bytes, one: Transaction) -> list[str]:
    """The alerts of a call after the first one, with a transaction in between."""
    return codes(call(Ledger(later(STATE, one), one), first)[0])


def _is_copy(text: str, issuer: str) -> bool:
    code = text if len(text) == 3 and text.isascii() else text.encode().ljust(20, b"\0").hex().upper()
    return imitates_rlusd(Amount(Decimal(1), code, issuer), _NETWORK)
