"""A Stellar network in this process, as far as payments need it: accounts, USDC, a queue and closed ledgers.

Everything is in memory. It is not thread-safe: the server holds a lock around every call. As on the real network, an account
has one transaction in the queue at most, a transaction that becomes invalid leaves the queue without a trace, and a call that
fails costs its fee and its sequence number.
"""

import bisect
import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from stellar_sdk import Asset, CreateAccount, Payment, xdr

from compose.sandbox import stellar_contract as contract
from compose.sandbox.stellar_contract import Account, Allowed, AssetContract, Effect, State, Trapped, TrustLine
from compose.sandbox.stellar_transaction import BASE_FEE, BASE_RESERVE, INSTRUCTIONS, STROOPS, Code, Sent, read, refusal

HISTORY_LEDGERS = 20_000
"""How many are kept: a day and some hours of the real network's."""
FIRST_LEDGER = 64
BANNED_LEDGERS = 10
_READ_BYTES = _WRITE_BYTES = 600


@dataclass(frozen=True, slots=True)
class Submission:
    """The answer of sendTransaction. For an ERROR `code` is the cause; `inner`: it is in a fee bump's inner transaction."""

    status: str
    hash: str
    code: Code | None = None
    inner: bool = False


@dataclass(slots=True)
class Applied:
    """A transaction in its ledger.

    Attributes:
        effect: of its call; None when it failed, or was none.
        error: why it failed; empty when it did not.
    """

    sent: Sent
    ledger: int
    order: int
    close_time: int
    fee_charged: int
    effect: Effect | None = None
    error: str = ""


