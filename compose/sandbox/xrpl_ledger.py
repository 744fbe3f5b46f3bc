"""The sandbox's XRP Ledger: a chain of ledgers in memory, each validated as soon as it is closed.

It is a test double of the public ledger for token payments, and checks everything for which a payment can be refused. A
closed ledger is final. xrpl_node.py adds the sockets and the clock.
"""

import time
from collections import deque
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import takewhile
from typing import Any

from xrpl.core.binarycodec import decode, encode, encode_for_signing

from compose.sandbox.xrpl_judge import is_well_signed, malformed, untimely
from compose.sandbox.xrpl_state import Account, Line, State
from shared.x402.xrpl_keys import sha512_half

RIPPLE_EPOCH = 946_684_800
"""Unix seconds at which the ledger's clock starts."""
FIRST_INDEX_SINCE = 1_700_000_000
"""A ledger's number is derived from the seconds since then, so that a new sandbox does not use a number again."""
HISTORY = 20_000
"""Ledgers that are kept: some hours."""
EMPTY_HISTORY = 300
"""Ledgers that exist before the first closed one, so that a new chain can be searched."""
STATES = 16
"""Ledgers whose accounts and lines are kept."""
MOST_HELD = 1_000
_HASH_PREFIX = b"TXN\0"

Json = dict[str, Any]


class NotATransaction(ValueError):
    """The blob is invalid, not canonical or wrongly signed. The text is rippled's `error_exception`."""


@dataclass(slots=True)
class Applied:
    """A transaction in a ledger.

    Attributes:
        index: of the ledger; 0 while it is open.
        before, after: the states of everything that it touched.
        meta: the metadata of a transaction that was recorded and not executed (tests/xrpl_recorded.py); None for the others.
    """

    transaction: Json
    hash: str
    result: str
    position: int
    before: State
    after: State
    index: int = 0
    meta: Json | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """A validated ledger. `close_time` is in Unix seconds."""

    index: int
    hash: str
    parent: str
    close_time: int
    transactions: tuple[Applied, ...] = ()


