"""How a process of the API ends without a failed call while another one serves the same port.

granian stops accepting connections and closes the idle ones at the same moment. A request that is on its way then is lost: of
four callers that kept their connections, three saw a failed read (measured). So on SIGTERM a process first stops accepting. If
another process serves the port, this one then asks callers to close their connections, for DRAIN_S. Only then granian stops.
"""

import asyncio
import contextlib
import os
import signal
import socket

DRAIN_S = 2.0
"""For that long every answer has `Connection: close`. What is idle after that has no request on its way."""
_CONNECT_TIMEOUT_S = 1.0


class Draining:
    """The end of one process.

    Attributes:
        is_on: whether the process ends, so that answers ask for the end of their connections.
    """

    def __init__(self, host: str, port: int) -> None:
        self.is_on = False
        self._address = host, port
        self._task: asyncio.Task[None] | None = None

    def take_sigterm(self, loop: asyncio.AbstractEventLoop) -> None:
        """Replace granian's handler of SIGTERM. Its handler of SIGINT does the same, and is called in the end."""
        loop.add_signal_handler(signal.SIGTERM, self._begin)

    def _begin(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        self.is_on = True
        _stop_accepting(self._address[1])
        if await self._is_served():
            await asyncio.sleep(DRAIN_S)
        os.kill(os.getpid(), signal.SIGINT)

    async def _is_served(self) -> bool:
        with contextlib.suppress(OSError):  # TimeoutError is one
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                _, writer = await asyncio.open_connection(*self._address)
            writer.close()
            return True
        return False


def _stop_accepting(port: int) -> None:
    """Close the listening sockets of this process. They are granian's, which keeps their numbers: a socket that never has a
    connection takes their place."""
    with socket.socket(socket.AF_UNIX) as silent:
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if _listens(descriptor, port):
                os.dup2(silent.fileno(), descriptor)


def _listens(descriptor: int, port: int) -> bool:
    try:
        found = socket.socket(fileno=descriptor)
    except OSError:  # it is no socket, or was closed meanwhile
        return False
    try:
        is_listening = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        return bool(is_listening) and found.family != socket.AF_UNIX and found.getsockname()[1] == port
    finally:
        found.detach()
