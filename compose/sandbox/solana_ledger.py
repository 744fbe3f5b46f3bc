"""A Solana ledger in memory. LiteSVM executes; this module adds slots, blockhashes that expire, statuses and history.

Slots follow the clock, as on the network, so a blockhash expires after a minute. A transaction is executed and confirmed as
soon as it is sent, where the network takes half a second, unless a test holds blocks back.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from solders.account import Account
from solders.clock import Clock
from solders.hash import Hash
from solders.litesvm import LiteSVM
from solders.message import to_bytes_versioned
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction
from solders.transaction_metadata import FailedTransactionMetadata
from solders.transaction_status import (
    InstructionErrorCustom,
    TransactionErrorFieldless,
    TransactionErrorInstructionError,
)

from compose.sandbox.solana_tokens import (
    MINT,
    SYSTEM,
    Holding,
    address_of,
    holding_account,
    mint_account,
    read_holding,
)

SLOT_S = 0.4
BLOCKHASH_LIVES = 150
"""Blocks."""
FINAL_AFTER = 32
"""Slots."""
MOST_REMEMBERED = 10_000
"""Transactions that are kept. Of older ones only the effect remains."""
_FIRST_SLOT = 400_000_000
_SKIPPED = 21_000_000
"""Slots without a block: the block height is not the slot."""
_RECENT_SLOTS = 300


@dataclass(frozen=True, slots=True)
class Simulated:
    """The result of a simulation. `err` is the error as in JSON; None for a success."""

    err: Any
    logs: list[str]
    units: int


@dataclass(frozen=True, slots=True)
class Landed:
    """A transaction in a block."""

    transaction: VersionedTransaction
    slot: int
    block_time: int
    err: Any
    logs: list[str]
    units: int
    fee: int
    lamports: tuple[list[int], list[int]]
    """Balances of its accounts before and after it."""
    holdings: tuple[list[Holding | None], list[Holding | None]]

    @property
    def signature(self) -> Signature:
        """The signature that identifies it."""
        return self.transaction.signatures[0]


class Ledger:
    """The chain and the transactions that wait for a block.

    Args:
        clock: seconds, never going back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        # LiteSVM knows one blockhash only, so signatures, blockhashes and repetitions are checked here.
        self._svm = LiteSVM().with_sigverify(False).with_blockhash_check(False).with_transaction_history(0)
        self._svm.set_account(MINT, mint_account())
        self._clock = clock
        self._started, self._began = clock(), time.time()
        self._ahead = 0
        self._seed = os.urandom(32)
        self._recent: dict[bytes, int] = {}
        self._slot = _FIRST_SLOT - _RECENT_SLOTS
        self._tick()
        self._landed: dict[Signature, Landed] = {}
        self._processed: set[bytes] = set()
        self._by_address: dict[Pubkey, list[Signature]] = {}
        self._waiting: list[VersionedTransaction] | None = None
        self._to_drop = 0

    @property
    def slot(self) -> int:
        """The newest one."""
        self._tick()
        return self._slot

    @property
    def block_height(self) -> int:
        """Of the newest slot."""
        return self.slot - _SKIPPED

    def block_time(self, slot: int) -> int:
        """Unix seconds."""
        return int(self._began + (slot - _FIRST_SLOT) * SLOT_S)

    def blockhash(self, *, final: bool = False) -> tuple[Hash, int]:
        """The newest blockhash, or the newest final one, and the last block height at which it is valid."""
        height = self.block_height - (FINAL_AFTER if final else 0)
        return Hash(self._blockhash(height)), height + BLOCKHASH_LIVES

    def is_alive(self, blockhash: Hash) -> bool:
        """Whether a transaction with this blockhash can be executed."""
        now, height = self.block_height, self._recent.get(bytes(blockhash))
        return height is not None and now <= height + BLOCKHASH_LIVES

    def account(self, address: Pubkey) -> Account | None:
        """As it is now."""
        self._tick()
        return self._svm.get_account(address)

    def rent(self, size: int) -> int:
        """Lamports that an account of so many bytes has to have."""
        return self._svm.minimum_balance_for_rent_exemption(size)

    def fund(self, owner: Pubkey, *, usdc: int | None = None, lamports: int | None = None) -> None:
        """Set what an account has: the token account is made when there is none."""
        if usdc is not None:
            self._svm.set_account(address_of(owner), holding_account(owner, usdc))
        if lamports is not None:
            self._svm.set_account(owner, Account(lamports, b"", SYSTEM))

    def simulate(self, transaction: VersionedTransaction, *, any_blockhash: bool = False) -> Simulated:
        """The result that it would have in the next block. Its signatures are not checked."""
        if not any_blockhash and (err := self._refusal(transaction)):
            return Simulated(err, [], 0)
        result = self._svm.simulate_transaction(transaction)
        meta = result.meta()
        err = as_json(result.err()) if isinstance(result, FailedTransactionMetadata) else None
        return Simulated(err, meta.logs(), meta.compute_units_consumed())

    def send(self, transaction: VersionedTransaction) -> None:
        """Put a transaction into the next block if that is possible. As on a node, there is no error if it is not."""
        if self._to_drop:
            self._to_drop -= 1
        elif self._waiting is not None:
            self._waiting.append(transaction)
        else:
            self._execute(transaction)

    def landed(self, signature: Signature) -> Landed | None:
        """The transaction of that signature, once it is in a block."""
        return self._landed.get(signature)

    def history(self, address: Pubkey) -> Iterator[Landed]:
        """The transactions in which an account appears, the newest first."""
        for signature in reversed(self._by_address.get(address, [])):
            yield self._landed[signature]

    # For tests: what a network does sometimes.

    def hold(self) -> None:
        """Let new transactions wait."""
        self._waiting = self._waiting or []

    def release(self) -> None:
        """Execute the waiting transactions that are still valid, and new ones at once again."""
        waiting, self._waiting = self._waiting or [], None
        for transaction in waiting:
            self._execute(transaction)

    def drop(self, count: int) -> None:
        """Lose the next transactions without an error."""
        self._to_drop = count

    def advance(self, slots: int) -> None:
        """Let time pass."""
        self._ahead += slots

    def _refusal(self, transaction: VersionedTransaction) -> str | None:
        if not self.is_alive(transaction.message.recent_blockhash):
            return "BlockhashNotFound"
        return "AlreadyProcessed" if _digest(transaction) in self._processed else None

    def _execute(self, transaction: VersionedTransaction) -> None:
        if not all(transaction.verify_with_results()) or self._refusal(transaction):
            return
        slot, keys = self.slot, transaction.message.account_keys
        before = [self._svm.get_account(key) for key in keys]
        result = self._svm.send_transaction(transaction)
        if isinstance(result, FailedTransactionMetadata):
            err, meta = as_json(result.err()), result.meta()
        else:
            err, meta = None, result
        if isinstance(err, str):
            return  # it cannot be executed: its fee cannot be paid, or a program does not exist
        after = [self._svm.get_account(key) for key in keys]
        landed = Landed(
            transaction=transaction,
            slot=slot,
            block_time=self.block_time(slot),
            err=err,
            logs=meta.logs(),
            units=meta.compute_units_consumed(),
            fee=meta.fee(),
            lamports=(_lamports(before), _lamports(after)),
            holdings=([read_holding(one) for one in before], [read_holding(one) for one in after]),
        )
        self._landed[landed.signature] = landed
        self._processed.add(_digest(transaction))
        for key in keys:
            self._by_address.setdefault(key, []).append(landed.signature)
        if len(self._landed) > MOST_REMEMBERED:
            self._forget(next(iter(self._landed.values())))

    def _forget(self, landed: Landed) -> None:
        del self._landed[landed.signature]
        self._processed.discard(_digest(landed.transaction))
        for key in landed.transaction.message.account_keys:
            self._by_address[key].remove(landed.signature)

    def _tick(self) -> None:
        """What has happened since the last look."""
        slot = _FIRST_SLOT + int((self._clock() - self._started) / SLOT_S) + self._ahead
        if slot <= self._slot:
            return
        oldest, newest = slot - _RECENT_SLOTS - _SKIPPED, slot - _SKIPPED
        for height in range(max(self._slot + 1 - _SKIPPED, oldest), newest + 1):
            self._recent[self._blockhash(height)] = height
        self._recent = {one: height for one, height in self._recent.items() if height >= oldest}
        self._slot = slot
        self._svm.set_clock(Clock(slot, 0, 0, 0, self.block_time(slot)))

    def _blockhash(self, height: int) -> bytes:
        return hashlib.sha256(self._seed + height.to_bytes(8, "little")).digest()


def as_json(err: object) -> Any:
    """A transaction's error in JSON: a string, or an object with one member."""
    if isinstance(err, TransactionErrorFieldless):
        return str(err).rpartition(".")[2]
    if isinstance(err, TransactionErrorInstructionError):
        inner = err.err
        said = {"Custom": inner.code} if isinstance(inner, InstructionErrorCustom) else str(inner).rpartition(".")[2]
        return {"InstructionError": [err.index, said]}
    kind = type(err).__name__.removeprefix("TransactionError")
    return {kind: msgspec.json.decode(cast(Any, err).to_json())}


def _digest(transaction: VersionedTransaction) -> bytes:
    return hashlib.sha256(to_bytes_versioned(transaction.message)).digest()


def _lamports(accounts: Sequence[Account | None]) -> list[int]:
    return [account.lamports if account else 0 for account in accounts]
