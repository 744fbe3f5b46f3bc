"""The settler account: it numbers, signs and sends all transactions of an EVM rail."""

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
from web3.exceptions import RequestTimedOut, TransactionNotFound, Web3RPCError
from web3.types import TxParams, Wei

from facilitator.balance import BalanceMonitor
from facilitator.rails.evm.prices import Prices
from facilitator.rails.evm.transaction import Bid, Form, Quote, Sent
from facilitator.settling import CannotSend

log = logging.getLogger(__name__)

GAS_MARGIN = 1.25
"""Between estimate and execution a token balance may become zero or stop being zero. That changes the gas by up to 20,000 of
about 75,000."""
STUCK_AFTER_S = 4.0
"""Two blocks on Base. A transaction that is in no block by then, and offers less than the next block costs, is replaced."""
INHERITED_AFTER_S = 30.0
"""The same for a transaction of an earlier run. Its bid is not known, so it gets the time that a slow chain takes."""
MOST_UNCONFIRMED = 2_000
_MOST_REPLACED_AT_ONCE = 64
_CANCEL_GAS = 21_000


class MaybeSent(Exception):
    """The node did not answer, so it may have taken the transaction."""

    def __init__(self, sent: Sent) -> None:
        super().__init__(sent.newest.hash.to_0x_hex())
        self.sent = sent


