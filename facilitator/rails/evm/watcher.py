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
LONGEST_PAUSE_S = 0.25
LOST_AFTER_S = 120.0
"""How long a transaction is looked for after its number was used by another one."""

Receipt = dict[str, Any]
_HEAD = Call("eth_getBlockByNumber", ("latest", False))


class Watcher:
    """Watches every transaction of one account.

    Args:
        finality: which receipts count.
        is_open: whether a transaction's number may still be its own.
        ended: is called with each transaction and the receipt of the form that got into a block; or None when it never will.
    """

    def __init__(
        self,
        node: EvmNode,
        finality: Finality,
        *,
        is_open: Callable[[Sent], bool],
        ended: Callable[[Sent, Receipt | None], None],
    ) -> None:
        self._node = node
        self._finality = finality
        self._is_open = is_open
        self._ended = ended
        self._watched: dict[Sent, None] = {}
        self._wanted = asyncio.Event()
        self._seen_head = ""

    def watch(self, sent: Sent) -> None:
        """Look for a transaction from now on."""
        self._watched[sent] = None

    def forget(self, sent: Sent) -> None:
        """It was not sent after all."""
        self._watched.pop(sent, None)

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
            pause = FIRST_LOOK_S if self._wanted.is_set() else min(2 * pause, LONGEST_PAUSE_S)
            is_wanted = self._wanted.is_set()
            self._wanted.clear()
            try:
                await self._look(is_wanted)
            except NODE_ERRORS:
                self._seen_head = ""  # whatever is new is looked for again

    async def _look(self, is_wanted: bool) -> None:
        """Ask for the head, and for all receipts when they may have changed."""
        if not is_wanted and not self._finality.is_before_blocks:
            head = await self._node.ask(_HEAD.method, *_HEAD.params)
            if head["hash"] == self._seen_head:
                return
        forms = [(sent, form.hash) for sent in self._watched for form in sent.forms]
        answers = await self._node.ask_all(
            [*(Call("eth_getTransactionReceipt", (hash_,)) for _, hash_ in forms), _HEAD]
        )
        head = value_of(answers.pop())
        found = {sent: receipt for (sent, _), receipt in zip(forms, answers, strict=True) if isinstance(receipt, dict)}
        final = await self._finality.final(self._node, head, found)
        for sent, receipt in final.items():
            self._watched.pop(sent, None)
            self._ended(sent, receipt)
        for sent in [one for one in self._watched if not self._is_open(one) and one.newest.age_s > LOST_AFTER_S]:
            self._watched.pop(sent, None)
            self._ended(sent, None)
        is_whole = not any(isinstance(answer, Exception) for answer in answers) and len(final) == len(found)
        self._seen_head = head["hash"] if is_whole else ""
