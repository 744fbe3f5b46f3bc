"""The answer of xrpl-wallet-watch: its fields, and how they are written."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

import msgspec

from jobs.fields import Ok, doc
from jobs.ports.xrpl import Amount, Transaction
from jobs.xrpl_wallet_watch.alerts import alerts
from jobs.xrpl_wallet_watch.lookalike import imitates_rlusd
from jobs.xrpl_wallet_watch.watch import DROPS, Watched, counterparty, health, plain, reserve, runway
from shared.money import Price


class Baseline(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What this call is compared with."""

    created: Annotated[bool, doc("Whether this call made the first baseline, so that nothing was compared.")]
    previous_ledger_index: Annotated[int | None, doc("The ledger of the last call. Null in the first call.")]
    previous_at: Annotated[str | None, doc("When the last call was paid for, ISO 8601 in UTC. Null in the first call.")]


class Xrp(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The wallet's XRP. Amounts are in XRP, not drops."""

    balance: Annotated[str, doc("All of its XRP.")]
    reserve: Annotated[str, doc("The part that only fees may be paid from, by the network's present rules.")]
    spendable: Annotated[str, doc("The balance without the reserve.")]
    owner_count: Annotated[int, doc("How many ledger entries it keeps a reserve for.")]


class Rlusd(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The trust line to the issuer of RLUSD."""

    trust_line: Annotated[bool, doc("Whether there is a trust line.")]
    balance: Annotated[str, doc("Its RLUSD. `0` without a trust line.")]
    limit: Annotated[str, doc("The limit of the trust line. `0` without one.")]
    frozen: Annotated[bool, doc("Whether it is frozen, by either side or by the issuer for everybody.")]
    no_ripple: Annotated[
        bool, doc("The holder's NoRipple setting. Without it, payments of others may go through the line.")
    ]
    clawback: Annotated[bool, doc("Whether the issuer may take back what the wallet has. False without a trust line.")]
    health: Annotated[str, doc("`ok`, `missing`, `frozen` or `empty`.")]


class CallRunway(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many calls of this endpoint the wallet can pay for."""

    calls_remaining: Annotated[int, doc("The number of calls.")]
    price_per_call: Annotated[str, doc("The price of a call, in RLUSD.")]
    limited_by: Annotated[str, doc("What runs out first: `rlusd`, or `xrp` for the network's fees.")]
    min_calls_remaining: Annotated[int, doc("The threshold of the request.")]
    below_threshold: Annotated[bool, doc("Whether `callsRemaining` is below the threshold.")]


class TokenAmount(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An amount of XRP or of a token."""

    value: Annotated[str, doc("The amount, in whole units.")]
    currency: Annotated[
        str, doc("`XRP`, `RLUSD` for Ripple's own, else the ledger's code or the id of a multi-purpose token.")
    ]
    issuer: Annotated[str | None, doc("The issuer. Null for XRP and multi-purpose tokens.")]
    imitates_rlusd: Annotated[
        bool,
        doc("Whether its code reads like RLUSD, or its issuer's address like that of RLUSD, and it is another token."),
    ]


class Deltas(msgspec.Struct, frozen=True, kw_only=True):
    """Balance changes, as signed decimals."""

    xrp: Annotated[str, doc("The change in XRP.")]
    rlusd: Annotated[str, doc("The change in RLUSD.")]


class Validated(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A validated transaction."""

    hash: Annotated[str, doc("The hash of the transaction.")]
    type: Annotated[str, doc("Its type, such as `Payment`.")]
    result: Annotated[str, doc("Its result code, such as `tesSUCCESS`.")]
    ledger_index: Annotated[int, doc("The number of its ledger.")]
    time: Annotated[str, doc("When its ledger closed, ISO 8601 in UTC.")]


class Entry(Validated, frozen=True, kw_only=True, rename="camel"):
    """A validated transaction that touched the wallet."""

    counterparty: Annotated[str | None, doc("The other account. Null when there is none.")]
    delivered: Annotated[
        TokenAmount | None, doc("What arrived at the recipient. Null when nothing did, or the ledger does not say.")
    ]
    promised: Annotated[
        TokenAmount | None,
        doc(
            "What an escrow, a check or a payment channel puts aside or allows. None of it has arrived. Null for others."
        ),
    ]
    partial: Annotated[bool, doc("Whether less arrived than the transaction says.")]
    deltas: Annotated[Deltas, doc("What it changed in this wallet.")]


class Activity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What happened since the last call."""

    from_ledger: Annotated[int, doc("The ledger of the last call: what came after it is listed.")]
    to_ledger: Annotated[int, doc("The last ledger that is covered.")]
    count: Annotated[int, doc("The number of `transactions`.")]
    truncated: Annotated[bool, doc("Whether there is more, which the next call lists.")]
    complete: Annotated[bool, doc("Whether nothing is missing in between.")]
    transactions: Annotated[list[Entry], doc("The validated transactions that touched the wallet, the oldest first.")]


class FailedTransaction(Validated, frozen=True, kw_only=True, rename="camel"):
    """A transaction that did nothing but cost its fee."""

    fee: Annotated[str | None, doc("The fee that the wallet paid for it, in XRP. Null when another account paid it.")]


class NewDestination(msgspec.Struct, frozen=True, kw_only=True):
    """A recipient that no earlier call listed."""

    address: Annotated[str, doc("The recipient's classic address.")]
    tag: Annotated[int | None, doc("The destination tag. Null when there is none.")]
    hash: Annotated[str, doc("The hash of the first transaction that names it.")]
    allowed: Annotated[bool, doc("Whether `allowedDestinations` has it.")]


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """Something to look at."""

    code: Annotated[str, doc("The alert, as a code.")]
    detail: Annotated[str, doc("The alert in a sentence.")]


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: Ok
    address: Annotated[str, doc("The wallet's classic address.")]
    tag: Annotated[int | None, doc("The tag of the X-address in the request. Null when it has none.")]
    activated: Annotated[bool, doc("Whether the account exists.")]
    ledger_index: Annotated[int, doc("The validated ledger in which the wallet was read.")]
    baseline: Baseline
    xrp: Xrp
    rlusd: Rlusd
    call_runway: CallRunway
    activity: Activity
    deltas: Annotated[Deltas, doc("What all listed transactions together changed in this wallet.")]
    failed_transactions: Annotated[
        list[FailedTransaction], doc("The listed transactions that did nothing but cost their fee.")
    ]
    new_destinations: Annotated[
        list[NewDestination], doc("Recipients that the wallet paid, or promised to pay, for the first time.")
    ]
    alerts: Annotated[list[Alert], doc("What to look at, the most urgent first.")]


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
            transactions=[_entry(transaction, watched) for transaction in watched.transactions],
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
        clawback=line.allows_clawback if line else False,
        health=health(watched.wallet),
    )


def _entry(transaction: Transaction, watched: Watched) -> Entry:
    return Entry(
        **_validated(transaction),
        counterparty=counterparty(transaction, watched.address),
        delivered=_amount(transaction.delivered, watched),
        promised=_amount(transaction.promised, watched),
        partial=transaction.is_partial,
        deltas=Deltas(xrp=plain(transaction.xrp), rlusd=plain(transaction.rlusd)),
    )


def _failed(transaction: Transaction, address: str) -> FailedTransaction:
    fee = _xrp_text(transaction.fee) if transaction.sender == address else None
    return FailedTransaction(**_validated(transaction), fee=fee)


def _validated(transaction: Transaction) -> dict[str, Any]:
    return {
        "hash": transaction.hash,
        "type": transaction.type,
        "result": transaction.result,
        "ledger_index": transaction.ledger,
        "time": datetime.fromtimestamp(transaction.closed_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _amount(amount: Amount | None, watched: Watched) -> TokenAmount | None:
    if amount is None:
        return None
    imitates = imitates_rlusd(amount, watched.network)
    return TokenAmount(
        value=plain(amount.value), currency=amount.currency, issuer=amount.issuer, imitates_rlusd=imitates
    )


def _xrp_text(drops: int) -> str:
    return plain(Decimal(drops) / DROPS)
