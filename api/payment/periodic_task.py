"""What a process looks into now and then, for as long as it lives, whatever goes wrong."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod

from api.redis_client import RedisLost, RedisRefused

log = logging.getLogger(__name__)


class PeriodicTask(ABC):
    """Turn after turn, with a pause when one found less than it takes at once.

    Args:
        name: of the task, and in the log.
    """

    def __init__(self, name: str, *, every_s: float, at_once: int) -> None:
        self._name = name
        self._every_s = every_s
        self._at_once = at_once
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, on the running event loop."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def stop(self) -> None:
        """Stop. What was being looked into is looked into again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @abstractmethod
    async def turn(self) -> int:
        """Look into what is due. Returns how many there were. Raises RedisLost and RedisRefused."""

    async def _run(self) -> None:
        while True:
            try:
                while await self.turn() == self._at_once:
                    pass
            except (RedisLost, RedisRefused) as error:
                log.warning("%s: the ledger cannot be read: %s", self._name, error)
            except Exception:
                log.exception("%s: a turn failed", self._name)
            await asyncio.sleep(self._every_s)
