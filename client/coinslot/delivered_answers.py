"""The files of answers that were just handed over: they go a little later, because handed over is not received."""

from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from coinslot.payment_folder import SavedPayment

KEPT_S = 5.0
"""A process that is killed before leaves the file, and `coinslot resume` fetches the answer once more."""


class DeliveredAnswers:
    """An async context manager. When it ends without an exception, all files go."""

    def __init__(self) -> None:
        self._tasks: TaskGroup = anyio.create_task_group()
        self._waiting: set[SavedPayment] = set()

    def add(self, saved: SavedPayment) -> None:
        """Remove the file after KEPT_S."""
        self._waiting.add(saved)
        self._tasks.start_soon(self._remove, saved)

    @property
    def paths(self) -> frozenset[Path]:
        """The files that were not removed yet."""
        return frozenset(saved.path for saved in self._waiting)

    async def _remove(self, saved: SavedPayment) -> None:
        await anyio.sleep(KEPT_S)
        self._waiting.discard(saved)
        saved.remove()

    async def __aenter__(self) -> "DeliveredAnswers":
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for saved in self._waiting:
                saved.remove()
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)  # with the exception it would raise a group that has it
