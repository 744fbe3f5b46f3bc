"""Server processes of the sandbox: started, awaited and stopped by this process, and ended by the kernel if it dies."""

import os
import random
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder in which `python -m compose.sandbox...` finds the packages."""

_PARENT_WATCH = Path(__file__).with_name("parent_watch.py")
_READY_WITHIN_S = 30.0
_STOP_WITHIN_S = 10.0
PORTS = range(10_000, 20_000)
"""Ports below those that Linux gives to outgoing connections (`ip_local_port_range`, from 32768 on). An outgoing connection
could take such a port before its server listens."""
_CLAIMED_FOR_S = 180.0
"""No server takes longer to listen, and nobody else is given its port until then."""
_claims: deque[tuple[float, int]] = deque()
"""When each port was given, and the descriptor of the socket that has its name."""
_LOG_TAIL_CHARS = 2000


class StartFailed(Exception):
    """A sandbox server could not be started. The text has the end of its output."""


@dataclass(frozen=True, slots=True)
class Child:
    """One running server.

    Attributes:
        name: in errors and of its log file.
        process: the server itself, without a shell: its pid is the server's pid.
        log: its output since this start.
    """

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """Send SIGTERM, wait, send SIGKILL after 10 s, wait. It may be called twice, or after the process has ended."""
        self.process.terminate()
        try:
            self.process.wait(_STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait_ready(self, ready: Callable[[], bool]) -> None:
        """Call `ready` every 10 ms until it is true. An OSError means "not yet".

        Raises:
            StartFailed: the process ended, or was not ready within 30 s and has been stopped.
        """
        deadline = time.monotonic() + _READY_WITHIN_S
        while time.monotonic() < deadline:
            try:
                answered = ready()
            except OSError:
                answered = False
            # If the process has ended, the answer came from another process that uses the port.
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
    """Start `command` in its own session: Ctrl-C reaches this process only, which then stops the children in order. If this
    process dies first, the kernel ends the child (Linux; see parent_watch.py).

    Args:
        var: the project's state folder; the output goes to ``sandbox/log/<name>.log`` in it.
        inherit: file descriptors that the process keeps open until it ends.
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
    """The start of a command line whose process gets SIGTERM when this process dies (parent_watch.py)."""
    return [sys.executable, "-I", "-S", str(_PARENT_WATCH), str(os.getpid())]


@cache
def _spawner() -> ThreadPoolExecutor:
    """The only thread that starts children. The kernel ends a child when the *thread* that started it ends, and this thread
    lives until the interpreter ends."""
    return ThreadPoolExecutor(1, "sandbox-spawner")


def claim_port(port: int, addresses: Sequence[str] = ("127.0.0.1",)) -> int:
    """A port that is free on these addresses now: `port` itself, or any port when it is 0.

    Call it before a server is started: another process on the port would answer in its place. Of two processes that ask for
    any port, each gets another one, also before its server listens.

    Raises:
        StartFailed: another process listens on `port`.
    """
    for candidate in [port] if port else random.SystemRandom().sample(PORTS, 100):
        try:
            if not port:
                _claim(candidate)
            for address in addresses:
                with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind((address, candidate))
        except OSError as error:
            failed = error
        else:
            return candidate
    raise StartFailed(f"port {candidate} of {', '.join(addresses)} can not be used: {failed.strerror}") from failed


def _claim(port: int) -> None:
    """Keep others from being given the port for a while. Raises OSError when one of them was given it."""
    while _claims and _claims[0][0] < time.monotonic() - _CLAIMED_FOR_S:
        os.close(_claims.popleft()[1])
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0coinslot-port-{port}")
    except OSError:
        name.close()
        raise
    _claims.append((time.monotonic(), name.detach()))  # a socket object would warn when the process ends


@dataclass(frozen=True, slots=True)
class LocalLedger:
    """A running ledger that is ready for payments. The keys do not appear in repr().

    Attributes:
        network: CAIP-2, that of the main network.
        payer_secret, payer: the buyer, who has 1,000 of each token. The secret has the form that the network's wallets export.
        pay_to: where payments go. The account can take each token.
        settler_key, settler: the facilitator's account, which pays the network's fees; empty where payers pay them.
    """

    child: Child
    rpc_url: str
    network: str
    payer_secret: str = field(repr=False)
    payer: str
    pay_to: str
    settler_key: str = field(default="", repr=False)
    settler: str = ""

    def stop(self) -> None:
        """End the node and wait for it. The ledger is gone: the next start is a fresh one."""
        self.child.stop()
