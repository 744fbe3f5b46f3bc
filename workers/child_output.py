"""What a child prints, as lines of the worker's log. A child that was taken over may print anything: it is cut, and escaped."""

import logging
import os

log = logging.getLogger(__name__)

MOST_BYTES = 4096
"""Of one call. A traceback of three places has 600."""


class Output:
    """The pipe of a child's standard output and error. The caller closes the descriptor."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.is_open = True
        self._kept = b""

    def take(self) -> None:
        """Read what is there, so that the child never waits to print."""
        try:
            chunk = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return
        self.is_open = bool(chunk)
        self._kept += chunk[: MOST_BYTES - len(self._kept)]

    def log(self, name: str) -> None:
        """Log what was printed during a call of an endpoint or a calculation."""
        self.take()
        printed, self._kept = self._kept, b""
        for line in printed.decode("utf-8", "replace").splitlines():
            log.warning("%s: %s", name, _escaped(line))


def _escaped(line: str) -> str:
    """Control characters would change what a terminal shows."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)
