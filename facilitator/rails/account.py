"""The settler account: the one place where its transactions are numbered."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from typing import Any

from eth_account.signers.local import LocalAccount
from hexbytes import HexBytes
from web3 import AsyncWeb3
from web3.exceptions import TransactionNotFound, Web3Exception, Web3RPCError
from web3.types import TxParams, Wei

log = logging.getLogger(__name__)

GAS_MARGIN = 1.25
"""A balance that appears or empties between estimate and execution changes the gas by up to 20,000 of about 75,000."""
FEES_AGE_S = 2.0
_TIP_CEILING = Wei(10**9)


class MaybeSent(Exception):
    """The node did not answer: it may have taken the transaction.

    Args:
        transaction: its hash.
    """

    def __init__(self, transaction: HexBytes) -> None:
        super().__init__(transaction.to_0x_hex())
        self.transaction = transaction


class SettlerAccount:
    """Numbers, signs and sends transactions; many may be unconfirmed at once.

    Numbering and sending happen under one lock, so a number is used exactly once and never skipped: a gap would hold back
    every later transaction. Waiting for receipts happens outside of it.
    """

    def __init__(self, web3: AsyncWeb3[Any], account: LocalAccount, chain_id: int) -> None:
        self._web3 = web3
        self._account = account
        self._chain_id = chain_id
        self._lock = asyncio.Lock()
        self._next: int | None = None
        self._unconfirmed: dict[int, HexBytes] = {}
        self._priced = Wei(0), Wei(0)
        self._priced_at = -math.inf

    @property
    def address(self) -> str:
        """The account."""
        return self._account.address

    async def send(self, to: str, data: bytes, gas: int) -> HexBytes:
        """Send one call without value. Returns the transaction's hash once a node has taken it.

        Raises:
            Web3Exception: the node refused it; nothing was sent.
            MaybeSent: nobody knows.
        """
        max_fee, tip = await self._fees()
        async with self._lock:
            if self._next is None:
                self._next = await self._web3.eth.get_transaction_count(self._account.address, "pending")
            transaction: TxParams = {
                "type": 2,
                "chainId": self._chain_id,
                "nonce": self._next,  # type: ignore[typeddict-item]  # web3's Nonce is an int
                "to": self._web3.to_checksum_address(to),
                "data": HexBytes(data),
                "value": Wei(0),
                "gas": int(gas * GAS_MARGIN),
                "maxFeePerGas": max_fee,
                "maxPriorityFeePerGas": tip,
            }
            signed = self._account.sign_transaction(transaction)  # type: ignore[arg-type]
            try:
                await self._web3.eth.send_raw_transaction(signed.raw_transaction)
            except Web3RPCError as refused:
                # The number is free again. Ours may have been out of step, so the node is asked the next time.
                self._next = None
                log.warning("the node refused transaction %s: %s", transaction["nonce"], refused)
                raise
            except Exception:
                self._unconfirmed[self._next] = signed.raw_transaction
                self._next = None
                raise MaybeSent(signed.hash) from None
            self._unconfirmed[self._next] = signed.raw_transaction
            self._next += 1
            return signed.hash

    async def mend(self) -> None:
        """After a receipt that did not come: a node that lost one transaction holds back all later ones.

        What the node does not know is sent again, in order. Raises Web3Exception and what the connection raises.
        """
        async with self._lock:
            confirmed = await self._web3.eth.get_transaction_count(self._account.address, "latest")
            pending = await self._web3.eth.get_transaction_count(self._account.address, "pending")
            self._unconfirmed = {number: raw for number, raw in self._unconfirmed.items() if number >= confirmed}
            number = int(pending)
            while number in self._unconfirmed:
                log.warning("transaction %d was lost by the node and is sent again", number)
                try:
                    await self._web3.eth.send_raw_transaction(self._unconfirmed[number])
                except Web3RPCError as refused:
                    log.warning("transaction %d was refused: %s", number, refused)
                    break
                number += 1
            self._next = int(max(number, pending))

    async def still_has(self, transaction: HexBytes) -> bool:
        """Whether a transaction that was sent before can still get into a block, or is in one."""
        await self.mend()
        if any(self._web3.keccak(raw) == transaction for raw in self._unconfirmed.values()):
            return True
        with contextlib.suppress(TransactionNotFound):
            return bool(await self._web3.eth.get_transaction(transaction))
        return False

    def forget(self, transaction: HexBytes) -> None:
        """A transaction is in a block."""
        for number, raw in self._unconfirmed.items():
            if self._web3.keccak(raw) == transaction:
                del self._unconfirmed[number]
                return

    async def _fees(self) -> tuple[Wei, Wei]:
        """EIP-1559 fees, at most a block old: twice the base fee outlasts six full blocks."""
        if time.monotonic() - self._priced_at > FEES_AGE_S:
            block = await self._web3.eth.get_block("latest")
            if "baseFeePerGas" not in block:
                raise Web3Exception("the chain has no base fee")
            tip = min(await self._web3.eth.max_priority_fee, _TIP_CEILING)
            self._priced = Wei(2 * block["baseFeePerGas"] + tip), tip
            self._priced_at = time.monotonic()
        return self._priced
