"""Answers that could not be delivered: the caller of a paid call hung up before its answer was written.

Clients that know no payment-identifier then sign a new payment for the same call. Within the time that COINSLOT_UNDELIVERED_S
sets, that payment is not settled, and gets the answer of the first one.
"""

import asyncio
from typing import Any, Protocol

from litestar.types import Scope

from api.payment.ledger import Ledger
from api.payment.ledger_terms import Claim

HUNG_UP = "coinslot.hung_up"
"""Extension of the ASGI scope: a function that returns a future, which is done when the caller has closed the connection. Where
a server has none, nobody is known to hang up."""


class HungUp(Protocol):
    """The future."""

    def add_done_callback(self, callback: Any) -> None: ...

    def done(self) -> bool: ...

    def cancel(self) -> bool: ...


class Watch:
    """Watches the connection of one call from its claim to its answer, and tells the ledger at once when it is closed: the next
    payment may come within milliseconds.

    Args:
        is_again: whether the call was paid before, so that its answer may be one that was not delivered.
    """

    def __init__(self, hung_up: HungUp | None, ledger: Ledger, claim: Claim, *, is_again: bool) -> None:
        self._hung_up = hung_up
        self._ledger = ledger
        self._claim = claim
        self._is_again = is_again
        self._is_over = False
        self._noting: asyncio.Task[None] | None = None
        if hung_up is not None:
            hung_up.add_done_callback(self._note)

    def _note(self, _: object) -> None:
        if not self._is_over:
            self._noting = asyncio.get_running_loop().create_task(self._ledger.undelivered(self._claim))

    async def end(self, *, is_final: bool) -> None:
        """The answer is about to be written, or cannot be.

        Args:
            is_final: whether it is what the call was paid for, or a failure that stays; otherwise the caller has to come again.
        """
        self._is_over = True
        if self._hung_up is not None and self._hung_up.done():
            # Perhaps it was closed a moment ago, and `_note` would come too late.
            await (self._noting or self._ledger.undelivered(self._claim))
            await self._ledger.prolong_undelivered(self._claim)
            return
        if self._hung_up is not None:
            self._hung_up.cancel()
        if self._is_again and is_final:
            await self._ledger.delivered(self._claim)


def watch(scope: Scope, ledger: Ledger, claim: Claim, *, is_again: bool) -> Watch | None:
    """A watch of a call whose answer its payer may get again; None of any other."""
    if not claim.undelivered_ms:
        return None
    hung_up: Any = (scope.get("extensions") or {}).get(HUNG_UP)
    return Watch(hung_up() if hung_up else None, ledger, claim, is_again=is_again)
