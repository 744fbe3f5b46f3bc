"""Settlements that are under way, and what every rail asks of a call before it looks at the payment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, FacilitatorCall, Settlement

SCHEME = "exact"

K = TypeVar("K")


class Settling(Generic[K]):
    """One settlement for each payment, however many ask for it."""

    def __init__(self) -> None:
        self._tasks: dict[K, asyncio.Task[Settlement]] = {}

    def __contains__(self, payment: object) -> bool:
        return payment in self._tasks

    def __len__(self) -> int:
        return len(self._tasks)

    async def once(self, payment: K, settle: Callable[[], Coroutine[Any, Any, Settlement]]) -> Settlement:
        """Settle it, or wait for who is settling it. Whoever asked may hang up: it still comes to its end."""
        task = self._tasks.get(payment)
        if task is None:
            task = self._tasks[payment] = asyncio.create_task(settle())
            task.add_done_callback(lambda _: self._tasks.pop(payment, None))
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait for all of them."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def require_ours(call: FacilitatorCall, network: str) -> None:
    """Raises Refused unless version, scheme and network are those of the rail, in the offer and in what the client accepted."""
    offer, accepted = call.payment_requirements, call.payment_payload.accepted
    if (call.x402_version, call.payment_payload.x402_version) != (X402_VERSION, X402_VERSION):
        raise PaymentRefused("invalid_x402_version")
    if (offer.scheme, accepted.scheme) != (SCHEME, SCHEME):
        raise PaymentRefused("unsupported_scheme")
    if (offer.network, accepted.network) != (network, network):
        raise PaymentRefused("invalid_network")
