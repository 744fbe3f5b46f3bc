"""Sums of the books: what was sold, what was received for it, and what that cost."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Context, Decimal
from itertools import groupby
from typing import Any

from ops import chains
from ops.books.facts import CALL, PAYOUT, REFUNDED, TRANSFER, Fact, folded
from ops.books.store import DAY_MS, Books
from ops.chains import CHAIN, FACILITATOR
from shared.networks import network_of

GROUPS = ("day", "endpoint", "rail", "payer")
UNKNOWN, CHANNELS = "unknown", "(channels)"
"""In place of an endpoint: for a transfer that the ledger forgot, and for payouts of the channels' contract and claims."""
EXACT = Context(prec=78)
_ENTRIES = """
WITH chosen AS (SELECT DISTINCT network, tx FROM entries WHERE settled >= ? AND settled < ?)
SELECT entries.*, fees.amount, fees.sender, fees.source FROM chosen JOIN entries USING (network, tx)
LEFT JOIN fees USING (network, tx) ORDER BY network, tx, id
"""


@dataclass(slots=True)
class Line:
    """One group's sales of one token. Amounts are of the token, and fees of the network's coin, in atomic units. On the XRP
    Ledger amounts are whole tokens.

    Attributes:
        charged: what calls were sold for.
        by_channels: of `charged`: paid by vouchers. It is received when the claimer claims, in lines of CHANNELS.
        received: what arrived at the recipient.
        refundable, refunded: of `charged`: not answered, and paid back.
        lost: taken back by the chain. It is in `charged` and not in `received`.
        fees: what we paid for transactions.
        fees_of: whose the other transactions' fees are, and what is not known.
        challenges: 402s of requests without a payment. They have no token.
    """

    key: str
    rail: str = ""
    network: str = ""
    asset: str = ""
    token: str = ""
    decimals: int = 0
    coin: str = ""
    coin_decimals: int = 0
    calls: int = 0
    charged: Decimal = Decimal(0)
    by_channels: Decimal = Decimal(0)
    received: Decimal = Decimal(0)
    refundable: Decimal = Decimal(0)
    refunded: Decimal = Decimal(0)
    lost: Decimal = Decimal(0)
    fees: int = 0
    fees_of: str = ""
    challenges: int = 0

    def row(self) -> dict[str, Any]:
        """The line as it is printed: each amount in atomic units and as a decimal."""
        shown: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Decimal):
                shown[f"{field.name}_atomic"] = plain(value)
                shown[field.name] = plain(self.whole(value))
            elif field.name == "fees":
                shown["fees_atomic"], shown["fees"] = (
                    str(value),
                    plain(Decimal(value).scaleb(-self.coin_decimals, EXACT)),
                )
            elif not field.name.endswith("decimals"):
                shown[field.name] = value
        return shown

    def whole(self, amount: Decimal) -> Decimal:
        """An amount in whole tokens, which are dollars."""
        return amount.scaleb(-self.decimals, EXACT)


def summed(books: Books, first: int, end: int, by: str, without: Collection[str] = ()) -> list[Line]:
    """The lines of a report, sorted.

    Args:
        first, end: Unix milliseconds. `end` does not belong to it.
        by: one of GROUPS.
        without: wallets whose calls are left out, folded.
    """
    lines: dict[tuple[str, str, str], Line] = {}

    def line(entry: Fact) -> Line:
        endpoint = entry.endpoint or (UNKNOWN if entry.kind == TRANSFER else CHANNELS)
        rail, token = chains.rail_of(entry.network, entry.asset) or (None, None)
        day = str(datetime.fromtimestamp(entry.settled / 1000, UTC).date())
        payer = CHANNELS if endpoint == CHANNELS else entry.payer
        key = {"day": day, "endpoint": endpoint, "rail": rail or entry.network, "payer": payer}[by]
        found = lines.get((key, entry.network, entry.asset))
        if found is None:
            found = lines[key, entry.network, entry.asset] = Line(key, rail or "", entry.network, entry.asset)
            if rail and token:
                found.token, found.decimals = token.symbol, token.decimals
                found.coin, found.coin_decimals = chains.coin(network_of(rail).name)
        return found

    settlers = {address for (address,) in books.rows("SELECT address FROM settlers")}
    found = ((Fact(*row[:-4]), row[-3:]) for row in books.rows(_ENTRIES, first, end))
    for (_, transaction), members in groupby(found, key=lambda one: (one[0].network, one[0].transaction)):
        group = list(members)
        for number, (entry, fee) in enumerate(group):
            if first <= entry.settled < end and folded(entry.payer) not in without:
                _add(line(entry), entry)
                if transaction:
                    _add_fee(line(entry), fee, number, len(group), settlers)
    days = first // DAY_MS, end // DAY_MS
    for day, channel, endpoint, network, asset, payer, calls, amount in books.rows(
        "SELECT * FROM charges WHERE day >= ? AND day < ?", *days
    ):
        if folded(payer) not in without:
            entry = Fact(channel, CALL, network, asset, endpoint, payer, str(amount), "", day * DAY_MS)
            of_charges = line(entry)
            of_charges.calls += calls
            of_charges.charged += amount
            of_charges.by_channels += amount
    for day, endpoint, count in books.rows("SELECT * FROM challenges WHERE day >= ? AND day < ?", *days):
        key = {"day": str(datetime.fromtimestamp(day * DAY_MS / 1000, UTC).date()), "endpoint": endpoint}.get(by, "")
        lines.setdefault((key, "", ""), Line(key)).challenges += count
    return [found for _, found in sorted(lines.items())]


def _add(line: Line, entry: Fact) -> None:
    amount = Decimal(entry.amount)
    if entry.kind in (CALL, TRANSFER):
        line.calls += 1
        line.charged += amount
        if entry.state == REFUNDED:
            line.refunded += amount
        elif entry.state == "FAILED" and not entry.lost:
            line.refundable += amount
    if entry.kind in (CALL, TRANSFER, PAYOUT):
        if entry.lost:
            line.lost += amount
        else:
            line.received += amount


def _add_fee(line: Line, fee: tuple[str | None, str, str], number: int, members: int, settlers: set[str]) -> None:
    """Add one payment's part of what its transaction cost. The parts of a group differ by one atomic unit at most, and their
    sum is the cost."""
    amount, sender, source = fee
    if amount is None:
        source = "not read yet"
    elif source == CHAIN and sender and settlers and sender not in settlers:
        source = FACILITATOR
    elif source == CHAIN:
        line.fees += int(amount) // members + (number < int(amount) % members)
    line.fees_of = "+".join(sorted({*filter(None, line.fees_of.split("+")), source}))


def plain(number: Decimal) -> str:
    """A number without exponent and trailing zeros."""
    return format(number.normalize(EXACT), "f") if number else "0"
