"""The alerts of an answer. Each has a code, which does not change, and a sentence."""

from collections.abc import Iterator

from jobs.ports.xrpl import Amount, Transaction
from jobs.xrpl_wallet_watch.lookalike import imitates_rlusd
from jobs.xrpl_wallet_watch.watch import DROPS, SUCCESS, Runway, Watched, health, name, plain, reserve

MAX_LOOKALIKES = 5
"""How many of the wallet's tokens have an alert. Others can open trust lines for it."""
_PROMISES = {
    "CheckCreate": "a check, which it may cash while the sender has so much",
    "EscrowCreate": "an escrow, which may end without paying",
    "PaymentChannelCreate": "a payment channel, which it may claim from",
    "PaymentChannelFund": "a payment channel, which it may claim from",
}

Alert = tuple[str, str]


def alerts(watched: Watched, calls: Runway, least_calls: int) -> Iterator[Alert]:
    """Code and sentence of each alert, the most urgent first."""
    yield from _account(watched)
    if watched.wallet.is_activated:
        yield from _line(watched)
        if calls.calls < least_calls:
            what = "RLUSD" if calls.limited_by == "rlusd" else "XRP for the network's fees"
            yield "runway_below_threshold", f"{what} for {calls.calls} calls is left, fewer than {least_calls}."
    yield from _lookalikes(watched)
    yield from _activity(watched)


def _account(watched: Watched) -> Iterator[Alert]:
    wallet = watched.wallet
    if watched.is_deleted:
        yield "account_deleted", "The account was deleted. What is sent to its address may make a new one."
    elif not wallet.is_activated:
        needed = wallet.reserve_base / DROPS
        yield "not_activated", f"There is no such account yet: the first {needed:g} XRP that it receives make it."
    elif wallet.balance <= reserve(wallet):
        yield "reserve_shortfall", "All of its XRP is reserve: it can pay fees, and nothing else in XRP."


def _line(watched: Watched) -> Iterator[Alert]:
    line = watched.wallet.line
    if line is None:
        yield "trust_line_missing", "It has no trust line to the issuer of RLUSD, so it can neither receive nor pay it."
        return
    if line.is_frozen:
        yield "trust_line_frozen", "Its RLUSD is frozen: it can be paid to the issuer alone."
    elif not line.is_authorized:
        yield "trust_line_not_authorized", "The issuer has not authorized its trust line."
    elif health(watched.wallet) == "empty":
        yield "rlusd_empty", "It has no RLUSD."


def _activity(watched: Watched) -> Iterator[Alert]:
    if not watched.is_complete:
        yield "incomplete_history", "The nodes lack a part of the history since the last call: activity may be missing."
    if watched.history.is_truncated:
        yield "activity_truncated", "There is more activity than one answer lists. The next call continues after it."
    for transaction in watched.failed:
        yield "transaction_failed", f"{transaction.hash} failed with {transaction.result}."
    for transaction in watched.transactions:
        if transaction.sender != watched.address and transaction.result == SUCCESS:
            yield from _by_others(transaction, watched)
    for recipient, transaction in watched.new_destinations():
        if not watched.is_allowed(recipient):
            was = "promised a payment" if transaction.promised else "paid"
            yield "new_destination", f"{name(recipient)} was {was} for the first time, by {transaction.hash}."


def _lookalikes(watched: Watched) -> Iterator[Alert]:
    found = [token for token in watched.wallet.tokens if imitates_rlusd(token, watched.network)]
    for token in sorted(found, reverse=True)[:MAX_LOOKALIKES]:
        what = f"It has {plain(token.value)} of" if token.value else "It has a trust line for"
        yield "lookalike_rlusd", f"{what} a token that imitates RLUSD, issued by {token.issuer}. It is another token."


def _by_others(transaction: Transaction, watched: Watched) -> Iterator[Alert]:
    if transaction.type in ("Clawback", "AMMClawback"):
        what = f"{plain(-transaction.rlusd)} RLUSD" if transaction.rlusd < 0 else "a token"
        yield "clawback", f"{transaction.sender}, the issuer, took back {what} from the wallet, by {transaction.hash}."
    if transaction.destination != watched.address:
        return
    if transaction.is_partial:
        yield "partial_payment", f"{transaction.hash} delivered less than the amount that it names."
    if transaction.promised is not None:
        what = f"{_text(transaction.promised)} to the wallet by {_PROMISES[transaction.type]}"
        yield "payment_promised", f"{transaction.hash} promises {what}. None of it has arrived."
    for amount in (transaction.delivered, transaction.promised):
        if amount is not None and imitates_rlusd(amount, watched.network):
            yield "lookalike_rlusd", f"{transaction.hash} is of a token that imitates RLUSD, issued by {amount.issuer}."


def _text(amount: Amount) -> str:
    return f"{plain(amount.value)} {amount.currency if amount.currency in ('XRP', 'RLUSD') else 'of another token'}"
