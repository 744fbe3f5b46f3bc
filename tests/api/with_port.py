"""A worker of the whois pool with a live port, whose state is a file: it does not work while the file holds a reason."""

import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from jobs import echo
from jobs.echo import Response
from shared.pools import Pool
from workers import main
from workers.port_lifecycle import LivePort
from workers.ports import WorkerPorts
from workers.queue.broker import StreamBroker

FOLDER = "TEST_PORT_FOLDER"
SLEEP_S = 0.05


def run(request: Any, context: Any) -> Response:
    """Say which worker ran it. It fails when the port does not work."""
    time.sleep(SLEEP_S)
    assert (Path(os.environ[FOLDER]) / "reason").read_text() == ""
    return Response(ok=True, service="coinslot", you_sent=Path(os.environ[FOLDER]).name)


ENDPOINT = dataclasses.replace(echo.ENDPOINT, pool=Pool.WHOIS, deadline_s=20, run=run)


class FilePort:
    """Its folder holds `reason`, and `log`, where it notes its calls."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def start(self) -> None:
        """Note it."""
        self._note("start")

    def unavailable_reason(self) -> str:
        """What the file holds."""
        return (self._folder / "reason").read_text()

    def close(self) -> None:
        """Note it."""
        self._note("close")

    def _note(self, event: str) -> None:
        with (self._folder / "log").open("a") as log:
            log.write(event + "\n")


class PortsWithFile(WorkerPorts):
    """The real ports and this one."""

    def live_ports(self, pool: Pool) -> Sequence[LivePort]:
        """The whois pool needs it."""
        return (FilePort(Path(os.environ[FOLDER])),) if pool is Pool.WHOIS else ()


def create_broker() -> StreamBroker:
    """As workers.main, with this catalogue and port."""
    with patch.object(main, "WorkerPorts", PortsWithFile):
        return main.create_broker((ENDPOINT,))
