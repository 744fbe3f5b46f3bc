"""Ports that live as long as their worker: a browser, a pool of connections. They are started with it, checked while it runs,
and closed after its last job.

While a port does not work, its worker fetches no jobs of the pools that need it and reports the reason to the API
(workers/queue/consumer.py). When all living workers of a pool report a reason, the API refuses its calls, uncharged.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from shared.observability.log_redaction import places
from shared.queue.streams import STARTING

log = logging.getLogger(__name__)

CHECK_S = 0.3
"""Seconds between two checks of a port."""
START_AGAIN_S = 1.0
"""Seconds between two attempts to start a port."""
CHECK_LIMIT_S = 10.0
"""A port whose check takes longer counts as one that does not work."""
CLOSE_LIMIT_S = 10.0
"""Seconds that the end of a worker waits for each port to close."""

CHECK_FAILED = "check_failed"
CHECK_OVERDUE = "check_overdue"

_REASON = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*", re.ASCII)


class LivePort(Protocol):
    """A port that lives as long as its worker. One thread, which nothing else uses, calls all three methods."""

    def start(self) -> None:
        """Start the port. After an exception it is called again."""
        ...

    def unavailable_reason(self) -> str:
        """Why the port does not work, in snake_case, such as `no_browser`; "" when it works. It may repair the port."""
        ...

    def close(self) -> None:
        """Release everything. It is also called when no start has succeeded."""
        ...


class PortMonitor:
    """The live ports of one worker process.

    Args:
        ports_of: the ports that a pool needs. Two pools may need the same port.
    """

    def __init__(self, ports_of: Callable[[str], Sequence[LivePort]]) -> None:
        self._ports_of = ports_of
        self._by_pool: dict[str, list[_MonitoredPort]] = {}
        self._monitored: dict[int, _MonitoredPort] = {}

    def start(self, pools: Iterable[str]) -> None:
        """Start the ports of these pools, without waiting for them."""
        for pool in pools:
            for port in self._ports_of(pool):
                if id(port) not in self._monitored:
                    self._monitored[id(port)] = _MonitoredPort(port)
                self._by_pool.setdefault(pool, []).append(self._monitored[id(port)])

    def unavailable_reason(self, queue_name: str) -> str:
        """Why no job of a queue can run here now; "" when jobs can. It does not wait for a port."""
        reasons = (monitored.unavailable_reason() for monitored in self._by_pool.get(queue_name, ()))
        return next(filter(None, reasons), "")

    def close(self) -> None:
        """Close every port."""
        for monitored in self._monitored.values():
            monitored.end()
        for monitored in self._monitored.values():
            monitored.join()
        self._monitored.clear()


class _MonitoredPort:
    """A port and the thread that calls it."""

    def __init__(self, port: LivePort) -> None:
        self._port = port
        self._name = type(port).__name__
        self._reason = STARTING
        self._checked_at = time.monotonic()
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"port-{self._name}", daemon=True)
        self._thread.start()

    def unavailable_reason(self) -> str:
        if not self._reason and time.monotonic() - self._checked_at > CHECK_LIMIT_S:
            return CHECK_OVERDUE
        return self._reason

    def end(self) -> None:
        self._has_ended.set()

    def join(self) -> None:
        self._thread.join(CLOSE_LIMIT_S)

    def _run(self) -> None:
        try:
            while not self._has_started():
                if self._has_ended.wait(START_AGAIN_S):
                    return
            while True:
                self._note(self._checked())
                if self._has_ended.wait(CHECK_S):
                    return
        finally:
            self._close()

    def _has_started(self) -> bool:
        try:
            self._port.start()
        except Exception as error:
            log.error("the port %s could not be started\n%s", self._name, places(error))
            return False
        return True

    def _checked(self) -> str:
        try:
            reason = self._port.unavailable_reason()
        except Exception as error:
            log.error("the check of the port %s failed\n%s", self._name, places(error))
            return CHECK_FAILED
        # The reason reaches callers and /readyz: free text could hold anything.
        return reason if not reason or _REASON.fullmatch(reason) else CHECK_FAILED

    def _note(self, reason: str) -> None:
        self._checked_at = time.monotonic()
        if reason != self._reason:
            log.warning("the port %s %s", self._name, f"does not work: {reason}" if reason else "works")
        self._reason = reason

    def _close(self) -> None:
        try:
            self._port.close()
        except Exception as error:
            log.error("the port %s could not be closed\n%s", self._name, places(error))
