"""What became of each payment of a transaction: its own logs say so, never the status of the transaction."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

from facilitator import results
from facilitator.json_rpc import NODE_ERRORS, JsonRpcNode
from facilitator.rails.evm.costs import Costs
from facilitator.rails.evm.evidence import Authorizations, proves_payment
from facilitator.rails.evm.gas_budget import GasBudget
from facilitator.rails.evm.isolation import Isolation
from facilitator.rails.evm.node import bytes_of, number_of
from facilitator.rails.evm.reorgs import ReorgMonitor
from facilitator.rails.evm.transaction import Payment, Sent
from facilitator.settling import CannotSend
from shared.nodes.json_rpc import Call, RpcError
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Evidence

log = logging.getLogger(__name__)

BLOCKS = 64
"""How far back a change counts. A node has the state of 128 blocks at least."""


class Outcomes:
    """Ends payments. What is in doubt is looked up on the chain, payment by payment.

    Args:
        isolation: learns which payers may have spoiled a group.
        arrivals: gets the payments of a group that are to be tried again.
    """

    def __init__(
        self,
        node: JsonRpcNode,
        authorizations: Authorizations,
        budget: GasBudget,
        costs: Costs,
        reorg_monitor: ReorgMonitor,
        isolation: Isolation,
        arrivals: asyncio.Queue[Payment],
    ) -> None:
        self._node = node
        self._authorizations = authorizations
        self._budget = budget
        self._costs = costs
        self._reorg_monitor = reorg_monitor
        self._isolation = isolation
        self._arrivals = arrivals
        self._tasks: set[asyncio.Task[None]] = set()

    def included(self, sent: Sent, receipt: dict[str, Any]) -> None:
        """The transaction is in a block, whatever its status."""
        if sent.operation is not None:
            sent.operation.end(receipt)
            return
        made = self._authorizations.made_by(receipt)
        unproved: list[Payment] = []
        for payment in sent.members:
            if proves_payment(made, payment.authorization):
                payment.end(results.succeeded(payment.authorization, receipt["transactionHash"]))
            else:
                unproved.append(payment)
        if unproved:
            self._run(self._all_unproved(unproved, sent, receipt))
        gas, members, paid = number_of(receipt["gasUsed"]), len(sent.members), len(sent.members) - len(unproved)
        if paid == members and not any(one.is_isolated for one in sent.members):
            self._costs.count(gas, members)
        if burnt := self._budget.count(gas, members=members, paid=paid):
            log.warning(
                "transaction %s made %d of %d payments and burnt %d gas; a group has %d payments at most now",
                *(receipt["transactionHash"], paid, members, burnt, self._budget.most),
            )

    def lost(self, sent: Sent) -> None:
        """Another transaction has used its number, and this one never gets into a block."""
        if sent.operation is not None:
            sent.operation.end(None)
        self._reorg_monitor.compare(sent, {})
        for payment in sent.members:
            payment.end(results.unsettled(payment.authorization, sent.hash))

    def sealed(self, sent: Sent, receipt: dict[str, Any]) -> None:
        """Compare the transaction, which the chain now has in a block, with its preconfirmation."""
        self._reorg_monitor.compare(sent, self._authorizations.made_by(receipt))

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
        authorization = payment.authorization
        evidence = await self._authorizations.evidence(authorization.payer, authorization.nonce)
        self._end_unmade(payment, evidence, reason)

    async def _all_unproved(self, payments: Sequence[Payment], sent: Sent, receipt: dict[str, Any]) -> None:
        """A transaction does not show these payments. Whoever may have spoiled a group is named before they are sent again."""
        if len(sent.members) > 1 and not number_of(receipt["status"]):
            payers = [one.authorization.payer for one in payments]
            with contextlib.suppress(*NODE_ERRORS):
                for payer in await changed_accounts(self._node, payers, number_of(receipt["blockNumber"])):
                    log.warning("%s may have spoiled a group: its payments are settled one by one", payer)
                    self._isolation.suspect(payer)
        for payment in payments:
            self._run(self._unproved(payment, sent, receipt))

    async def _unproved(self, payment: Payment, sent: Sent, receipt: dict[str, Any]) -> None:
        """A transaction that was to make the payment does not show it."""
        authorization = payment.authorization
        evidence = await self._authorizations.evidence(authorization.payer, authorization.nonce)
        if evidence.status == "unused" and len(sent.members) > 1:
            self._try_again(payment, is_its_own_failure=bool(int(receipt["status"], 16)))
            return
        self._end_unmade(payment, evidence, "invalid_transaction_state")

    def _end_unmade(self, payment: Payment, evidence: Evidence, reason: str) -> None:
        """End a payment that no transaction of ours made. If somebody else's has, then the payer has paid all the same."""
        authorization = payment.authorization
        try:
            before = results.settled_before(authorization, evidence)
        except TimeoutError:
            payment.end(results.unsettled(authorization))
        else:
            payment.end(before or results.failed(authorization.network, reason, authorization.payer))

    def _try_again(self, payment: Payment, *, is_its_own_failure: bool) -> None:
        """Send a payment again that its group has not made.

        Args:
            is_its_own_failure: the group was executed and this call failed, so the payment is isolated from now on. Otherwise
                the group paid nobody, and the payment goes into a smaller one.
        """
        if is_its_own_failure:
            self._isolation.suspect(payment.authorization.payer)
        else:
            payment.failures += 1
        payment.sent = None
        payment.was_sent = True
        self._arrivals.put_nowait(payment)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), NODE_ERRORS):
            log.warning("a payment's end: %s", type(error).__name__)


async def changed_accounts(node: JsonRpcNode, accounts: Iterable[str], block: int) -> set[str]:
    """The accounts that have code, or whose nonce has gone up in the BLOCKS blocks before `block` or since.

    Each authorization that puts code on an account or takes it off raises the account's nonce (EIP-7702). A
    transaction that the account sends does so, too. An account of which the node says nothing is left out.

    Raises what is in NODE_ERRORS.
    """
    asked = list(dict.fromkeys(accounts))
    earlier = hex(max(0, block - BLOCKS))
    answers = await node.ask_all(
        [
            call
            for account in asked
            for call in (
                Call("eth_getCode", (account, "latest")),
                Call("eth_getTransactionCount", (account, earlier)),
                # Some nodes show a preconfirmed transaction here only.
                Call("eth_getTransactionCount", (account, "pending")),
            )
        ]
    )
    shown = zip(asked, answers[::3], answers[1::3], answers[2::3], strict=True)
    return {account for account, code, before, now in shown if _has_changed(code, before, now)}


def _has_changed(code: Any, before: Any, now: Any) -> bool:
    if not isinstance(code, RpcError) and bytes_of(code):
        return True
    return not isinstance(before, RpcError) and not isinstance(now, RpcError) and number_of(before) < number_of(now)
