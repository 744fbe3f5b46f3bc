"""Programs that others wrote, which make clients of /openapi.json or judge it."""

import base64
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
from coincurve import PrivateKey

from shared.x402.wire import X402_VERSION, Offer
from tests import signing
from tests.clients.environments import LOCKS
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


def python_client(folder: Path, tools: Tools) -> Path:
    """Make the package `generated` of openapi.json in the folder; openapi-python-client must warn of nothing."""
    arguments = ["--path", "openapi.json", "--output-path", "generated", "--meta", "none", "--fail-on-warning"]
    program = tools.python.parent / "openapi-python-client"
    assert "WARNING" not in succeeded(tools.run(folder, program, "generate", *arguments))
    for name in ("loopback.py", "parsed_calls.py"):
        shutil.copy(LOCKS / name, folder)
    return folder


def typescript_client(folder: Path, tools: Tools) -> Path:
    """Make generated.d.ts of openapi.json in the folder; openapi-typescript must warn of nothing."""
    program = folder / "node_modules" / ".bin" / "openapi-typescript"
    said = succeeded(tools.run(folder, program, "openapi.json", "-o", "generated.d.ts"))
    assert "⚠" not in said
    assert "warn" not in said.lower()
    return folder


def furnished(folder: Path, tools: Tools, document: bytes) -> Path:
    """A folder with a document, as a developer has it, and the packages of npm."""
    (folder / "openapi.json").write_bytes(document)
    (folder / "node_modules").symlink_to(tools.packages / "node_modules")
    return folder


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    """What a program has printed."""
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def payments_of(shop: Shop, **extra: object) -> dict[str, str]:
    """A signed payment for each listed call that can be paid on Base.

    Args:
        extra: further members of each payment.
    """
    with httpx.Client(base_url=shop.base_url, trust_env=False) as http:
        signed = {path: _signed(shop, _offers(http, path), extra) for path in sorted(LISTED)}
    return {path: header for path, header in signed.items() if header}


def payment_of(shop: Shop, path: str) -> tuple[str, tuple[Offer, ...]]:
    """A signed payment on Base for one call, and all offers of it."""
    with httpx.Client(base_url=shop.base_url, trust_env=False) as http:
        offers = _offers(http, path)
    return _signed(shop, offers, {}), tuple(msgspec.convert(offers, list[Offer]))


def _offers(http: httpx.Client, path: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = http.post(path).json()["accepts"]
    return found


def _signed(shop: Shop, offers: list[dict[str, object]], extra: dict[str, object]) -> str:
    """The header that pays the offer on Base; empty where there is none."""
    key = PrivateKey(bytes.fromhex(shop.sandbox["evm"]["payerKey"].removeprefix("0x")))
    expires = str(int(time.time()) + 250)
    for accepted in offers:
        if accepted["network"] == BASE:
            payload = signing.payload(key, msgspec.convert(accepted, Offer), validBefore=expires)
            payment = {"x402Version": X402_VERSION, "accepted": accepted, "payload": payload, **extra}
            return base64.b64encode(msgspec.json.encode(payment)).decode()
    return ""
