"""All rails of this process: started each for itself, and asked for by the network that a call names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from facilitator.rail import Rail
from shared.settings import InvalidSetting
from shared.x402.wire import Evidence, FacilitatorCall, Settlement, Supported, Verification

log = logging.getLogger(__name__)

START_AGAIN_S = 2.0


class Facilitator:
    """Settles on whichever rails are up. One that is not started yet, or cannot settle, is not in `supported`."""

    def __init__(self, rails: Iterable[Rail]) -> None:
        self._rails = {rail.network: rail for rail in rails}
        self._trouble = dict.fromkeys(self._rails, "it is being started")
        self._starting: list[asyncio.Task[None]] = []

    @property
    def unavailable_reasons(self) -> dict[str, str]:
        """Why nothing can be settled, by network. Empty when all is well."""
        found = {
            network: self._trouble.get(network) or rail.unavailable_reason for network, rail in self._rails.items()
        }
        return {network: unavailable_reason for network, unavailable_reason in found.items() if unavailable_reason}

    @property
    def supported(self) -> Supported:
        """The answer of /supported."""
        signers: dict[str, tuple[str, ...]] = {}
        for rail in self._up():
            for pattern, accounts in rail.signers.items():
                signers[pattern] = tuple(dict.fromkeys((*signers.get(pattern, ()), *accounts)))
        return Supported(kinds=tuple(kind for rail in self._up() for kind in rail.kinds), signers=signers)

    async def start(self) -> None:
        """Start every rail. One whose node does not answer is started again until it does.

        Raises:
            InvalidSetting: a node serves another network.
        """
        await asyncio.gather(*(self._start(rail) for rail in self._rails.values()))

    async def stop(self) -> None:
        """Wait for what is being settled, then close the connections."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(rail.stop() for rail in self._rails.values()))

    async def verify(self, call: FacilitatorCall) -> Verification:
        """The answer of /verify."""
        rail = self._rails.get(call.payment_requirements.network)
        if rail is None:
            return Verification(is_valid=False, invalid_reason="invalid_network")
        if rail.network in self._trouble:
            return Verification(is_valid=False, invalid_reason="unexpected_verify_error")
        return await rail.verify(call)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """The answer of /settle."""
        network = call.payment_requirements.network
        rail = self._rails.get(network)
        if rail is None:
            return Settlement(success=False, transaction="", network=network, error_reason="invalid_network")
        if network in self._trouble:
            return Settlement(success=False, transaction="", network=network, error_reason="unexpected_settle_error")
        return await rail.settle(call)

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What a chain says of a payment; None when no rail here knows such an id."""
        network = ":".join(payment_id.split(":", 2)[:2])
        rail = self._rails.get(network)
        if rail is None:
            return None
        if network in self._trouble:
            return Evidence(status="unknown", network=network)
        return await rail.evidence(payment_id)

    def _up(self) -> Sequence[Rail]:
        return [rail for network, rail in self._rails.items() if network not in self._trouble]

    async def _start(self, rail: Rail) -> None:
        if not await self._try(rail):
            self._starting.append(asyncio.create_task(self._keep_starting(rail), name=f"start-{rail.network}"))

    async def _keep_starting(self, rail: Rail) -> None:
        while True:
            await asyncio.sleep(START_AGAIN_S)
            try:
                if await self._try(rail):
                    log.warning("%s: settles now", rail.network)
                    return
            except InvalidSetting as error:
                self._trouble[rail.network] = str(error)
                log.error("%s: %s", rail.network, error)

    async def _try(self, rail: Rail) -> bool:
        try:
            await rail.start()
        except InvalidSetting:
            raise
        except Exception as error:  # whatever the network's library raises
            unavailable_reason = f"its node does not answer: {type(error).__name__}"
            if self._trouble[rail.network] != unavailable_reason:
                log.warning("%s: %s", rail.network, unavailable_reason)
            self._trouble[rail.network] = unavailable_reason
            return False
        del self._trouble[rail.network]
        return True
