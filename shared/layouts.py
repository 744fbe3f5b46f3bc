"""The layouts of what is kept and sent, as numbers, so that two versions of this program know what they may read of each other.

Of two releases that follow each other each reads what the other writes. So a new layout takes two releases: the first reads it
and writes the old one, the second writes it. What no reader would misunderstand, such as a field that has a default, is no new
layout. docs/operations.md, Updating, has the table.
"""

from dataclasses import dataclass


class UnknownLayout(ValueError):
    """Another version has written something, and this one does not read it. It is neither damaged nor missing: it must be left
    for a version that reads it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """One kind of data.

    Attributes:
        written: the number that this version writes.
        read: the numbers that it reads.
        unnumbered: that of data without a number, as 0.1.0 wrote it.
    """

    written: int
    read: frozenset[int]
    unnumbered: int = 1

    def wrong(self, found: object) -> str:
        """Why data with a number must not be used by this version; empty when it may."""
        if isinstance(found, int) and found in self.read:
            return ""
        read = " and ".join(map(str, sorted(self.read)))
        return (
            f"it has layout {found}, and this version reads layout {read}: start the version that wrote it, and see "
            "docs/operations.md, Updating"
        )

    def refuse(self, found: object) -> None:
        """Raises UnknownLayout where `wrong` says why."""
        if why := self.wrong(found):
            raise UnknownLayout(why)


LEDGER = Layout(2, frozenset({2}))
"""Keys and contents of shared/ledger/keys.py, journal and records. Each server has the number (shared/ledger/layout.py). Layout
1 had keys without buckets, and no number."""
ANSWERS = Layout(1, frozenset({1}))
"""Stored and sent outcomes (shared/outcome.py). Their last element."""
OBSERVATIONS = Layout(1, frozenset({1}))
"""Of endpoints that remember (workers/observations.py). Bits of their first byte."""
MESSAGES = Layout(1, frozenset({1}))
"""Jobs on their way to a worker (shared/queue/message.py). An option of the message."""
REPLIES = Layout(1, frozenset({1}))
"""And their replies (shared/queue/replies.py). An element."""
SETTLER_JOURNAL = Layout(1, frozenset({1}))
"""Lines of facilitator/rails/evm/journal.py."""
SAVED_PAYMENTS = Layout(1, frozenset({1}))
"""Files of the buyer (client/coinslot/payment_folder.py)."""