@dataclass
class Ledger:
    """The network.

    Args:
        clock: Unix seconds. The time of a ledger is never before that of the previous one.
        ledger_s: the time between the ledgers that seem to have been closed before the first one.
    """

    passphrase: str
    asset: Asset
    clock: Callable[[], float] = time.time
    ledger_s: float = 1.0
    state: State = field(default_factory=State)
    sequence: int = FIRST_LEDGER
    queue: dict[str, Sent] = field(default_factory=dict)
    applied: dict[str, Applied] = field(default_factory=dict)
    held: bool = False
    lost: int = 0

    def __post_init__(self) -> None:
        self.contract = AssetContract(self.asset, self.passphrase)
        self._times = [int(self.clock() - (FIRST_LEDGER - each) * self.ledger_s) for each in range(1, FIRST_LEDGER + 1)]
        self._first = 1
        self._history: list[Applied] = []

    @property
    def close_time(self) -> int:
        """Of the newest ledger, in Unix seconds."""
        return self._times[-1]

    @property
    def oldest(self) -> int:
        """The oldest ledger that is kept."""
        return self._first

    def time_of(self, ledger: int) -> int:
        """When a ledger was closed, in Unix seconds."""
        return self._times[ledger - self._first]

    def fund(self, account: str, *, lumens: int = 0, units: int | None = None, limit: int | None = None) -> None:
        """Create an account with lumens, and with a trust line and USDC (atomic units) if given."""
        held = self.state.accounts.setdefault(account, Account(2 * BASE_RESERVE, self.sequence << 32))
        held.balance += lumens * STROOPS
        if units is not None and account not in self.state.lines:
            held.sub_entries += 1
            held.balance += BASE_RESERVE
            self.state.lines[account] = TrustLine(0)
        if units is not None:
            self.state.lines[account].balance += units
        if limit is not None:
            self.state.lines[account].limit = limit

    def send(self, text: str) -> Submission:
        """Put a transaction into the queue, or say why that is not possible. Raises Unreadable."""
        sent = read(text, self.passphrase)
        waiting = self.queue.get(sent.source)
        if waiting is not None:
            return Submission("DUPLICATE" if waiting.hash == sent.hash else "TRY_AGAIN_LATER", sent.hash)
        before = self.applied.get(sent.hash)
        if before is not None and self.sequence - before.ledger < BANNED_LEDGERS:
            return Submission("TRY_AGAIN_LATER", sent.hash)
        reserved = sum(each.fee for each in self.queue.values() if each.fee_source == sent.fee_source)
        refused = refusal(sent, self.state, close_time=int(self.clock()), reserved=reserved)
        if refused is not None:
            return Submission("ERROR", sent.hash, *refused)
        if self.lost:
            self.lost -= 1  # the node accepts the transaction and loses it
        else:
            self.queue[sent.source] = sent
        return Submission("PENDING", sent.hash)

    def tick(self) -> None:
        """A second has passed."""
        if not self.held:
            self.close()

    def close(self, ledgers: int = 1) -> None:
        """Close ledgers. The waiting transactions go into the first one."""
        for _ in range(ledgers):
            self.sequence += 1
            self._times.append(max(self.close_time, int(self.clock())))
            waiting, self.queue = self.queue, {}
            for order, sent in enumerate(waiting.values(), 1):
                if refusal(sent, self.state, close_time=self.close_time) is None:
                    self._apply(sent, order)
            nonces = self.state.nonces
            for used in [used for used, (until, _) in nonces.items() if until < self.sequence]:
                del nonces[used]
            self._forget()

    def simulate(self, sent: Sent, allowed: Allowed) -> tuple[Effect, xdr.SorobanResources]:
        """The effect that its call would have in the next ledger, and its resources. Raises Trapped."""
        [operation] = sent.operations
        effect = self.contract.call(self.state, self.sequence + 1, operation.host_function.invoke_contract, allowed)
        footprint = xdr.LedgerFootprint(effect.reads, effect.writes)
        return effect, xdr.SorobanResources(
            footprint, xdr.Uint32(INSTRUCTIONS * 11 // 10), xdr.Uint32(_READ_BYTES), xdr.Uint32(_WRITE_BYTES)
        )

    def transaction(self, transaction_hash: str) -> Applied | None:
        """A transaction by its hash, or by the hash of a fee bump's inner transaction."""
        return self.applied.get(transaction_hash)

    def between(self, first: int, end: int) -> list[Applied]:
        """The transactions of the ledgers from `first` on and before `end`."""
        start = bisect.bisect_left(self._history, first, key=lambda each: each.ledger)
        return self._history[start : bisect.bisect_left(self._history, end, key=lambda each: each.ledger)]

    def _apply(self, sent: Sent, order: int) -> None:
        accounts = self.state.accounts
        operations = len(sent.operations) + (sent.outer is not None)
        fee = BASE_FEE * operations + sent.resource_fee
        accounts[sent.fee_source].balance -= fee
        accounts[sent.source].sequence += 1
        applied = Applied(sent, self.sequence, order, self.close_time, fee)
        before = copy.deepcopy((accounts, self.state.lines)) if sent.resource_fee == 0 else (accounts, self.state.lines)
        try:
            for operation in sent.operations:
                if isinstance(operation, CreateAccount):
                    self._create(operation, sent)
                elif isinstance(operation, Payment):
                    self._pay(operation, sent)
                else:
                    applied.effect = self._call(sent)
                    contract.apply(self.state, applied.effect, self.sequence)
        except Trapped as why:
            applied.effect, applied.error = None, str(why)
            self.state.accounts, self.state.lines = before
        self.applied[sent.hash] = self.applied[sent.inner_hash] = applied
        self._history.append(applied)

    def _call(self, sent: Sent) -> Effect:
        [operation] = sent.operations
        data = sent.inner.transaction.soroban_data
        assert data is not None
        allowed = Allowed(operation.auth, sent.source)
        effect = self.contract.call(self.state, self.sequence, operation.host_function.invoke_contract, allowed)
        named = [each.to_xdr_bytes() for each in data.resources.footprint.read_write]
        read_only = [each.to_xdr_bytes() for each in data.resources.footprint.read_only]
        if any(each.to_xdr_bytes() not in named for each in effect.writes) or any(
            each.to_xdr_bytes() not in named + read_only for each in effect.reads
        ):
            raise Trapped("HostError: Error(Storage, ExceededLimit): outside of the footprint")
        taken = (
            data.resources.instructions.uint32,
            data.resources.disk_read_bytes.uint32,
            data.resources.write_bytes.uint32,
        )
        if any(have < need for have, need in zip(taken, (INSTRUCTIONS, _READ_BYTES, _WRITE_BYTES), strict=True)):
            raise Trapped("HostError: Error(Budget, ExceededLimit): more resources than declared")
        return effect

    def _create(self, operation: CreateAccount, sent: Sent) -> None:
        payer = self.state.accounts[operation.source.account_id if operation.source else sent.source]
        stroops = int(Decimal(operation.starting_balance) * STROOPS)
        if operation.destination in self.state.accounts or stroops < 2 * BASE_RESERVE:
            raise Trapped("the account is there, or would be below the reserve")
        if payer.balance - stroops < (2 + payer.sub_entries) * BASE_RESERVE:
            raise Trapped("there is not enough for a new account")
        payer.balance -= stroops
        self.state.accounts[operation.destination] = Account(stroops, self.sequence << 32)

    def _pay(self, operation: Payment, sent: Sent) -> None:
        """A classic payment of the asset. It moves the balances that the asset's contract does."""
        payer = operation.source.account_id if operation.source else sent.source
        lines, payee = self.state.lines, operation.destination.account_id
        if operation.asset != self.asset or payer not in lines or payee not in lines:
            raise Trapped("the sandbox pays its asset, from and to accounts with trust lines")
        units = int(Decimal(operation.amount) * STROOPS)
        if lines[payer].balance < units or (payee != payer and lines[payee].balance + units > lines[payee].limit):
            raise Trapped("the payer has too little, or the payee's limit is reached")
        lines[payer].balance -= units
        lines[payee].balance += units

    def _forget(self) -> None:
        while len(self._times) > HISTORY_LEDGERS:
            del self._times[0]
            self._first += 1
        gone = 0
        while gone < len(self._history) and self._history[gone].ledger < self._first:
            sent = self._history[gone].sent
            self.applied.pop(sent.hash, None)
            self.applied.pop(sent.inner_hash, None)
            gone += 1
        del self._history[:gone]
