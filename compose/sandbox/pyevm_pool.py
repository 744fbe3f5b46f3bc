"""Transactions whose turn has not come: their account nonce is ahead of the account's."""

from __future__ import annotations

from collections import defaultdict

from eth.abc import SignedTransactionAPI
from eth_typing import Address, Hash32

from shared.json_rpc import RpcError

_MOST_PER_ACCOUNT = 1024
_REPLACEMENT_PERCENT = 110


class Pool:
    """Waiting transactions by sender and nonce. Senders that number their transactions themselves may send them in any
    order, as they may to a real node."""

    def __init__(self) -> None:
        self._waiting: defaultdict[Address, dict[int, SignedTransactionAPI]] = defaultdict(dict)

    def add(self, transaction: SignedTransactionAPI) -> None:
        """Keep a transaction until its turn.

        Raises:
            RpcError: it waits already, or its nonce does with about the same fee, or the account has too many waiting.
        """
        queue = self._waiting[transaction.sender]
        rival = queue.get(transaction.nonce)
        if rival and rival.hash == transaction.hash:
            raise RpcError(-32000, "already known")
        if rival and transaction.max_fee_per_gas * 100 < rival.max_fee_per_gas * _REPLACEMENT_PERCENT:
            raise RpcError(-32000, "replacement transaction underpriced")
        if not rival and len(queue) >= _MOST_PER_ACCOUNT:
            raise RpcError(-32000, "txpool is full")
        queue[transaction.nonce] = transaction

    def take(self, sender: Address, nonce: int) -> SignedTransactionAPI | None:
        """Take out the transaction whose turn it is, if it is there."""
        return self._waiting[sender].pop(nonce, None) if sender in self._waiting else None

    def find(self, transaction_hash: Hash32) -> SignedTransactionAPI | None:
        """A waiting transaction by its hash."""
        for queue in self._waiting.values():
            for transaction in queue.values():
                if transaction.hash == transaction_hash:
                    return transaction
        return None
