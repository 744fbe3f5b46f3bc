"""The accounts and trust lines of the sandbox's XRP Ledger, and the effects of each kind of transaction.

Written against xrpl.org: "Payment", "Partial Payments", "TrustSet", "TicketCreate", "AccountDelete", "Reserves", "Trust Line
Tokens" and the transaction result codes. Value moves between a holder and an issuer, or between two holders of one issuer.
Paths and the exchange are not supported: a payment that needs them is refused.
"""

from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Context, Decimal
from typing import Any

BASE_FEE = 10
RESERVE_BASE = 1_000_000
RESERVE_INCREMENT = 200_000
"""All in drops, as on the main network."""
MOST_TICKETS = 250
DELETE_AFTER = 255
"""An account's sequence must be so far behind the ledger's number before it may be deleted."""

REQUIRE_DESTINATION_TAG = 0x00020000
DISABLE_MASTER = 0x00100000
GLOBAL_FREEZE = 0x00400000
DEPOSIT_AUTH = 0x01000000
ALLOW_CLAWBACK = 0x80000000
"""Flags of an account."""
PARTIAL_PAYMENT = 0x00020000
"""A flag of a Payment."""
SET_NO_RIPPLE, CLEAR_NO_RIPPLE, SET_FREEZE, CLEAR_FREEZE = 0x00020000, 0x00040000, 0x00100000, 0x00200000
"""Flags of a TrustSet."""

_KEPT, _DOWN = Context(prec=16), Context(prec=16, rounding=ROUND_DOWN)
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
    """A holder's trust line to an issuer. The issuer may freeze it; no-ripple is the holder's setting."""

    balance: Decimal
    limit: Decimal
    frozen: bool = False
    no_ripple: bool = False


@dataclass(slots=True)
class State:
    """The state at one ledger. Its entries are immutable, so a copy is cheap."""

    accounts: dict[str, Account] = field(default_factory=dict)
    lines: dict[LineKey, Line] = field(default_factory=dict)

    def copy(self) -> "State":
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
            case "AccountDelete":
                return self._delete(transaction, index)
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
            return self._pay_token(transaction)
        sender, drops = self.accounts[payer], int(amount)
        if sender.balance - drops < sender.reserve:
            return "tecUNFUNDED_PAYMENT"
        self.accounts[payer] = replace(sender, balance=sender.balance - drops)
        receiver = receiver or Account(0, index)
        self.accounts[payee] = replace(receiver, balance=receiver.balance + drops)
        return "tesSUCCESS"

    def _pay_token(self, transaction: Json) -> str:
        payer, payee, amount = transaction["Account"], transaction["Destination"], transaction["Amount"]
        issuer, currency, value = amount["issuer"], amount["currency"], Decimal(amount["value"])
        source, target = self.lines.get((payer, issuer, currency)), self.lines.get((payee, issuer, currency))
        issuing = self.accounts.get(issuer)
        if issuing is None:
            return "tecNO_ISSUER"
        is_between_holders = issuer not in (payer, payee)
        if is_between_holders and issuing.flags & GLOBAL_FREEZE:
            return "tecPATH_DRY"
        rate = issuing.transfer_rate if is_between_holders else Decimal(1)
        most, least = transaction.get("SendMax") or amount, transaction.get("DeliverMin")
        room, budget = value, Decimal(most["value"])
        if payee != issuer:
            if target is None or target.limit <= target.balance or (target.frozen and is_between_holders):
                return "tecPATH_DRY"
            room = target.limit - target.balance
        if payer != issuer:
            if source is None or source.balance <= 0 or (source.frozen and is_between_holders):
                return "tecPATH_DRY"
            budget = min(budget, source.balance)
        is_enough = _KEPT.multiply(value, rate) <= budget
        delivered = min(value, room, value if is_enough else _DOWN.divide(budget, rate))
        if delivered < value and not transaction.get("Flags", 0) & PARTIAL_PAYMENT:
            return "tecPATH_PARTIAL"
        if least is not None and delivered < Decimal(least["value"]):
            return "tecPATH_PARTIAL"
        if source is not None:
            spent = _KEPT.multiply(delivered, rate)
            self.lines[payer, issuer, currency] = replace(source, balance=_KEPT.subtract(source.balance, spent))
        if target is not None:
            self.lines[payee, issuer, currency] = replace(target, balance=_KEPT.add(target.balance, delivered))
        return "tesSUCCESS"

    def _trust(self, transaction: Json) -> str:
        holder, limit, flags = transaction["Account"], transaction["LimitAmount"], transaction.get("Flags", 0)
        if limit["issuer"] not in self.accounts:
            return "tecNO_DST"
        issued = limit["issuer"], holder, limit["currency"]
        if issued in self.lines and flags & (SET_FREEZE | CLEAR_FREEZE):
            self._freeze(issued, flags)
            return "tesSUCCESS"
        key = holder, limit["issuer"], limit["currency"]
        account, line, value = self.accounts[holder], self.lines.get(key), Decimal(limit["value"])
        if line is None:
            if value == 0:
                return "tecNO_LINE_REDUNDANT"
            # The first two lines of an account need no reserve of their own.
            if account.owned >= 2 and account.balance < account.reserve + RESERVE_INCREMENT:
                return "tecNO_LINE_INSUF_RESERVE"
            self.lines[key] = Line(Decimal(0), value, no_ripple=bool(flags & SET_NO_RIPPLE))
            self.accounts[holder] = replace(account, owned=account.owned + 1)
        elif value == 0 and line.balance == 0:
            del self.lines[key]
            self.accounts[holder] = replace(account, owned=account.owned - 1)
        else:
            is_kept = line.no_ripple and not flags & CLEAR_NO_RIPPLE
            self.lines[key] = replace(line, limit=value, no_ripple=is_kept or bool(flags & SET_NO_RIPPLE))
        return "tesSUCCESS"

    def _freeze(self, issued: LineKey, flags: int) -> None:
        """What an issuer sets on a holder's line."""
        line = self.lines[issued]
        is_kept = line.frozen and not flags & CLEAR_FREEZE
        self.lines[issued] = replace(line, frozen=is_kept or bool(flags & SET_FREEZE))

    def _delete(self, transaction: Json, index: int) -> str:
        name, heir = transaction["Account"], transaction["Destination"]
        account, receiver = self.accounts[name], self.accounts.get(heir)
        if receiver is None:
            return "tecNO_DST"
        if receiver.flags & REQUIRE_DESTINATION_TAG and "DestinationTag" not in transaction:
            return "tecDST_TAG_NEEDED"
        if receiver.flags & DEPOSIT_AUTH:
            return "tecNO_PERMISSION"
        if account.sequence + DELETE_AFTER > index:
            return "tecTOO_SOON"
        if any(name in key[:2] for key in self.lines):
            return "tecHAS_OBLIGATIONS"
        self.accounts[heir] = replace(receiver, balance=receiver.balance + account.balance)
        del self.accounts[name]
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
