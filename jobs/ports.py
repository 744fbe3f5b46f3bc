"""The outside world as the jobs see it. Each port is a Protocol of at most three methods; the real ones: workers/adapters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler gets beside its request.

    Attributes:
        payer: the wallet that paid, in the canonical form of its rail. Baselines are kept per payer.
    """

    payer: str
