"""What became of each payment of a transaction: its own logs say so, never the status of the transaction."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from facilitator import results
from facilitator.rails.evm.evidence import Authorizations, proves_payment, transfers_in
from facilitator.rails.evm.node import NODE_ERRORS
from facilitator.rails.evm.payment import Payment
from facilitator.rails.evm.transaction import Sent
from facilitator.settling import CannotSend
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Settlement

log = logging.getLogger(__name__)

Again = Callable[[Payment], None]


class Outcomes:
    """Ends payments. What is in doubt is looked up on the chain, payment by payment.

    Attributes:
        failed_inside: is called with a payment whose call failed inside of a group that was executed.
        failed_together: is called with each payment of a group that failed as a whole.
    """

    def __init__(self, asset: str, authorizations: Authorizations) -> None:
        self._asset = asset
        self._authorizations = authorizations
        self._tasks: set[asyncio.Task[None]] = set()
        self.failed_inside: Again
        self.failed_together: Again

    def included(self, sent: Sent, receipt: dict[str, Any]) -> None:
        """The transaction is in a block, whatever its status."""
        made = transfers_in(receipt["logs"], self._asset)
        for payment in sent.members:
            if proves_payment(made, payment.authorization):
                payment.end(results.succeeded(payment.authorization, receipt["transactionHash"]))
            else:
                self._run(self._unproved(payment, sent, receipt))

    def lost(self, sent: Sent) -> None:
        """Another transaction has used its number, and this one never gets into a block."""
        for payment in sent.members:
            payment.end(results.unsettled(payment.authorization, sent.hash))

    def refuse(self, payment: Payment, error: Exception) -> None:
        """The payment is not sent."""
        if isinstance(error, PaymentRefused):
            self._run(self._refused(payment, error.reason))
            return
        if not isinstance(error, CannotSend):
            log.warning("settling %s: %s", payment.authorization.payment_id, type(error).__name__)
        message = str(error) if isinstance(error, CannotSend) else None
        payment.end(results.unsettled(payment.authorization, message=message))

    async def _refused(self, payment: Payment, reason: str) -> None:
        """The chain would not take it. Perhaps because it took it before."""
        before = await self._settled_before(payment)
        authorization = payment.authorization
        payment.end(before or results.failed(authorization.network, reason, authorization.payer))

    async def _unproved(self, payment: Payment, sent: Sent, receipt: dict[str, Any]) -> None:
        """A transaction that was to make the payment does not show it."""
        authorization = payment.authorization
        evidence = await self._authorizations.evidence(authorization.payer, authorization.nonce)
        if evidence.status == "unused" and len(sent.members) > 1:
            (self.failed_inside if int(receipt["status"], 16) else self.failed_together)(payment)
            return
        try:
            # Somebody else may have sent the same authorization first. Then the payer has paid all the same.
            before = results.settled_before(authorization, evidence)
        except TimeoutError:
            payment.end(results.unsettled(authorization))
            return
        reason = "invalid_transaction_state"
        payment.end(before or results.failed(authorization.network, reason, authorization.payer))

    async def _settled_before(self, payment: Payment) -> Settlement | None:
        """The earlier settlement of this very payment; None when it has none; or that nobody knows."""
        authorization = payment.authorization
        evidence = await self._authorizations.evidence(authorization.payer, authorization.nonce)
        try:
            return results.settled_before(authorization, evidence)
        except TimeoutError:
            return results.unsettled(authorization)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), NODE_ERRORS):
            log.warning("a payment's end: %s", type(error).__name__)
