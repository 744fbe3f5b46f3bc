"""Callers as seen from the harness: the process of tests/bench/caller.py, and HTTP calls that are left waiting."""

import contextlib
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from compose.sandbox.child import ROOT, tethered
from tests.bench.processes import Broken, Running, command

_ANSWER_WITHIN_S = 60.0


class CallerProcess:
    """One caller process of a queue. It takes one order to measure at a time."""

    def __init__(self, running: Running, log: int) -> None:
        self._label = running.system.label
        self._process = subprocess.Popen(
            [*tethered(), *command(running.system, "call", running.environment)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )

    def measure(self, what: str, **arguments: object) -> dict[str, float]:
        """Run one of caller.MEASURES. Raises Broken when it fails, or does not end within a minute."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = threading.Timer(_ANSWER_WITHIN_S, self._process.kill)
        timer.start()
        try:
            self._process.stdin.write(json.dumps({"measure": what, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            raise Broken(f"{self._label}: its caller ended while measuring {what!r}")
        seen: dict[str, float] = json.loads(line)
        return seen

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


@contextlib.contextmanager
def hop_caller(running: Running) -> Iterator[CallerProcess]:
    """A caller for as long as the context lasts. Its errors are in a log beside the worker's."""
    with running.children["worker"].log.with_suffix(".caller.log").open("wb") as log:
        caller = CallerProcess(running, log.fileno())
        try:
            yield caller
        finally:
            caller.stop()


@dataclass(frozen=True, slots=True)
class Answered:
    """A call that waited.

    Attributes:
        status: of its HTTP response; 0 when the connection was closed instead.
        at: on the monotonic clock.
    """

    status: int
    at: float


class Waiting:
    """Calls that were sent and are not awaited yet, each on another connection."""

    def __init__(self, url: str, body: str, count: int) -> None:
        parts = urlsplit(url)
        head = f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
        request = f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
        self._sockets = []
        for _ in range(count):
            connection = socket.create_connection((parts.hostname, parts.port), timeout=30)
            self._sockets.append(connection)
            connection.sendall(request)

    def answers(self) -> list[Answered]:
        """Wait for all of them."""
        answered: list[Answered] = []

        def read(connection: socket.socket) -> None:
            try:
                line = connection.recv(4096).split(b"\r\n")[0].split()
            except OSError:
                line = []
            answered.append(Answered(int(line[1]) if len(line) > 1 else 0, time.monotonic()))

        threads = [threading.Thread(target=read, args=(connection,)) for connection in self._sockets]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answered

    def close(self) -> None:
        """Hang up."""
        for connection in self._sockets:
            connection.close()
