"""A server process that belongs to this process: started quietly, awaited, stopped, and never left behind."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Where `python -m compose.sandbox...` finds the packages."""

_TETHER = Path(__file__).with_name("tether.py")
_READY_WITHIN_S = 30.0
_STOP_WITHIN_S = 10.0
PORTS = range(10_000, 20_000)
"""None of those that Linux gives to outgoing connections (`ip_local_port_range`, from 32768 on): one of them could take a port
that was free a moment ago, before its server is there."""
_LOG_TAIL_CHARS = 2000


class StartFailed(Exception):
    """A sandbox server did not come up. The text says what it wrote last."""


@dataclass(frozen=True, slots=True)
class Child:
    """One running server.

    Attributes:
        name: what it is called in errors and what its log file is called.
        process: the server itself, not a shell around it: its pid is the server's pid.
        log: all that it wrote, of this start only.
    """

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """SIGTERM, wait, SIGKILL after 10 s, wait. Doing it twice, or after the process ended by itself, is harmless."""
        self.process.terminate()
        try:
            self.process.wait(_STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait_ready(self, ready: Callable[[], bool]) -> None:
        """Ask `ready` every 10 ms; an OSError of it means "not yet".

        Raises:
            StartFailed: the process ended, or was not ready within 30 s and has been stopped.
        """
        deadline = time.monotonic() + _READY_WITHIN_S
        while time.monotonic() < deadline:
            try:
                answered = ready()
            except OSError:
                answered = False
            # Only a living process counts: on a port that was already taken, a stranger answers.
            if self.process.poll() is not None:
                raise StartFailed(f"{self.name} ended with status {self.process.returncode}: {self._last_words()}")
            if answered:
                return
            time.sleep(0.01)
        self.stop()
        raise StartFailed(f"{self.name} was not ready within {_READY_WITHIN_S:.0f} s: {self._last_words()}")

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace")[-_LOG_TAIL_CHARS:].strip() or "it wrote nothing"


def spawn(name: str, command: Sequence[str], var: Path, *, inherit: Sequence[int] = ()) -> Child:
    """Start `command` in a session of its own, so that Ctrl-C in the terminal reaches this process only and the order of
    stopping stays ours. If this process dies without stopping it, the kernel does (Linux; see tether.py).

    Args:
        var: the project's state folder; the output goes to ``sandbox/log/<name>.log`` in it.
        inherit: file descriptors that the process keeps open for as long as it lives.
    """
    log = var.resolve() / "sandbox" / "log" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = _spawner().submit(
            subprocess.Popen,
            [*tethered(), *command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=inherit,
        )
        return Child(name, process.result(), log)


def tethered() -> list[str]:
    """What to put before a command so that it hears SIGTERM when this process dies (tether.py)."""
    return [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid())]


@cache
def _spawner() -> ThreadPoolExecutor:
    """The one thread that starts children. The kernel ties a child to the *thread* that started it, so a child started
    from a thread of the caller would die with that thread; this one lives until the interpreter ends."""
    return ThreadPoolExecutor(1, "sandbox-spawner")


def claim_port(port: int, addresses: Sequence[str] = ("127.0.0.1",)) -> int:
    """A port that is free on these addresses at this moment: `port` itself, or any when it is 0.

    Asked before a server is started, because a stranger on its port would answer in its place.

    Raises:
        StartFailed: somebody listens on `port`.
    """
    for candidate in [port] if port else random.SystemRandom().sample(PORTS, 100):
        try:
            for address in addresses:
                with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind((address, candidate))
        except OSError as error:
            failed = error
        else:
            return candidate
    raise StartFailed(f"port {candidate} of {address} can not be used: {failed.strerror}") from failed
