"""A task that runs again and again for the whole life of the process, whatever one run raises."""

import asyncio
import logging
from abc import ABC, abstractmethod

from api.redis_client import RedisLost, RedisRefused

log = logging.getLogger(__name__)


class PeriodicTask(ABC):
    """Runs `run_once` repeatedly, and pauses when a run found less than it could take.

    Args:
        name: of the asyncio task, and in the log.
        every_s: the pause, in seconds.
        at_once: how much one run takes at most.
    """

    def __init__(self, name: str, *, every_s: float, at_once: int) -> None:
        self._name = name
        self._every_s = every_s
        self._at_once = at_once
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the task on the running event loop."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def stop(self) -> None:
        """Cancel the task. A later run takes again what the cancelled one had taken."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @abstractmethod
    async def run_once(self) -> int:
        """Process what is due. Returns the number of items. Raises RedisLost and RedisRefused."""

    async def _run(self) -> None:
        while True:
            try:
                while await self.run_once() == self._at_once:
                    pass
            except (RedisLost, RedisRefused) as error:
                log.warning("%s: the ledger cannot be read: %s", self._name, error)
            except Exception:
                log.exception("%s: a run failed", self._name)
            await asyncio.sleep(self._every_s)