@dataclass(slots=True)
class Ledger:
    """The chain, its open ledger, and the transactions that wait.

    Attributes:
        lose: how many of the next submissions are accepted and lost, as by a server that is shut down.
        missing: the ledgers whose history this server does not have.
    """

    network_id: int = 0
    lose: int = 0
    chain: deque[Closed] = field(default_factory=deque)
    state: State = field(default_factory=State)
    open: State = field(default_factory=State)
    states: dict[int, State] = field(default_factory=dict)
    missing: set[int] = field(default_factory=set)
    _pending: list[Applied] = field(default_factory=list)
    _known: dict[str, Applied] = field(default_factory=dict)
    _held: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        now, parent = int(time.time()), "0" * 64
        for index in range(now - FIRST_INDEX_SINCE - EMPTY_HISTORY, now - FIRST_INDEX_SINCE):
            closed = Closed(index, _hash_of(index, parent, ()), parent, index + FIRST_INDEX_SINCE)
            self.chain.append(closed)
            parent = closed.hash
        self.states[self.validated.index] = self.state

    @property
    def validated(self) -> Closed:
        """The newest."""
        return self.chain[-1]

    @property
    def open_index(self) -> int:
        """Of the ledger that is being filled."""
        return self.validated.index + 1

    def submit(self, blob: str) -> tuple[str, Json, str]:
        """Apply a signed transaction to the open ledger: its preliminary result, itself, and its hash.

        Raises:
            NotATransaction: the blob is not a valid transaction.
        """
        transaction, transaction_hash = self._read(blob)
        code = malformed(transaction, self.network_id)
        if code is None and self.lose:
            self.lose -= 1
            return "tesSUCCESS", transaction, transaction_hash
        return code or self._try(transaction, transaction_hash), transaction, transaction_hash

    def find(self, transaction_hash: str) -> Applied | None:
        """A transaction in an open or closed ledger that this server has."""
        applied = self._known.get(transaction_hash)
        return None if applied is not None and applied.index in self.missing else applied

    def record(self, transaction: Json, transaction_hash: str, meta: Json, before: State, after: State) -> None:
        """Add a transaction that is not executed. The open ledger must have the state after it already."""
        applied = Applied(transaction, transaction_hash, meta["TransactionResult"], len(self._pending), before, after)
        applied.meta = {**meta, "TransactionIndex": applied.position}
        self._pending.append(applied)
        self._known[transaction_hash] = applied

    def close(self) -> Closed:
        """Close the open ledger, and start the next one with the waiting transactions."""
        parent, transactions = self.validated, tuple(self._pending)
        index = self.open_index
        for applied in transactions:
            applied.index = index
        closed_at = max(int(time.time()), parent.close_time + 1)
        closed = Closed(index, _hash_of(index, parent.hash, transactions), parent.hash, closed_at, transactions)
        self.chain.append(closed)
        self.state, self._pending = self.open, []
        self.open = self.state.copy()
        self.states[index] = self.state
        self.states.pop(index - STATES, None)
        while len(self.chain) > HISTORY:
            self._forget_oldest()
        held, self._held = self._held, {}
        for transaction_hash, transaction in held.items():
            self._try(transaction, transaction_hash)
        return closed

    def forget(self, before: int) -> None:
        """Drop the history before a ledger, as servers with little history do."""
        while self.chain[0].index < before and len(self.chain) > 1:
            self._forget_oldest()

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges of ledgers that this server has, each as first and last ledger, in ascending order."""
        starts = [self.chain[0].index]
        starts += [index + 1 for index in sorted(self.missing) if index + 1 not in self.missing]
        ends = [index - 1 for index in sorted(self.missing) if index - 1 not in self.missing]
        ends.append(self.validated.index)
        return [(first, last) for first, last in zip(starts, ends, strict=True) if first <= last]

    def transactions_of(self, account: str, *, first: int = 0) -> list[Applied]:
        """The validated transactions that touched an account, newest first.

        Args:
            first: the oldest ledger to search.
        """
        return [
            applied
            for closed in takewhile(lambda closed: closed.index >= first, reversed(self.chain))
            for applied in reversed(closed.transactions)
            if account in touched(applied)
        ]

    def fund(self, account: str, drops: int, **changes: Any) -> None:
        """Create or change an account without a transaction. The validated ledger has it at once."""
        for state in (self.state, self.open):
            known = state.accounts.get(account, Account(0, self.open_index))
            state.accounts[account] = replace(known, balance=drops, **changes)

    def trust(self, holder: str, issuer: str, currency: str, balance: str, limit: str, **settings: bool) -> None:
        """Create or change a trust line without a transaction. `settings` are fields of Line."""
        for state in (self.state, self.open):
            key = holder, issuer, currency
            if key not in state.lines:
                state.accounts[holder] = replace(state.accounts[holder], owned=state.accounts[holder].owned + 1)
            state.lines[key] = Line(Decimal(balance), Decimal(limit), **settings)

    def _read(self, blob: str) -> tuple[Json, str]:
        try:
            transaction = decode(blob)
            is_canonical = encode(transaction) == blob.upper()
            signed = bytes.fromhex(encode_for_signing(transaction))
            is_signed = is_well_signed(transaction, signed)
        except Exception as error:  # xrpl-py's decoder raises exceptions of any kind
            raise NotATransaction(f"not a transaction: {type(error).__name__}") from None
        if not is_canonical:
            raise NotATransaction("not canonical")
        if not is_signed or "Account" not in transaction or "Sequence" not in transaction:
            raise NotATransaction("fails local checks: Invalid signature.")
        return transaction, sha512_half(_HASH_PREFIX + bytes.fromhex(blob)).hex().upper()

    def _try(self, transaction: Json, transaction_hash: str) -> str:
        if transaction_hash in self._known:
            return "tefALREADY" if not self._known[transaction_hash].index else "tefPAST_SEQ"
        code = untimely(transaction, self.open, self.open_index)
        if code is not None:
            if code.startswith("ter") and len(self._held) < MOST_HELD:
                self._held[transaction_hash] = transaction
            return code
        before = self.open.copy()
        _spend(self.open, transaction)
        result = self.open.apply(transaction, self.open_index)
        after = State(dict(self.open.accounts), dict(self.open.lines))
        applied = Applied(transaction, transaction_hash, result, len(self._pending), *changed(before, after))
        self._pending.append(applied)
        self._known[transaction_hash] = applied
        return result

    def _forget_oldest(self) -> None:
        oldest = self.chain.popleft()
        self.missing.discard(oldest.index)
        for applied in oldest.transactions:
            del self._known[applied.hash]


def touched(applied: Applied) -> set[str]:
    """The accounts whose balances or lines a transaction changed."""
    states = (applied.before, applied.after)
    accounts = {account for state in states for account in state.accounts}
    return accounts | {account for state in states for key in state.lines for account in key[:2]}


def _spend(state: State, transaction: Json) -> None:
    """Charge the fee and use the sequence. A failed transaction does both, too."""
    name, ticket = transaction["Account"], transaction.get("TicketSequence")
    account = state.accounts[name]
    account = replace(account, balance=account.balance - int(transaction["Fee"]))
    if ticket is None:
        account = replace(account, sequence=account.sequence + 1)
    else:
        account = replace(account, tickets=account.tickets - {ticket}, owned=account.owned - 1)
    state.accounts[name] = account


def changed(before: State, after: State) -> tuple[State, State]:
    """Only the accounts and lines that differ."""
    names = before.accounts | after.accounts
    accounts = [name for name in names if before.accounts.get(name) != after.accounts.get(name)]
    lines = [key for key in before.lines | after.lines if before.lines.get(key) != after.lines.get(key)]
    return (
        State(
            {name: before.accounts[name] for name in accounts if name in before.accounts},
            {key: before.lines[key] for key in lines if key in before.lines},
        ),
        State(
            {name: after.accounts[name] for name in accounts if name in after.accounts},
            {key: after.lines[key] for key in lines if key in after.lines},
        ),
    )


def _hash_of(index: int, parent: str, transactions: tuple[Applied, ...]) -> str:
    content = f"{index}:{parent}:" + ",".join(applied.hash for applied in transactions)
    return sha512_half(content.encode()).hex().upper()
