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
from web3.exceptions import RequestTimedOut, TransactionNotFound, Web3RPCError
from web3.types import TxParams, Wei

from facilitator.rails.evm.balance import BalanceMonitor
from facilitator.rails.evm.prices import CannotSend, Prices
from facilitator.rails.evm.transaction import Bid, Form, Quote, Sent

log = logging.getLogger(__name__)

GAS_MARGIN = 1.25
"""A balance that appears or empties between estimate and execution changes the gas by up to 20,000 of about 75,000."""
STUCK_AFTER_S = 4.0
"""Two blocks on Base. Whoever is not in a block by then and offers less than the next one asks for is replaced."""
INHERITED_AFTER_S = 30.0
"""The same for what an earlier run sent: what it offers is not known, so it gets the time of a slow chain."""
MOST_UNCONFIRMED = 2_000
_MOST_REPLACED_AT_ONCE = 64
_CANCEL_GAS = 21_000


class MaybeSent(Exception):
    """The node did not answer: it may have taken the transaction."""

    def __init__(self, sent: Sent) -> None:
        super().__init__(sent.newest.hash.to_0x_hex())
        self.sent = sent


class SettlerAccount:
    """Numbers, signs and sends transactions; many may be unconfirmed at once.

    Numbering and sending happen under one lock, so a number is used exactly once and never skipped: a gap would hold back
    every later transaction. Waiting for receipts happens outside of it. Nothing is kept on disk: what an earlier run sent
    is seen in the node's counts, and nothing new is settled until it is in a block or gone.
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
        """Whether something should be in a block by now."""
        unconfirmed = self._unconfirmed.values()
        return self._inherited_below > 0 or any(sent.newest.age_s > STUCK_AFTER_S for sent in unconfirmed)

    def holds(self, sent: Sent) -> bool:
        """Whether the number is still open: a form of it, or what took its place, may yet get into a block."""
        return sent.number in self._unconfirmed

    async def start(self) -> None:
        """See what an earlier run left. Raises Web3Exception and what the connection raises."""
        confirmed, pending = await self._count("latest"), await self._count("pending")
        self._next = pending
        if pending > confirmed:
            log.warning("transactions %d to %d of an earlier run are not in a block yet", confirmed, pending - 1)
            self._inherited_below, self._inherited_at = pending, time.monotonic()

    async def caught_up(self, *, give_up_at: float) -> bool:
        """Whether what an earlier run sent is in a block or gone: any of it may be the payment that is asked for again.

        Nothing is lost by waiting: a later number would not get into a block before them.
        """
        while self._inherited_below:
            if time.monotonic() >= give_up_at:
                return False
            await self.mend()
            if self._inherited_below:
                await asyncio.sleep(0.2)
        return True

    async def send(self, to: str, data: bytes, gas: int, *, valid_before: int, give_up_at: float) -> Sent:
        """Send one call without value. Returns once a node has taken it.

        Args:
            valid_before: Unix seconds from which on it can only fail.
            give_up_at: monotonic seconds until which to wait for others.

        Raises:
            CannotSend: gas is too dear, or there is not enough for it; nothing was sent.
            Web3Exception: the node refused it; nothing was sent.
            MaybeSent: nobody knows.
            TimeoutError: it is not its turn yet; nothing was sent.
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
                # Ours may have been out of step, so the node is asked for the number the next time.
                self._next = None
                if isinstance(error, Web3RPCError) and not isinstance(error, RequestTimedOut):
                    self._balance_monitor.has_changed()
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
        """A transaction that a node lost, or that offers too little, holds back all later ones.

        What the node does not know is sent again, in order; what offers too little is replaced. Raises Web3Exception and
        what the connection raises.
        """
        asked_at = time.monotonic()
        async with self._lock:
            # Whoever asked before another's began has had it.
            if self._mended_at < asked_at:
                began_at = time.monotonic()
                await self._mend()
                self._mended_at = began_at

    async def still_has(self, sent: Sent) -> bool:
        """Whether a transaction that was sent before can still get into a block, or is in one."""
        await self.mend()
        if self.holds(sent):
            return True
        return any([await self._knows(form) for form in sent.forms])

    def confirm(self, sent: Sent) -> None:
        """A form of it is in a block."""
        self._unconfirmed.pop(sent.number, None)
        self._balance_monitor.has_changed()

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
                    # Refused once, the others can wait: they do not get into a block before this one.
                    replacements = replacements - 1 if await self._replace(sent, quote) else 0
                number += 1
        self._next = max(number, pending)

    async def _replace(self, sent: Sent, quote: Quote) -> bool:
        """Offer more for the same call; for one that can only fail, just use the number up. Says whether it was sent."""
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
        # From here on a node may have it, whatever is answered.
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
        """Nothing is known of it but its number: the payment that it was is asked for again, if anybody wants it."""
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
                # It offered more: twice that the next time.
                self._outbid = Bid(2 * bid.max_fee, 2 * bid.tip)

    async def _push(self, sent: Sent, form: Form) -> bool:
        """Send one form. Says whether the node has it."""
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
