"""An embedded Redis server that is started again when it dies: a queue or a ledger that stays away would stop every call."""

import logging
import threading
import time
from pathlib import Path

from compose.sandbox.child import StartFailed
from compose.sandbox.redis_server import RedisServer, Role, start_redis

log = logging.getLogger(__name__)

STEADY_S = 10.0
"""A server that ran for this long is started again at once."""
SHORTEST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 10.0


class KeptRedis:
    """A server, and the thread that starts it again, at the same port and with the same files.

    Args:
        port: 0 picks a free one.

    A ledger whose files cannot be read does not start. Then nothing is sold, and each try says why, until a person has looked
    into it or the disk has room again.

    Raises:
        StartFailed: as start_redis.
    """

    def __init__(self, role: Role, var: Path, port: int = 0) -> None:
        self._role = role
        self._var = var
        self._server = start_redis(role, var, port)
        self.url = self._server.url
        self._changing = threading.Lock()
        self._is_stopping = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name=f"keeper-{role}", daemon=True)
        self._keeper.start()

    @property
    def server(self) -> RedisServer:
        """The one that runs, or ran last. A new one answers already."""
        return self._server

    def stop(self) -> None:
        """Stop it for good."""
        self._is_stopping.set()
        with self._changing:
            self._server.stop()
        self._keeper.join()

    def _keep(self) -> None:
        pause_s = 0.0
        while True:
            started_at = time.monotonic()
            status = self._server.process.wait()
            if self._is_stopping.is_set():
                return
            # A server whose disk is full starts, and ends at the first write.
            pause_s = 0.0 if time.monotonic() - started_at >= STEADY_S else _longer(pause_s)
            log.error("the embedded %s ended with status %d and is started again", self._role, status)
            while self._is_stopping.wait(pause_s) or not self._started_again():
                if self._is_stopping.is_set():
                    return
                pause_s = _longer(pause_s)

    def _started_again(self) -> bool:
        with self._changing:
            if self._is_stopping.is_set():
                return True
            try:
                self._server = start_redis(self._role, self._var, int(self.url.rpartition(":")[2].partition("/")[0]))
            except (StartFailed, OSError) as error:  # a full disk may refuse its log file, too
                log.error("the embedded %s cannot be started: %s", self._role, error)
                return False
        return True


def _longer(pause_s: float) -> float:
    return max(SHORTEST_PAUSE_S, min(2 * pause_s, LONGEST_PAUSE_S))
