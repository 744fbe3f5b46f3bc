"""A payment on its way to the chain."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from facilitator.rails.evm.transaction import Sent
from facilitator.settling import PaymentKey, payment_key
from shared.x402.evm import EvmAuthorization
from shared.x402.wire import Settlement


@dataclass(eq=False, slots=True)
class Payment:
    """One authorization that is to be settled.

    Attributes:
        ended: gets the settlement, or why there is none. Nobody may be waiting for it.
        sent: the transaction that it is in; None before it was signed.
        gas: what its transaction may take when it is sent alone.
        is_alone: it is in no group, because its payer's code decides how much gas it takes, or because it failed in one.
        failures: transactions that it was in and that paid nobody.
        is_withdrawn: nobody waits for it, and it is not to be sent.
    """

    authorization: EvmAuthorization
    ended: asyncio.Future[Settlement] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    sent: Sent | None = None
    gas: int = 0
    is_alone: bool = False
    failures: int = 0
    is_withdrawn: bool = False

    @property
    def key(self) -> PaymentKey:
        """What tells it from all others."""
        return payment_key(self.authorization)

    def end(self, settlement: Settlement) -> None:
        """Tell whoever waits. The first end counts."""
        if not self.ended.done():
            self.ended.set_result(settlement)
