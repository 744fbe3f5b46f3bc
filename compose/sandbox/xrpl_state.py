"""The accounts and trust lines of the sandbox's XRP Ledger, and the effects of each kind of transaction.

Written against xrpl.org: "Payment", "TrustSet", "TicketCreate", "Reserves", "Trust Line Tokens" and the transaction result
codes. Value moves between a holder and an issuer, or between two holders of one issuer. Paths, the exchange and partial
payments are not supported: a payment that needs them is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from typing import Any

BASE_FEE = 10
RESERVE_BASE = 1_000_000
RESERVE_INCREMENT = 200_000
"""All in drops, as on the main network."""
MOST_TICKETS = 250

REQUIRE_DESTINATION_TAG = 0x00020000
DISABLE_MASTER = 0x00100000
GLOBAL_FREEZE = 0x00400000
DEPOSIT_AUTH = 0x01000000
"""Flags of an account."""

_KEPT = Context(prec=16)
"""Significant digits of a token's amount."""

Json = dict[str, Any]
LineKey = tuple[str, str, str]
"""Holder, issuer, currency."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account root.

    Attributes:
        balance: drops.
        regular_key: the address of another key that may sign; empty when there is none.
        transfer_rate: what holders of its tokens spend for each one that arrives.
    """

    balance: int
    sequence: int
    flags: int = 0
    regular_key: str = ""
    owned: int = 0
    tickets: frozenset[int] = frozenset()
    transfer_rate: Decimal = Decimal(1)

    @property
    def reserve(self) -> int:
        """Drops that can only pay fees."""
        return RESERVE_BASE + self.owned * RESERVE_INCREMENT


@dataclass(frozen=True, slots=True)
class Line:
    """A holder's trust line to an issuer. The issuer may freeze it."""

    balance: Decimal
    limit: Decimal
    frozen: bool = False


@dataclass(slots=True)
class State:
    """The state at one ledger. Its entries are immutable, so a copy is cheap."""

    accounts: dict[str, Account] = field(default_factory=dict)
    lines: dict[LineKey, Line] = field(default_factory=dict)

    def copy(self) -> State:
        """A copy that can be changed."""
        return State(dict(self.accounts), dict(self.lines))

    def tickets(self, account: str) -> list[int]:
        """The tickets of an account, in order."""
        return sorted(self.accounts[account].tickets)

    def apply(self, transaction: Json, index: int) -> str:
        """Apply a transaction in ledger `index` and return its result. Only tesSUCCESS changes the state."""
        match transaction["TransactionType"]:
            case "Payment":
                return self._pay(transaction, index)
            case "TrustSet":
                return self._trust(transaction)
            case _:
                return self._create_tickets(transaction)

    def _pay(self, transaction: Json, index: int) -> str:
        payer, payee, amount = transaction["Account"], transaction["Destination"], transaction["Amount"]
        receiver = self.accounts.get(payee)
        if receiver is None and (isinstance(amount, dict) or int(amount) < RESERVE_BASE):
            return "tecNO_DST" if isinstance(amount, dict) else "tecNO_DST_INSUF_XRP"
        if receiver is not None:
            if receiver.flags & REQUIRE_DESTINATION_TAG and "DestinationTag" not in transaction:
                return "tecDST_TAG_NEEDED"
            if receiver.flags & DEPOSIT_AUTH:
                return "tecNO_PERMISSION"
        if isinstance(amount, dict):
            return self._pay_token(payer, payee, amount, transaction.get("SendMax", amount))
        sender, drops = self.accounts[payer], int(amount)
        if sender.balance - drops < sender.reserve:
            return "tecUNFUNDED_PAYMENT"
        self.accounts[payer] = replace(sender, balance=sender.balance - drops)
        receiver = receiver or Account(0, index)
        self.accounts[payee] = replace(receiver, balance=receiver.balance + drops)
        return "tesSUCCESS"

    def _pay_token(self, payer: str, payee: str, amount: Json, most: Json) -> str:
        issuer, currency, value = amount["issuer"], amount["currency"], Decimal(amount["value"])
        source, target = self.lines.get((payer, issuer, currency)), self.lines.get((payee, issuer, currency))
        issuing = self.accounts.get(issuer)
        if issuing is None:
            return "tecNO_ISSUER"
        is_between_holders = issuer not in (payer, payee)
        if is_between_holders and issuing.flags & GLOBAL_FREEZE:
            return "tecPATH_DRY"
        spent = _KEPT.multiply(value, issuing.transfer_rate if is_between_holders else Decimal(1))
        if payee != issuer:
            if target is None or target.limit <= target.balance or (target.frozen and is_between_holders):
                return "tecPATH_DRY"
            if target.limit - target.balance < value:
                return "tecPATH_PARTIAL"
        if payer != issuer:
            if source is None or source.balance <= 0 or (source.frozen and is_between_holders):
                return "tecPATH_DRY"
            if source.balance < spent or spent > Decimal(most["value"]):
                return "tecPATH_PARTIAL"
            self.lines[payer, issuer, currency] = replace(source, balance=_KEPT.subtract(source.balance, spent))
        if target is not None:
            self.lines[payee, issuer, currency] = replace(target, balance=_KEPT.add(target.balance, value))
        return "tesSUCCESS"

    def _trust(self, transaction: Json) -> str:
        holder, limit = transaction["Account"], transaction["LimitAmount"]
        if limit["issuer"] not in self.accounts:
            return "tecNO_DST"
        key = holder, limit["issuer"], limit["currency"]
        account, line, value = self.accounts[holder], self.lines.get(key), Decimal(limit["value"])
        if line is None:
            if value == 0:
                return "tecNO_LINE_REDUNDANT"
            # The first two lines of an account need no reserve of their own.
            if account.owned >= 2 and account.balance < account.reserve + RESERVE_INCREMENT:
                return "tecNO_LINE_INSUF_RESERVE"
            self.lines[key] = Line(Decimal(0), value)
            self.accounts[holder] = replace(account, owned=account.owned + 1)
        elif value == 0 and line.balance == 0:
            del self.lines[key]
            self.accounts[holder] = replace(account, owned=account.owned - 1)
        else:
            self.lines[key] = replace(line, limit=value)
        return "tesSUCCESS"

    def _create_tickets(self, transaction: Json) -> str:
        name, count = transaction["Account"], transaction["TicketCount"]
        account = self.accounts[name]
        if len(account.tickets) + count > MOST_TICKETS:
            return "tecDIR_FULL"
        if account.balance < account.reserve + count * RESERVE_INCREMENT:
            return "tecINSUFFICIENT_RESERVE"
        made = frozenset(range(account.sequence, account.sequence + count))
        self.accounts[name] = replace(
            account, sequence=account.sequence + count, owned=account.owned + count, tickets=account.tickets | made
        )
        return "tesSUCCESS"
