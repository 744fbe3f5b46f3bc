"""`python -m facilitator` as it is deployed: asked over HTTP, ended by SIGTERM or killed at any moment."""

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from compose.sandbox.child import ROOT, claim_port
from shared.settings.service import Settings
from tests.time_limits import patience


@dataclass(frozen=True)
class Served:
    """One process, and the worker that it forked."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def workers(self) -> str:
        """The process ids of its workers."""
        pid = self.process.pid
        return Path(f"/proc/{pid}/task/{pid}/children").read_text()

    def ask(self, method: str, path: str, body: bytes | Iterator[bytes] | None = None) -> tuple[int, bytes]:
        """One request over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience(20))
        try:
            # A large body is answered, and the connection closed, before its end.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, path, body, {"content-type": "application/json"})
            if connection.sock is None:  # it was killed before there was a connection
                raise ConnectionResetError
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def settle(self, call: Any) -> Any:
        """The answer of /settle; None when the process dies over it."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, answer = self.ask("POST", "/settle", msgspec.json.encode(call))
            assert status == 200
            return msgspec.json.decode(answer)

    def kill(self) -> None:
        """At once: nothing is finished and nothing is said."""
        for pid in [*map(int, self.workers.split()), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """By SIGTERM, as a supervisor does it; it must end well."""
        self.process.send_signal(signal.SIGTERM)
        try:
            assert self.process.wait(patience(20)) == 0
        finally:
            self.process.kill()
            self.process.wait()


def serve(settings: Settings) -> Served:
    """Start it and wait until it answers."""
    port = claim_port(0)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")} | {
        "COINSLOT_FACILITATOR_PORT": str(port),
        "COINSLOT_EVM_RPC_URL": settings.evm.rpc_url,
        "COINSLOT_EVM_SETTLER_KEY_FILE": str(settings.evm.settler_key_file),
        "COINSLOT_EVM_SPACING_MS": str(settings.evm.spacing_ms),
        "COINSLOT_EVM_MAX_FEE_GWEI": str(settings.evm.max_fee_gwei),
        "COINSLOT_EVM_ETHER_PRICE": str(settings.evm.ether_price),
        "COINSLOT_EVM_PAY_TO": settings.evm.pay_to,
        "COINSLOT_EVM_CHANNELS": settings.evm.channels,
    }
    command = [sys.executable, "-m", "facilitator"]
    served = Served(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL), port)
    deadline = time.monotonic() + patience(20)
    while time.monotonic() < deadline:
        try:
            served.ask("GET", "/healthz")
            return served
        except OSError:
            time.sleep(0.05)
    served.process.kill()
    raise TimeoutError("the facilitator does not answer")
