"""Sends a saved payment again, to the server that it was made for. No wallet is needed: it is signed."""

from collections.abc import Callable
from pathlib import Path

from coinslot import kept_answers
from coinslot.answer import Answer
from coinslot.buyer import Buyer
from coinslot.errors import InvalidCall
from coinslot.payment import SignedPayment
from coinslot.payment_folder import PaymentFolder, SavedPayment, claim
from coinslot.progress import Progress
from coinslot.wallet import Wallet
from shared.call_path import split


def resume(
    saved: SavedPayment, payments: PaymentFolder, *, timeout_s: float, on_progress: Callable[[Progress], None]
) -> Answer:
    """The answer to a saved payment, whose file is left for the caller to remove.

    Args:
        payments: whose log takes the line.

    Raises:
        CoinslotError: what Buyer and Buyer.resume raise.
    """
    if (kept := kept_answers.find(saved)) is not None:
        return kept
    base_url = split(saved.payment.url)[0]
    try:
        buyer = Buyer(
            base_url, Wallet(()), max_price=None, timeout_s=timeout_s, payments=payments, on_progress=on_progress
        )
    except InvalidCall:
        saved.release()
        raise
    with buyer:
        return buyer.resume(saved, keep=True)


def claim_named(path: Path) -> SavedPayment:
    """The saved payment of a file that a person has named. Raises InvalidCall."""
    try:
        return claim(path)
    except FileNotFoundError:
        raise InvalidCall(f"cannot read the saved payment {path}: there is no such file") from None


def name_of(payment: SignedPayment) -> str:
    """The name of the call, as in `coinslot call NAME`."""
    return split(payment.url)[1]
