"""The answer of xrpl-wallet-watch: its fields, and how they are written."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import msgspec

from jobs.ports.xrpl import Amount, Transaction
from jobs.xrpl_wallet_watch.alerts import alerts
from jobs.xrpl_wallet_watch.watch import DROPS, Watched, counterparty, health, plain, reserve, runway
from shared.money import Price


class Baseline(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What this call is compared with. `created`: nothing, it makes the baseline. `previousAt`: when the call that left it was
    paid for.
    """

    created: bool
    previous_ledger_index: int | None
    previous_at: str | None


class Xrp(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """In XRP. `reserve`: what only fees may be paid from, by the network's rules of now. `ownerCount`: entries of the ledger
    that it keeps a part of the reserve for.
    """

    balance: str
    reserve: str
    spendable: str
    owner_count: int


class Rlusd(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The trust line to the issuer of RLUSD. `frozen`: by either side, or by the issuer for everybody. `noRipple`: the holder's
    setting; without it, payments of others may go through the line. `health`: `ok`, `missing`, `frozen` or `empty`.
    """

    trust_line: bool
    balance: str
    limit: str
    frozen: bool
    no_ripple: bool
    health: str


class CallRunway(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many calls of this endpoint the wallet can pay for. `limitedBy`: `rlusd`, or `xrp` for the network's fees."""

    calls_remaining: int
    price_per_call: str
    limited_by: str
    min_calls_remaining: int
    below_threshold: bool


class Delivered(msgspec.Struct, frozen=True, kw_only=True):
    """`currency`: `XRP`, `RLUSD` for the real one alone, else the ledger's code. `issuer`: null for XRP."""

    value: str
    currency: str
    issuer: str | None


class Deltas(msgspec.Struct, frozen=True, kw_only=True):
    """Signed decimals: how much more there is."""

    xrp: str
    rlusd: str


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A validated transaction that touched the wallet. `counterparty`: whom its own names, or who sent another's. `delivered`:
    what arrived at the recipient; null when nothing was sent. `partial`: less than the transaction says. `deltas`: the
    wallet's.
    """

    hash: str
    type: str
    result: str
    ledger_index: int
    time: str
    counterparty: str | None
    delivered: Delivered | None
    partial: bool
    deltas: Deltas


class Activity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What happened after `fromLedger`, up to and including `toLedger`. `truncated`: there is more, which the next call tells.
    `complete`: nothing in between is missing.
    """

    from_ledger: int
    to_ledger: int
    count: int
    truncated: bool
    complete: bool
    transactions: list[Entry]


class FailedTransaction(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One that did nothing. `fee`: in XRP; null when another account paid it."""

    hash: str
    type: str
    result: str
    ledger_index: int
    time: str
    fee: str | None


class NewDestination(msgspec.Struct, frozen=True, kw_only=True):
    """A recipient that no earlier call told of. `hash`: of the first transaction that names it. `allowed`: by the request."""

    address: str
    tag: int | None
    hash: str
    allowed: bool


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """`code`: for programs. `detail`: a sentence."""

    code: str
    detail: str


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The wallet in the validated ledger `ledgerIndex`. `address`: the classic one, `tag`: of an X-address. `activated`:
    whether there is such an account.
    """

    ok: bool
    address: str
    tag: int | None
    activated: bool
    ledger_index: int
    baseline: Baseline
    xrp: Xrp
    rlusd: Rlusd
    call_runway: CallRunway
    activity: Activity
    deltas: Deltas
    failed_transactions: list[FailedTransaction]
    new_destinations: list[NewDestination]
    alerts: list[Alert]


def response(
    watched: Watched, *, tag: int | None, price: Price, least_calls: int, previous_at: datetime | None
) -> Response:
    """The answer.

    Args:
        tag: of the X-address that was asked about.
        price: of a call.
        previous_at: when the call that left the baseline was paid for.
    """
    since, calls = watched.since, runway(watched.wallet, price.value)
    return Response(
        ok=True,
        address=watched.address,
        tag=tag,
        activated=watched.wallet.is_activated,
        ledger_index=watched.wallet.ledger,
        baseline=Baseline(
            created=since is None,
            previous_ledger_index=since.ledger if since else None,
            previous_at=previous_at.strftime("%Y-%m-%dT%H:%M:%SZ") if previous_at else None,
        ),
        xrp=_xrp(watched),
        rlusd=_rlusd(watched),
        call_runway=CallRunway(
            calls_remaining=calls.calls,
            price_per_call=price.text(),
            limited_by=calls.limited_by,
            min_calls_remaining=least_calls,
            below_threshold=calls.calls < least_calls,
        ),
        activity=Activity(
            from_ledger=since.ledger if since else watched.wallet.ledger,
            to_ledger=watched.reached.ledger,
            count=len(watched.transactions),
            truncated=watched.history.is_truncated,
            complete=watched.is_complete,
            transactions=[_entry(transaction, watched.address) for transaction in watched.transactions],
        ),
        deltas=Deltas(xrp=plain(watched.xrp), rlusd=plain(watched.rlusd)),
        failed_transactions=[_failed(transaction, watched.address) for transaction in watched.failed],
        new_destinations=[
            NewDestination(
                address=recipient.address,
                tag=recipient.tag,
                hash=transaction.hash,
                allowed=watched.is_allowed(recipient),
            )
            for recipient, transaction in watched.new_destinations()
        ],
        alerts=[Alert(code=code, detail=detail) for code, detail in alerts(watched, calls, least_calls)],
    )


def _xrp(watched: Watched) -> Xrp:
    wallet, kept = watched.wallet, reserve(watched.wallet)
    return Xrp(
        balance=_xrp_text(wallet.balance),
        reserve=_xrp_text(kept),
        spendable=_xrp_text(max(0, wallet.balance - kept)),
        owner_count=wallet.owner_count,
    )


def _rlusd(watched: Watched) -> Rlusd:
    line = watched.wallet.line
    return Rlusd(
        trust_line=line is not None,
        balance=plain(line.balance) if line else "0",
        limit=plain(line.limit) if line else "0",
        frozen=line.is_frozen if line else False,
        no_ripple=line.no_ripple if line else False,
        health=health(watched.wallet),
    )


def _entry(transaction: Transaction, address: str) -> Entry:
    return Entry(
        hash=transaction.hash,
        type=transaction.type,
        result=transaction.result,
        ledger_index=transaction.ledger,
        time=_time(transaction),
        counterparty=counterparty(transaction, address),
        delivered=_delivered(transaction.delivered) if transaction.delivered else None,
        partial=transaction.is_partial,
        deltas=Deltas(xrp=plain(transaction.xrp), rlusd=plain(transaction.rlusd)),
    )


def _failed(transaction: Transaction, address: str) -> FailedTransaction:
    return FailedTransaction(
        hash=transaction.hash,
        type=transaction.type,
        result=transaction.result,
        ledger_index=transaction.ledger,
        time=_time(transaction),
        fee=_xrp_text(transaction.fee) if transaction.sender == address else None,
    )


def _delivered(amount: Amount) -> Delivered:
    return Delivered(value=plain(amount.value), currency=amount.currency, issuer=amount.issuer)


def _time(transaction: Transaction) -> str:
    return datetime.fromtimestamp(transaction.closed_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _xrp_text(drops: int) -> str:
    return plain(Decimal(drops) / DROPS)
