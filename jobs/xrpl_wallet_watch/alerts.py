"""The alerts of an answer. Each has a code, which does not change, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.xrpl_wallet_watch.watch import DROPS, Runway, Watched, health, name, reserve

Alert = tuple[str, str]


def alerts(watched: Watched, calls: Runway, least_calls: int) -> Iterator[Alert]:
    """Code and sentence of each alert, the most urgent first."""
    yield from _account(watched)
    if watched.wallet.is_activated:
        yield from _line(watched)
        if calls.calls < least_calls:
            what = "RLUSD" if calls.limited_by == "rlusd" else "XRP for the network's fees"
            yield "runway_below_threshold", f"{what} for {calls.calls} calls is left, fewer than {least_calls}."
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
        is_from_others = transaction.destination == watched.address != transaction.sender
        if transaction.is_partial and is_from_others:
            yield "partial_payment", f"{transaction.hash} delivered less than the amount that it names."
    for recipient, transaction in watched.new_destinations():
        if not watched.is_allowed(recipient):
            yield "new_destination", f"{name(recipient)} was paid for the first time, by {transaction.hash}."
