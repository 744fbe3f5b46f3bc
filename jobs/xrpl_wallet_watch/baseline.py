"""What one call leaves for the next: how far the history was read, what the wallet had there, and whom it had paid."""

from collections.abc import Iterable
from decimal import Decimal

import msgspec

from jobs.observation import Previous
from jobs.ports.xrpl import Point

VERSION = 1
MAX_SEEN = 1_000
"""How many destinations are remembered (35 KB). If a wallet pays more of them, the oldest are reported as new again."""


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """An observation.

    Attributes:
        network: CAIP-2. A baseline of another network is ignored.
        ledger, position: the Point up to which everything has been reported.
        xrp, rlusd: the balances there; None: not known, because history was missing.
        activated: whether there was such an account in the newest ledger.
        seen: reported destinations, those of the latest payments last: ``r...`` or ``r...:tag``.
    """

    version: int = VERSION
    network: str
    ledger: int
    position: int | None
    xrp: Decimal | None
    rlusd: Decimal | None
    activated: bool
    seen: tuple[str, ...]

    @property
    def point(self) -> Point:
        """The point up to which everything has been reported."""
        return Point(self.ledger, self.position)


def read(previous: Previous | None, network: str) -> Baseline | None:
    """The baseline of an earlier call; None when there is none that can be compared with."""
    if previous is None:
        return None
    try:
        found = msgspec.msgpack.decode(previous.observation, type=Baseline)
    except msgspec.DecodeError:  # of a later version, or cut off
        return None
    return found if found.version == VERSION and found.network == network else None


def write(baseline: Baseline) -> bytes:
    """The observation's bytes."""
    return msgspec.msgpack.encode(baseline)


def seen_with(seen: Iterable[str], now: Iterable[str]) -> tuple[str, ...]:
    """The destinations seen before and now, the latest last, without the oldest."""
    ordered = dict.fromkeys(seen)
    for name in now:
        ordered.pop(name, None)
        ordered[name] = None
    return tuple(ordered)[-MAX_SEEN:]
