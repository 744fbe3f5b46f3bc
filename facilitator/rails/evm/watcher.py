"""Looks for the blocks that sent transactions get into: one look for all of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from facilitator.rails.evm.finality import Finality
from facilitator.rails.evm.node import NODE_ERRORS, EvmNode, value_of
from facilitator.rails.evm.transaction import Sent
from shared.json_rpc import Call

FIRST_LOOK_S = 0.005
LONGEST_PAUSE_S, LONGEST_BETWEEN_PRECONFIRMATIONS_S = 0.25, 0.1
LOST_AFTER_S = 120.0
"""How long a transaction is looked for after its number was used by another one."""

SEALED = Finality()
Receipt = dict[str, Any]
_HEAD = Call("eth_getBlockByNumber", ("latest", False))


class Watcher:
    """Watches every transaction of one account.

    Args:
        finality: which receipts count.
        is_open: whether a transaction's number may still be its own.
        ended: is called with each transaction and the receipt that counts; or None when there never will be one.
        sealed: is called with each transaction that the chain has in a block, after `ended`, and its receipt there.
    """

    def __init__(
        self,
        node: EvmNode,
        finality: Finality,
        *,
        is_open: Callable[[Sent], bool],
        ended: Callable[[Sent, Receipt | None], None],
        sealed: Callable[[Sent, Receipt], None],
    ) -> None:
        self._node = node
        self._finality = finality
        self._is_open = is_open
        self._ended = ended
        self._sealed = sealed
        self._told: set[Sent] = set()
        self._watched: dict[Sent, None] = {}
        self._wanted = asyncio.Event()
        self._seen_head = ""
        self._longest_pause_s = LONGEST_PAUSE_S
        if finality.is_before_blocks:
            self._longest_pause_s = LONGEST_BETWEEN_PRECONFIRMATIONS_S

    def watch(self, sent: Sent) -> None:
        """Look for a transaction from now on."""
        self._watched[sent] = None

    def look_soon(self) -> None:
        """Something was sent, or somebody waits: look at once, and then more often."""
        self._wanted.set()

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
        overdue = [one for one in self._watched if not self._is_open(one) and one.newest.age_s > LOST_AFTER_S]
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
        for sent in final.keys() - self._told:
            self._told.add(sent)
            self._ended(sent, final[sent])
        sealed = await SEALED.final(self._node, head, final) if self._finality.is_before_blocks else final
        for sent, receipt in sealed.items():
            self._drop(sent)
            self._sealed(sent, receipt)
        shown = {sent for (sent, _), answer in zip(forms, answers, strict=True) if answer is not None}
        for sent in set(overdue) - shown:
            self._drop(sent)
            self._ended(sent, None)
        self._seen_head = "" if any(isinstance(answer, Exception) for answer in answers) else head["hash"]

    @property
    def _waits_for_preconfirmation(self) -> bool:
        return self._finality.is_before_blocks and len(self._told) < len(self._watched)

    def _drop(self, sent: Sent) -> None:
        self._watched.pop(sent, None)
        self._told.discard(sent)
