"""The host of an agent, whose owner has configured `coinslot mcp`."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, StdioServerParameters, stdio_client

from coinslot.spending import SpendingLog
from tests.whole_service import ROOT, Service

RECEIPT = "x402/payment-response"

_MARKED = """
import os, sys, types
import coinslot.evm_signer, coinslot.main
mark = bytes.fromhex(sys.argv.pop(1))
coinslot.evm_signer.secrets = types.SimpleNamespace(token_bytes=lambda size: mark + os.urandom(size - len(mark)))
sys.exit(coinslot.main.main())
"""


class Agent:
    """The owner's configuration of a host: a sandbox's wallet with payments, journal and pins of its own folder.

    Attributes:
        mark: how the nonces of its payments begin.
    """

    def __init__(self, service: Service, folder: Path, *, per_day: str) -> None:
        self.folder = folder
        self.mark = secrets.token_hex(16)
        self.sandbox = shutil.copy(service.var / "sandbox.json", folder / "sandbox.json")
        self.evm = service.sandbox["evm"]
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'client'}",
            "COINSLOT_SANDBOX_FILE": str(self.sandbox),
            "COINSLOT_STATE_DIR": str(folder / "own"),
            "COINSLOT_CAP_PER_CALL": "0.01",
            "COINSLOT_CAP_PER_DAY": per_day,
            "COINSLOT_CAP_TOTAL": "100",
        }

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        """A client of a new server process."""
        server = StdioServerParameters(
            command=sys.executable, args=["-c", _MARKED, self.mark, "mcp"], env=self.environment, cwd=self.folder
        )
        async with Client(stdio_client(server)) as client:
            yield client

    def listening(self, port: int) -> subprocess.Popen[bytes]:
        """A new server process that speaks HTTP."""
        return subprocess.Popen(
            [sys.executable, "-c", _MARKED, self.mark, "mcp", "--http", str(port)],
            env=self.environment,
            cwd=self.folder,
        )

    def resume(self) -> None:
        """`coinslot resume`."""
        subprocess.run(
            [sys.executable, "-m", "coinslot.main", "resume", "--json"],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )

    def reserved(self) -> int:
        """Reservations of the journal that count."""
        lines = [json.loads(line) for line in (self.folder / "reservations.jsonl").read_text().splitlines()]
        ended = [line for line in lines if line["state"] in ("unsent", "refused")]
        return sum(line["state"] == "reserved" for line in lines) - len(ended)

    def answered(self) -> int:
        """Payments whose answer came."""
        return sum(spent.answered for spent in SpendingLog(self.folder / "spent.jsonl").read())

    def open_payments(self) -> int:
        """Payments that are kept for `coinslot resume`."""
        return len(list(self.folder.glob("payment-*.json")))
