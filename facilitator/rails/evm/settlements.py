"""Settles each authorization once, however often it is presented, and answers in time."""

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Iterable

from facilitator import results
from facilitator.json_rpc import NODE_ERRORS
from facilitator.rails.evm.account import SettlerAccount
from facilitator.rails.evm.in_flight import InFlight
from facilitator.rails.evm.reorgs import ReorgMonitor
from facilitator.rails.evm.transaction import Payment, Sent
from facilitator.settling import PaymentKey, Settling, payment_key
from shared.x402.evm import EvmAuthorization
from shared.x402.wire import Settlement

log = logging.getLogger(__name__)

SETTLE_TIMEOUT_S = 6.0
"""From the start of a settlement until the wait for its receipt ends. It is below the API's settle timeout: while the node
answers, the API gets `settlement_pending` with the transaction."""
MOST_REMEMBERED = 4_000
"""Payments whose transaction has no known end. For any other payment the chain is asked when it comes again."""


class Settlements:
    """Hands payments in, waits for their ends, and remembers those whose end is not known.

    Args:
        arrivals: gets each payment that is to be sent.
    """

    def __init__(
        self,
        arrivals: asyncio.Queue[Payment],
        in_flight: InFlight,
        account: SettlerAccount,
        reorg_monitor: ReorgMonitor,
    ) -> None:
        self._arrivals = arrivals
        self._in_flight = in_flight
        self._account = account
        self._reorg_monitor = reorg_monitor
        self._settling = Settling[PaymentKey]()
        self._payments: dict[PaymentKey, Payment] = {}

    def restore(self, transactions: Iterable[Sent]) -> None:
        """Remember the payments of an earlier run."""
        for sent in transactions:
            for payment in sent.members:
                self._remember(payment)

    async def settle(self, authorization: EvmAuthorization) -> Settlement:
        """Run its settlement, or wait for the one under way. Never raises."""
        return await self._settling.once(payment_key(authorization), lambda: self._run(authorization))

    async def finish(self) -> None:
        """Wait until nothing is under way."""
        await self._settling.finish()

    async def _run(self, authorization: EvmAuthorization) -> Settlement:
        give_up_at = time.monotonic() + SETTLE_TIMEOUT_S
        payment = self._payments.get(payment_key(authorization))
        try:
            payment = await self._resumed(payment) if payment else None
            if payment is None:
                payment = await self._submitted(authorization, give_up_at)
            left_s = max(0.0, give_up_at - time.monotonic())
            return await asyncio.wait_for(asyncio.shield(payment.ended), left_s)
        except NODE_ERRORS as error:
            if not isinstance(error, TimeoutError):
                log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
        if payment is None:
            return results.unsettled(authorization)
        payment.is_withdrawn = True  # from here on it is not sent, unless it was
        if payment.sent is None:
            self._forget(payment)
            return results.unsettled(authorization)
        with contextlib.suppress(*NODE_ERRORS):
            await self._account.mend()
        if payment.ended.done():
            return payment.ended.result()
        return results.unsettled(authorization, payment.sent.hash if payment.sent else "")

    async def _resumed(self, payment: Payment) -> Payment | None:
        """The payment, which was presented before, if it was sent and may still get into a block. Raises NODE_ERRORS."""
        if payment.sent is None or not await self._account.may_settle(payment.sent):
            return None  # if it was sent, another transaction took its number
        payment.is_withdrawn = False
        self._in_flight.look_soon()
        return payment

    async def _submitted(self, authorization: EvmAuthorization, give_up_at: float) -> Payment:
        """A payment that is to be sent. Raises NODE_ERRORS."""
        if self._reorg_monitor.unavailable_reason:
            raise TimeoutError(self._reorg_monitor.unavailable_reason)
        if not await self._account.caught_up(give_up_at=give_up_at):
            raise TimeoutError("what an earlier run sent is not in a block yet")
        payment = Payment(authorization)
        self._remember(payment)
        self._arrivals.put_nowait(payment)
        return payment

    def _remember(self, payment: Payment) -> None:
        """Keep the payment until it has ended. Of too many, the older half of those that are over is dropped."""
        self._payments[payment.key] = payment
        payment.ended.add_done_callback(lambda _: self._forget(payment))
        if len(self._payments) > MOST_REMEMBERED:
            over = (
                one
                for key, one in self._payments.items()
                if key not in self._settling and not (one.sent and self._in_flight.holds(one.sent))
            )
            for old in list(itertools.islice(over, MOST_REMEMBERED // 2)):
                self._forget(old)

    def _forget(self, payment: Payment) -> None:
        if self._payments.get(payment.key) is payment:
            del self._payments[payment.key]
