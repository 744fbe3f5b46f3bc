"""SIGHUP: the API reads its price list again, in the process that serves. Its master passes the signal on.

granian would start its workers anew: with a wrong price list the new one does not start, and the old one is stopped anyway.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any

from granian.server.common import AbstractServer

_HANG_UP = {signal.SIGHUP}


def pass_on(server: AbstractServer[Any]) -> None:
    """Have the master pass SIGHUP on to the workers. A worker gets one that comes while it starts when it has started."""
    os.register_at_fork(
        before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, _HANG_UP),
        after_in_parent=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANG_UP),
    )
    # At its start granian takes SIGHUP for itself, and then calls this.
    server.on_startup(lambda: signal.signal(signal.SIGHUP, _pass_on))


def _pass_on(*_: object) -> None:
    for worker in multiprocessing.active_children():
        if worker.pid is not None:
            os.kill(worker.pid, signal.SIGHUP)


class HangUp:
    """What a worker does on SIGHUP."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._work = work
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take the signal from now on."""
        loop.add_signal_handler(signal.SIGHUP, self._begin, loop)
        # A loop that does not run yet would lose it.
        loop.call_soon(signal.pthread_sigmask, signal.SIG_UNBLOCK, _HANG_UP)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        task = loop.create_task(self._work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