class SettlerAccount:
    """Numbers, signs and sends transactions. Many may be unconfirmed at once.

    Numbering and sending happen under one lock, so that a number is used exactly once and never skipped: a gap would hold
    back every later transaction. Receipts are awaited outside of the lock. Nothing is kept on disk: the node's counts show
    what an earlier run sent, and nothing new is settled until that is in a block or gone.
    """

    def __init__(
        self,
        web3: AsyncWeb3[Any],
        account: LocalAccount,
        chain_id: int,
        *,
        prices: Prices,
        balance_monitor: BalanceMonitor,
    ) -> None:
        self._web3 = web3
        self._account = account
        self._chain_id = chain_id
        self._prices = prices
        self._balance_monitor = balance_monitor
        self._lock = asyncio.Lock()
        self._next: int | None = None
        self._unconfirmed: dict[int, Sent] = {}
        self._mended_at = -math.inf
        self._inherited_below = 0
        self._inherited_at = 0.0
        self._outbid = Bid(0, 0)

    @property
    def address(self) -> str:
        """The account."""
        return self._account.address

    @property
    def is_overdue(self) -> bool:
        """Whether a transaction should be in a block by now."""
        unconfirmed = self._unconfirmed.values()
        return self._inherited_below > 0 or any(sent.newest.age_s > STUCK_AFTER_S for sent in unconfirmed)

    def holds(self, sent: Sent) -> bool:
        """Whether its number is still open: one of its forms, or its replacement, may yet get into a block."""
        return sent.number in self._unconfirmed

    async def start(self) -> None:
        """Find out what an earlier run left. Raises what is in NODE_ERRORS."""
        confirmed, pending = await self._count("latest"), await self._count("pending")
        self._next = pending
        if pending > confirmed:
            log.warning("transactions %d to %d of an earlier run are not in a block yet", confirmed, pending - 1)
            self._inherited_below, self._inherited_at = pending, time.monotonic()

    async def caught_up(self, *, give_up_at: float) -> bool:
        """Wait until the transactions of an earlier run are in a block or gone; False when they are not by `give_up_at`.

        Each of them may be the payment that is presented again. The wait costs nothing: a later number would not get into a
        block before them.
        """
        while self._inherited_below:
            if time.monotonic() >= give_up_at:
                return False
            await self.mend()
            if self._inherited_below:
                await asyncio.sleep(0.2)
        return True

    async def send(self, to: str, data: bytes, gas: int, *, valid_before: int, give_up_at: float) -> Sent:
        """Send one call without value. Returns when a node has taken it.

        Args:
            valid_before: Unix seconds from which the call can only fail.
            give_up_at: monotonic seconds until which to wait for the lock.

        Raises:
            CannotSend: gas is too expensive, or the balance is too small; nothing was sent.
            Web3Exception: the node refused the transaction; nothing was sent.
            MaybeSent: the node did not answer.
            TimeoutError: other transactions were still being sent at `give_up_at`; nothing was sent.
        """
        bid = (await self._prices.now()).bid()
        self._prices.allow(bid)
        gas = int(gas * GAS_MARGIN)
        async with asyncio.timeout(max(0.0, give_up_at - time.monotonic())):
            await self._lock.acquire()
        try:
            if len(self._unconfirmed) >= MOST_UNCONFIRMED:
                raise CannotSend(f"{MOST_UNCONFIRMED} transactions are not in a block yet")
            self._balance_monitor.require(gas * bid.max_fee + sum(sent.cost for sent in self._unconfirmed.values()))
            if self._next is None:
                await self._mend()
            assert self._next is not None
            sent = Sent(self._next, self._web3.to_checksum_address(to), data, gas, valid_before, offered=bid)
            sent.forms.append(self._sign(sent, bid))
            try:
                await self._web3.eth.send_raw_transaction(sent.newest.raw)
            except Exception as error:
                # Our count may be wrong, so the node is asked for the next number.
                self._next = None
                if isinstance(error, Web3RPCError) and not isinstance(error, RequestTimedOut):
                    self._balance_monitor.read_soon()
                    log.warning("the node refused transaction %d: %s", sent.number, error)
                    raise
                self._unconfirmed[sent.number] = sent
                raise MaybeSent(sent) from None
            self._unconfirmed[sent.number] = sent
            self._next += 1
            return sent
        finally:
            self._lock.release()

    async def mend(self) -> None:
        """Send again what the node lost, and replace what offers too little: both hold back all later transactions.

        Raises what is in NODE_ERRORS.
        """
        asked_at = time.monotonic()
        async with self._lock:
            # A run that began after this call serves it, too.
            if self._mended_at < asked_at:
                began_at = time.monotonic()
                await self._mend()
                self._mended_at = began_at

    async def still_has(self, sent: Sent) -> bool:
        """Whether a transaction is in a block or can still get into one."""
        await self.mend()
        if self.holds(sent):
            return True
        return any([await self._knows(form) for form in sent.forms])

    def confirm(self, sent: Sent) -> None:
        """Note that one of its forms is in a block."""
        self._unconfirmed.pop(sent.number, None)
        self._balance_monitor.read_soon()

    async def _mend(self) -> None:
        confirmed, pending = await self._count("latest"), await self._count("pending")
        for number in [number for number in self._unconfirmed if number < confirmed]:
            del self._unconfirmed[number]
        if confirmed >= self._inherited_below or pending <= confirmed:
            self._inherited_below = 0
        number = confirmed
        if self._unconfirmed or self._inherited_below:
            quote = await self._prices.now()
            replacements = _MOST_REPLACED_AT_ONCE
            while number < pending or number in self._unconfirmed:
                sent, is_lost = self._unconfirmed.get(number), number >= pending
                if sent is None:
                    if number < self._inherited_below and time.monotonic() - self._inherited_at > INHERITED_AFTER_S:
                        await self._cancel_inherited(number, quote)
                elif is_lost and not sent.is_expired and quote.meets(sent.newest.bid):
                    log.warning("transaction %d was lost by the node and is sent again", number)
                    if not await self._push(sent, sent.newest):
                        break
                elif is_lost:
                    if not await self._replace(sent, quote):
                        break
                elif replacements and sent.newest.age_s > STUCK_AFTER_S and not quote.meets(sent.offered):
                    # When one is refused, the others wait: they cannot get into a block before it.
                    replacements = replacements - 1 if await self._replace(sent, quote) else 0
                number += 1
        self._next = max(number, pending)

    async def _replace(self, sent: Sent, quote: Quote) -> bool:
        """Offer more for the same call, or use up the number of an expired one. The result says whether that was sent."""
        call = sent
        if sent.is_expired:
            call = Sent(sent.number, self.address, b"", _CANCEL_GAS, valid_before=0, offered=sent.offered)
        bid = quote.bid(over=sent.newest.bid)
        try:
            self._prices.allow(bid)
        except CannotSend as why:
            log.error("transaction %d offers too little and stays: %s", sent.number, why)
            return False
        log.warning("transaction %d is %s", sent.number, "replaced" if call is sent else "expired and cancelled")
        # From here on a node may have it, whatever it answers.
        form = self._sign(call, bid)
        call.forms.append(form)
        self._unconfirmed[sent.number] = call
        if await self._push(call, form):
            call.offered = bid
            return True
        call.forms.remove(form)
        self._unconfirmed[sent.number] = sent
        return False

    async def _cancel_inherited(self, number: int, quote: Quote) -> None:
        """Use up the number of a transaction of an earlier run. Its payment is settled anew when it is presented again."""
        bid = quote.bid(over=self._outbid)
        sent = Sent(number, self.address, b"", _CANCEL_GAS, valid_before=0, offered=bid)
        with contextlib.suppress(CannotSend):
            self._prices.allow(bid)
            log.warning("transaction %d of an earlier run is stuck and is cancelled", number)
            form = self._sign(sent, bid)
            sent.forms.append(form)
            if await self._push(sent, form):
                self._unconfirmed[number] = sent
            else:
                # The old one offered more. The next attempt offers twice as much.
                self._outbid = Bid(2 * bid.max_fee, 2 * bid.tip)

    async def _push(self, sent: Sent, form: Form) -> bool:
        """Send one form. The result says whether the node has it."""
        try:
            await self._web3.eth.send_raw_transaction(form.raw)
        except RequestTimedOut:
            raise
        except Web3RPCError as refused:
            if await self._knows(form):
                return True
            log.warning("transaction %d was refused: %s", sent.number, refused)
            return False
        return True

    async def _knows(self, form: Form) -> bool:
        with contextlib.suppress(TransactionNotFound):
            return bool(await self._web3.eth.get_transaction(form.hash))
        return False

    async def _count(self, block: str) -> int:
        return int(await self._web3.eth.get_transaction_count(self._account.address, block))  # type: ignore[arg-type]

    def _sign(self, sent: Sent, bid: Bid) -> Form:
        transaction: TxParams = {
            "type": 2,
            "chainId": self._chain_id,
            "nonce": sent.number,  # type: ignore[typeddict-item]  # web3's Nonce is an int
            "to": sent.to,
            "data": HexBytes(sent.data),
            "value": Wei(0),
            "gas": sent.gas,
            "maxFeePerGas": Wei(bid.max_fee),
            "maxPriorityFeePerGas": Wei(bid.tip),
        }
        signed = self._account.sign_transaction(transaction)  # type: ignore[arg-type]
        return Form(bid, signed.raw_transaction, signed.hash)
