"""Looks for the blocks that sent transactions get into: one look for all of them."""

import asyncio
import contextlib

from facilitator.json_rpc import NODE_ERRORS, JsonRpcNode
from facilitator.rails.evm.account import SettlerAccount
from facilitator.rails.evm.finality import Finality
from facilitator.rails.evm.in_flight import InFlight
from facilitator.rails.evm.node import value_of
from facilitator.rails.evm.outcomes import Outcomes
from facilitator.rails.evm.transaction import Sent
from shared.nodes.json_rpc import Call

FIRST_LOOK_S = 0.005
LONGEST_PAUSE_S, LONGEST_BETWEEN_PRECONFIRMATIONS_S = 0.25, 0.1
LOST_AFTER_S = 120.0
"""How long a transaction is looked for after its number was used by another one."""

SEALED = Finality()
_HEAD = Call("eth_getBlockByNumber", ("latest", False))


class Watcher:
    """Watches every transaction of one account.

    Args:
        finality: which receipts count.
    """

    def __init__(
        self, node: JsonRpcNode, finality: Finality, in_flight: InFlight, account: SettlerAccount, outcomes: Outcomes
    ) -> None:
        self._node = node
        self._finality = finality
        self._in_flight = in_flight
        self._account = account
        self._outcomes = outcomes
        self._reported: set[Sent] = set()
        self._watched = in_flight.watched
        self._wanted = in_flight.is_look_wanted
        self._seen_head = ""
        self._longest_pause_s = LONGEST_PAUSE_S
        if finality.is_before_blocks:
            self._longest_pause_s = LONGEST_BETWEEN_PRECONFIRMATIONS_S

    async def run(self) -> None:
        """Look until cancelled between two looks."""
        pause = FIRST_LOOK_S
        while True:
            if not self._watched:
                await self._wanted.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), pause)
            pause = FIRST_LOOK_S if self._wanted.is_set() else min(2 * pause, self._longest_pause_s)
            is_wanted = self._wanted.is_set()
            self._wanted.clear()
            try:
                await self._look(is_wanted)
            except NODE_ERRORS:
                self._seen_head = ""  # whatever is new is looked for again

    async def _look(self, is_wanted: bool) -> None:
        """Ask for the head, and for all receipts when they may have changed."""
        overdue = [one for one in self._watched if not self._in_flight.holds(one) and one.newest.age_s > LOST_AFTER_S]
        if not (is_wanted or overdue or self._waits_for_preconfirmation):
            head = await self._node.ask(_HEAD.method, *_HEAD.params)
            if head["hash"] == self._seen_head:
                return
        forms = [(sent, form.hash) for sent in self._watched for form in sent.forms]
        # The head first: a block that comes in between is seen as a new head the next time.
        first, *answers = await self._node.ask_all(
            [_HEAD, *(Call("eth_getTransactionReceipt", (hash_,)) for _, hash_ in forms)]
        )
        head = value_of(first)
        found = {sent: receipt for (sent, _), receipt in zip(forms, answers, strict=True) if isinstance(receipt, dict)}
        final = await self._finality.final(self._node, head, found)
        for sent in final.keys() - self._reported:
            self._reported.add(sent)
            self._outcomes.included(sent, final[sent])
        sealed = await SEALED.final(self._node, head, final) if self._finality.is_before_blocks else final
        for sent, receipt in sealed.items():
            self._drop(sent)
            self._account.confirm(sent)
            self._outcomes.sealed(sent, receipt)
        shown = {sent for (sent, _), answer in zip(forms, answers, strict=True) if answer is not None}
        for sent in set(overdue) - shown:
            self._drop(sent)
            self._outcomes.lost(sent)
        self._seen_head = "" if any(isinstance(answer, Exception) for answer in answers) else head["hash"]

    @property
    def _waits_for_preconfirmation(self) -> bool:
        return self._finality.is_before_blocks and len(self._reported) < len(self._watched)

    def _drop(self, sent: Sent) -> None:
        self._watched.pop(sent, None)
        self._reported.discard(sent)
