"""The transactions that were sent and have no known end: the account adds them, and the watcher takes them out."""

import asyncio

from facilitator.rails.evm.transaction import Payment, Sent


class InFlight:
    """The transactions of one account.

    Attributes:
        unconfirmed: by number, what may still get into a block. A cancellation replaces what it cancels.
        watched: those whose receipts are looked for, oldest first. Each of them makes payments.
        is_look_wanted: is set when the next look is to be at once.
    """

    def __init__(self) -> None:
        self.unconfirmed: dict[int, Sent] = {}
        self.watched: dict[Sent, None] = {}
        self.is_look_wanted = asyncio.Event()

    def holds(self, sent: Sent) -> bool:
        """Whether its number is still open: one of its forms, or its replacement, may yet get into a block."""
        return sent.number in self.unconfirmed

    def watch(self, sent: Sent) -> None:
        """Look for a transaction from now on."""
        self.watched[sent] = None

    def payments_of(self, payer: str) -> list[Payment]:
        """This payer's payments that were sent and have not ended, oldest first."""
        members = (one for sent in self.watched for one in sent.members)
        return [one for one in members if one.authorization.payer == payer and not one.ended.done()]

    def look_soon(self) -> None:
        """Something was sent, or somebody waits: look at once, and then more often."""
        self.is_look_wanted.set()
