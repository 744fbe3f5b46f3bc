"""The settler account: it numbers, signs and sends all transactions of an EVM rail."""

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from facilitator.balance import BalanceMonitor
from facilitator.json_rpc import NODE_ERRORS, JsonRpcNode
from facilitator.rails.evm.in_flight import InFlight
from facilitator.rails.evm.journal import Journal
from facilitator.rails.evm.node import number_of, value_of
from facilitator.rails.evm.prices import Prices
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.simulation import TRANSFER_GAS
from facilitator.rails.evm.transaction import Bid, Form, Operation, Payment, Quote, Sent
from facilitator.settling import CannotSend
from shared.nodes.json_rpc import Call, RpcError

log = logging.getLogger(__name__)

STUCK_AFTER_S = 4.0
"""Two blocks on Base. A transaction that is in no block by then, and offers less than the next block costs, is replaced."""
INHERITED_AFTER_S = 30.0
"""The same for a transaction that we know nothing of. Its bid is not known, so it gets the time that a slow chain takes."""
MOST_UNCONFIRMED = 2_000
_MOST_REPLACED_AT_ONCE = 64
_CANCEL_GAS = 21_000
_TIMED_OUT = -32002


@dataclass(frozen=True, slots=True)
class Work:
    """What one transaction is to do.

    Attributes:
        gas: its limit.
        members: the payments that the call makes, in its order.
        operation: what is sent, where it makes no payments.
    """

    to: str
    data: bytes
    gas: int
    members: tuple[Payment, ...] = ()
    operation: Operation | None = None


