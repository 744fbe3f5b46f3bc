"""Programs that others wrote, which make clients of /openapi.json or judge it."""

import base64
import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
from coincurve import PrivateKey

from shared.x402.wire import X402_VERSION, Offer
from tests import signing
from tests.clients.programs import run
from tests.clients.shop import Shop
from tests.contract.endpoints import ENDPOINTS

BASE = "eip155:8453"
LISTED = {f"/v1/cdp/{row.name}" for row in ENDPOINTS if row.listed}

_TSC = ["--skipDefaultLibCheck", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext"]


class Tools(NamedTuple):
    """Where the programs are."""

    python: Path
    packages: Path
    node: str

    def run(self, folder: Path, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program in a folder, with an environment of these variables."""
        path = f"{self.python.parent}:{os.environ['PATH']}"
        return run(command, folder, timeout_s=200, PATH=path, **variables)

    def check_types(self, folder: Path, program: str) -> None:
        """Fail with what tsc finds in a program; otherwise write its JavaScript beside it."""
        succeeded(self.run(folder, folder / "node_modules" / ".bin" / "tsc", *_TSC, program))


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    """What a program has printed."""
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def payments_of(shop: Shop, **extra: object) -> dict[str, str]:
    """A signed payment for each call that can be paid on Base.

    Args:
        extra: further members of each payment.
    """
    key = PrivateKey(bytes.fromhex(shop.sandbox["evm"]["payerKey"].removeprefix("0x")))
    expires = str(int(time.time()) + 250)
    signed = {}
    with httpx.Client(base_url=shop.base_url, trust_env=False) as http:
        for path in sorted(LISTED):
            challenge = http.post(path).json()
            for accepted in challenge["accepts"]:
                if accepted["network"] == BASE:
                    payload = signing.payload(key, msgspec.convert(accepted, Offer), validBefore=expires)
                    payment = {"x402Version": X402_VERSION, "accepted": accepted, "payload": payload, **extra}
                    signed[path] = base64.b64encode(msgspec.json.encode(payment)).decode()
    return signed
