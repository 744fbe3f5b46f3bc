"""All rails of this process. Each starts by itself, and a call goes to the rail of its network."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any

from facilitator import results
from facilitator.rail import Rail
from facilitator.settling import CannotStart
from shared.settings.service import InvalidSetting
from shared.x402.wire import Evidence, FacilitatorCall, Settlement, Supported, Verification

log = logging.getLogger(__name__)

START_AGAIN_S = 2.0


class Facilitator:
    """Settles on the rails that are up. A rail that is not started yet, or cannot settle, is not in `supported`."""

    def __init__(self, rails: Iterable[Rail[Any]]) -> None:
        self._rails = {rail.network: rail for rail in rails}
        self._trouble = dict.fromkeys(self._rails, "it is being started")
        self._starting: list[asyncio.Task[None]] = []

    @property
    def unavailable_reasons(self) -> dict[str, str]:
        """Why a rail cannot settle, by network. Empty when all can."""
        found = {name: self._trouble.get(name) or rail.unavailable_reason for name, rail in self._rails.items()}
        return {network: reason for network, reason in found.items() if reason}

    @property
    def supported(self) -> Supported:
        """The answer of /supported."""
        signers: dict[str, tuple[str, ...]] = {}
        for rail in self._up():
            for pattern, accounts in rail.signers.items():
                signers[pattern] = tuple(dict.fromkeys((*signers.get(pattern, ()), *accounts)))
        return Supported(kinds=tuple(kind for rail in self._up() for kind in rail.kinds), signers=signers)

    async def start(self) -> None:
        """Start every rail. One that cannot be started, because its node does not answer or for another reason, is tried again.

        Raises:
            InvalidSetting: a node serves another network.
        """
        await asyncio.gather(*(self._start(rail) for rail in self._rails.values()))

    async def stop(self) -> None:
        """Wait for the settlements under way, then disconnect."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(rail.stop() for rail in self._rails.values()))

    async def verify(self, call: FacilitatorCall) -> Verification:
        """The answer of /verify."""
        rail = self._rails.get(call.payment_requirements.network)
        if rail is None:
            return results.invalid("invalid_network")
        if rail.network in self._trouble:
            return results.invalid("unexpected_verify_error")
        return await rail.verify(call)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """The answer of /settle."""
        network = call.payment_requirements.network
        rail = self._rails.get(network)
        if rail is None:
            return results.failed(network, "invalid_network")
        if network in self._trouble:
            return results.failed(network, "unexpected_settle_error")
        return await rail.settle(call)

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What a chain shows of a payment; None when the id is of no rail here."""
        network = ":".join(payment_id.split(":", 2)[:2])
        rail = self._rails.get(network)
        if rail is None:
            return None
        if network in self._trouble:
            return Evidence(status="unknown", network=network)
        return await rail.evidence(payment_id)

    def _up(self) -> Sequence[Rail[Any]]:
        return [rail for network, rail in self._rails.items() if network not in self._trouble]

    async def _start(self, rail: Rail[Any]) -> None:
        try:
            has_started = await self._try(rail)
        except InvalidSetting as error:
            raise InvalidSetting(f"{rail.network}: {error}") from None
        if not has_started:
            self._starting.append(asyncio.create_task(self._keep_starting(rail), name=f"start-{rail.network}"))

    async def _keep_starting(self, rail: Rail[Any]) -> None:
        while True:
            await asyncio.sleep(START_AGAIN_S)
            try:
                if await self._try(rail):
                    log.warning("%s: settles now", rail.network)
                    return
            except InvalidSetting as error:
                self._trouble[rail.network] = str(error)
                log.error("%s: %s", rail.network, error)

    async def _try(self, rail: Rail[Any]) -> bool:
        try:
            await rail.start()
        except InvalidSetting:
            raise
        except Exception as error:  # whatever the network's library raises
            is_ours = isinstance(error, CannotStart)
            unavailable_reason = str(error) if is_ours else f"its node does not answer: {type(error).__name__}"
            if self._trouble[rail.network] != unavailable_reason:
                log.warning("%s: %s", rail.network, unavailable_reason)
            self._trouble[rail.network] = unavailable_reason
            return False
        del self._trouble[rail.network]
        return True