class SettlerAccount:
    """Numbers, signs and sends transactions. Many may be unconfirmed at once.

    Numbering and sending happen under one lock, so that a number is used exactly once and never skipped: a gap would hold
    back every later transaction. What is sent is in the journal before. The node's counts show what
    an earlier run sent and the journal does not have: nothing new is settled until that is in a block or gone.
    """

    def __init__(
        self,
        node: JsonRpcNode,
        signer: Signer,
        prices: Prices,
        balance_monitor: BalanceMonitor,
        journal: Journal,
        in_flight: InFlight,
    ) -> None:
        self._node = node
        self._signer = signer
        self._prices = prices
        self._balance_monitor = balance_monitor
        self._journal = journal
        self._in_flight = in_flight
        self._unconfirmed = in_flight.unconfirmed
        self._lock = asyncio.Lock()
        self._next: int | None = None
        self._mended_at = -math.inf
        self._inherited_below = 0
        self._inherited_at = 0.0
        self._outbid = Bid(0, 0)

    @property
    def is_overdue(self) -> bool:
        """Whether a transaction should be in a block by now."""
        unconfirmed = self._unconfirmed.values()
        return self._inherited_below > 0 or any(sent.newest.age_s > STUCK_AFTER_S for sent in unconfirmed)

    async def start(self) -> Sequence[Sent]:
        """Find out what an earlier run left. Raises CannotStart, and what is in NODE_ERRORS.

        Returns:
            The journal's transactions that may still get into a block.
        """
        confirmed, pending = await self._counts()
        self._unconfirmed.clear()
        for sent in self._journal.restored(confirmed):
            if sent.number != confirmed + len(self._unconfirmed):
                break  # it waits for a number that is nobody's, and which we shall use
            self._unconfirmed[sent.number] = sent
        restored = tuple(self._unconfirmed.values())
        self._next = confirmed + len(restored)
        if restored:
            log.warning("transactions %d to %d of an earlier run may be under way", confirmed, self._next - 1)
        if pending > self._next:
            log.warning("transactions %d to %d are not ours and in no block yet", self._next, pending - 1)
            self._inherited_below, self._inherited_at = pending, time.monotonic()
            self._next = pending
        if restored:
            await self.mend()
        for sent in restored:
            self._in_flight.watch(sent)
        return restored

    async def caught_up(self, *, give_up_at: float) -> bool:
        """Wait until transactions that we know nothing of are in a block or gone; False when they are not by `give_up_at`.

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

    async def send(self, compose: Callable[[int], Work | None]) -> None:
        """Send one call without value. Returns when a node has taken it, or may have taken it.

        Args:
            compose: says what to send, at the last moment; None for nothing. Its argument is the gas that we can pay for.

        Raises:
            CannotSend: gas is too expensive, or the balance is too small; nothing was sent.
            What is in NODE_ERRORS: the node refused the transaction, or did not answer before it was sent; nothing was sent.
        """
        bid = (await self._prices.now()).bid()
        self._prices.allow(bid)
        async with self._lock:
            if len(self._unconfirmed) >= MOST_UNCONFIRMED:
                raise CannotSend(f"{MOST_UNCONFIRMED} transactions are not in a block yet")
            of_l1 = self._prices.l1_fee
            committed = sum(sent.cost + sent.gas * of_l1.wei_per_gas for sent in self._unconfirmed.values())
            self._balance_monitor.require(TRANSFER_GAS * bid.max_fee + of_l1.wei + committed)
            if self._next is None:
                await self._mend()
            work = compose((self._balance_monitor.amount - committed) // max(1, bid.max_fee + of_l1.wei_per_gas))
            if work is not None:
                await self._send(work, bid)
                self._in_flight.look_soon()

    async def _send(self, work: Work, bid: Bid) -> None:
        assert self._next is not None
        valid_before = max((payment.authorization.valid_before for payment in work.members), default=0)
        sent = Sent(self._next, work.to, work.data, work.gas, valid_before, bid, work.members, work.operation)
        sent.forms.append(self._signer.form(sent, bid))
        # From here on a caller who gives up gets the hash of the transaction.
        for payment in work.members:
            payment.sent = sent
        if work.operation is not None:
            work.operation.sent = sent
        try:
            await self._journal.note(sent, self._unconfirmed.values())
        except CannotSend:
            self._was_not_sent(sent)
            raise
        self._unconfirmed[sent.number] = sent
        self._in_flight.watch(sent)
        try:
            await self._node.ask("eth_sendRawTransaction", "0x" + sent.newest.raw.hex())
        except NODE_ERRORS as error:
            # Our count may be wrong, so the node is asked for the next number.
            self._next = None
            if await self._is_refused(sent, error):
                self._was_not_sent(sent)
                raise
            return
        self._next += 1

    async def _is_refused(self, sent: Sent, error: Exception) -> bool:
        """Whether the node has said that it did not take the transaction. In doubt it has taken it."""
        if not isinstance(error, RpcError) or error.code == _TIMED_OUT:
            return False
        with contextlib.suppress(*NODE_ERRORS):
            if await self._knows(sent.newest):
                return False  # it had it already
        self._balance_monitor.read_soon()
        log.warning("the node refused transaction %d: %s: %s", sent.number, error, error.message)
        return True

    def _was_not_sent(self, sent: Sent) -> None:
        self._unconfirmed.pop(sent.number, None)
        for payment in sent.members:
            payment.sent = None
        if sent.operation is not None:
            sent.operation.sent = None

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

    async def may_settle(self, sent: Sent) -> bool:
        """Whether a transaction is in a block or can get into one."""
        await self.mend()
        if self._in_flight.holds(sent):
            return True
        return any([await self._knows(form) for form in sent.forms])

    def confirm(self, sent: Sent) -> None:
        """Note that one of its forms is in a block."""
        self._unconfirmed.pop(sent.number, None)
        self._balance_monitor.read_soon()

    async def _mend(self) -> None:
        confirmed, pending = await self._counts()
        for number in [number for number in self._unconfirmed if number < confirmed]:
            del self._unconfirmed[number]
        if confirmed >= self._inherited_below or pending <= confirmed:
            self._inherited_below = 0
        number = confirmed
        if self._unconfirmed or self._inherited_below:
            quote = await self._prices.now()
            lost = await self._lost()
            replacements = _MOST_REPLACED_AT_ONCE
            while number < pending or number in self._unconfirmed:
                sent = self._unconfirmed.get(number)
                if sent is None:
                    if number < self._inherited_below and time.monotonic() - self._inherited_at > INHERITED_AFTER_S:
                        await self._cancel_inherited(number, quote)
                elif sent in lost and not sent.is_expired and quote.meets(sent.newest.bid):
                    log.warning("transaction %d was lost by the node and is sent again", number)
                    if not await self._push(sent, sent.newest):
                        break
                elif sent in lost:
                    if not await self._replace(sent, quote):
                        break
                elif replacements and sent.newest.age_s > STUCK_AFTER_S and not quote.meets(sent.offered):
                    # When one is refused, the others wait: they cannot get into a block before it.
                    replacements = replacements - 1 if await self._replace(sent, quote) else 0
                number += 1
        self._next = max(number, pending)

    async def _lost(self) -> set[Sent]:
        """The transactions that the node does not know. Its pending count does not say it: on Base that leaves out the pool."""
        unconfirmed = list(self._unconfirmed.values())
        asked = [Call("eth_getTransactionByHash", (sent.hash,)) for sent in unconfirmed]
        found = zip(unconfirmed, await self._node.ask_all(asked), strict=True)
        return {sent for sent, transaction in found if value_of(transaction) is None}

    async def _replace(self, sent: Sent, quote: Quote) -> bool:
        """Offer more for the same call, or use up the number of an expired one. The result says whether that was sent."""
        call = sent
        if sent.is_expired:
            call = Sent(sent.number, self._signer.address, b"", _CANCEL_GAS, valid_before=0, offered=sent.offered)
        bid = quote.bid(over=sent.newest.bid)
        try:
            self._prices.allow(bid)
        except CannotSend as why:
            log.error("transaction %d offers too little and stays: %s", sent.number, why)
            return False
        log.warning("transaction %d is %s", sent.number, "replaced" if call is sent else "expired and cancelled")
        # From here on a node may have it, whatever it answers.
        form = self._signer.form(call, bid)
        call.forms.append(form)
        try:
            await self._journal.note(call, self._unconfirmed.values())
        except CannotSend as why:
            log.error("transaction %d is not replaced: %s", sent.number, why)
            call.forms.remove(form)
            return False
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
        sent = Sent(number, self._signer.address, b"", _CANCEL_GAS, valid_before=0, offered=bid)
        with contextlib.suppress(CannotSend):
            self._prices.allow(bid)
            log.warning("transaction %d of an earlier run is stuck and is cancelled", number)
            form = self._signer.form(sent, bid)
            sent.forms.append(form)
            if await self._push(sent, form):
                self._unconfirmed[number] = sent
            else:
                # The old one offered more. The next attempt offers twice as much.
                self._outbid = Bid(2 * bid.max_fee, 2 * bid.tip)

    async def _push(self, sent: Sent, form: Form) -> bool:
        """Send one form. The result says whether the node has it."""
        try:
            await self._node.ask("eth_sendRawTransaction", "0x" + form.raw.hex())
        except RpcError as refused:
            if refused.code == _TIMED_OUT:
                raise
            if await self._knows(form):
                return True
            log.warning("transaction %d was refused: %s: %s", sent.number, refused, refused.message)
            return False
        return True

    async def _knows(self, form: Form) -> bool:
        return await self._node.ask("eth_getTransactionByHash", form.hash) is not None

    async def _counts(self) -> tuple[int, int]:
        """How many transactions the account has in blocks, and with those that the node wants to put into the next one."""
        asked = [Call("eth_getTransactionCount", (self._signer.address, block)) for block in ("latest", "pending")]
        confirmed, pending = await self._node.ask_all(asked)
        return number_of(confirmed), number_of(pending)
