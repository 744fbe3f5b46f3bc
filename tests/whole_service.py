"""The whole service, started the way a user starts it, on a folder and ports of its own: one for all tests of a process."""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from compose.sandbox.child import claim_port, tethered
from compose.sandbox.ledgers import private_file
from ops import control
from shared.ledger.keys import in_every_bucket
from shared.settings.sandbox_path import CONTROL
from tests.time_limits import patience

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Service:
    """A running service.

    Attributes:
        base_url: of the API.
        sandbox: the content of var/sandbox.json.
        environment: the lines of var/sandbox.env.
        var: its folder.
        pid: of the supervisor.
        told: what it has printed.
    """

    base_url: str
    sandbox: dict[str, Any]
    environment: list[str]
    var: Path
    pid: int
    told: list[str]

    def forget(self) -> None:
        """Remove what calls compare with: the next look at a page or an address is the first one again."""
        settings = dict(line.split("=", 1) for line in self.environment)
        with redis.Redis.from_url(settings["COINSLOT_LEDGER_URL"]) as ledger:
            if seen := list(ledger.scan_iter(in_every_bucket("observation*"), count=1000)):
                ledger.delete(*seen)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """`python -m compose.serve` until the tests are done; then Ctrl-C, which must end it well."""
    var = tmp_path_factory.mktemp("var")
    port = claim_port(0)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    # One wallet pays for all tests.
    environment |= {"COINSLOT_PORT": str(port), "COINSLOT_VAR": str(var), "COINSLOT_RATE_LIMITS": "off"}
    environment["COINSLOT_METRICS_PORT"] = str(claim_port(0))
    # Nothing is in it, until a test changes prices.
    environment["COINSLOT_PRICES_FILE"] = str(var / "prices.toml")
    (var / "prices.toml").touch()
    environment["COINSLOT_RECEIPT_KEY_FILE"] = str(private_file(var / "receipt.key", secrets.token_hex(32)))
    process = subprocess.Popen(
        [*tethered(), sys.executable, "-m", "compose.serve"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    watchdog = threading.Timer(patience(120), process.kill)
    watchdog.start()
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("stop"):
            break
    watchdog.cancel()
    log = var / "service.log"
    assert process.poll() is None, "".join(lines) + (log.read_text() if log.exists() else "")
    yield Service(
        base_url=f"http://127.0.0.1:{port}",
        sandbox=json.loads((var / "sandbox.json").read_text()),
        environment=(var / "sandbox.env").read_text().splitlines(),
        var=var,
        pid=process.pid,
        told=lines,
    )
    process.send_signal(signal.SIGINT)
    process.stdout.close()
    assert process.wait(patience(60)) == 0, log.read_text()


@pytest.fixture
def sell(service: Service) -> Iterator[Callable[[str], int]]:
    """Writes the service's price list and does `coinslot-ops reload`, whose exit code it returns. In the end all prices are as
    they were."""

    def sell(text: str) -> int:
        (service.var / "prices.toml").write_text(text)
        return control.report(service.var / CONTROL, ["reload"])

    yield sell
    assert sell("") == 0
