"""Settlements under way, and what every rail requires of a call before it looks at the payment."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from shared.x402.authorization import Authorization
from shared.x402.exact import SCHEME
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, FacilitatorCall, Settlement

K = TypeVar("K")

PaymentKey = tuple[str, str, str, bytes]
"""Payment id, recipient, amount, signature. A payer can sign two transfers with one nonce, and anybody can send one with a bad
signature beside the good one: none of them is the settlement of another."""


class CannotSend(Exception):
    """Nothing was sent, and the payment is not at fault. The text says why."""


class CannotStart(Exception):
    """A rail cannot be started, and its node is not at fault. The text says why."""


def payment_key(authorization: Authorization) -> PaymentKey:
    """What distinguishes one payment from all others of the same payment id. Addresses in another case are the same."""
    return authorization.payment_id, authorization.pay_to.lower(), authorization.amount, authorization.signature


class Settling(Generic[K]):
    """Runs one settlement for each payment, however many callers ask for it."""

    def __init__(self) -> None:
        self._tasks: dict[K, asyncio.Task[Settlement]] = {}

    def __contains__(self, payment: object) -> bool:
        return payment in self._tasks

    def __len__(self) -> int:
        return len(self._tasks)

    async def once(self, payment: K, settle: Callable[[], Coroutine[Any, Any, Settlement]]) -> Settlement:
        """Settle the payment, or wait for the settlement under way. It continues when the caller hangs up."""
        task = self._tasks.get(payment)
        if task is None:
            task = self._tasks[payment] = asyncio.create_task(settle())
            task.add_done_callback(lambda _: self._tasks.pop(payment, None))
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait until nothing is under way."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def require_ours(call: FacilitatorCall, network: str, scheme: str = SCHEME) -> None:
    """Check version, scheme and network, in the offer and in what the client accepted.

    Raises:
        PaymentRefused: one of them is not the rail's.
    """
    offer, accepted = call.payment_requirements, call.payment_payload.accepted
    if (call.x402_version, call.payment_payload.x402_version) != (X402_VERSION, X402_VERSION):
        raise PaymentRefused("invalid_x402_version")
    if (offer.scheme, accepted.scheme) != (scheme, scheme):
        raise PaymentRefused("unsupported_scheme")
    if (offer.network, accepted.network) != (network, network):
        raise PaymentRefused("invalid_network")
