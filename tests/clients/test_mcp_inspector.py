"""`mcp-inspector --cli` of npm, the protocol's own client, lists and calls the tools of `coinslot mcp` on both transports."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compose.sandbox.child import ROOT, claim_port, tethered
from tests.clients import environments
from tests.time_limits import patience
from tests.whole_service import Service

pytestmark = pytest.mark.timeout(300)  # the first run fetches the client

HERE = Path(__file__).parent
SERVER = (sys.executable, "-m", "coinslot.main", "mcp")


@pytest.fixture(scope="module")
def inspector() -> list[str]:
    """The command, which can reach nothing but this machine."""
    try:
        folder = environments.node(manifest=HERE / "inspector", name="clients-inspector")
    except environments.Unavailable as error:
        pytest.skip(str(error))
    program = (
        folder / "node_modules" / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    )
    return [shutil.which("node") or "", "--import", (HERE / "loopback.mjs").as_uri(), str(program), "--cli"]


@pytest.fixture
def owner(service: Service, tmp_path: Path) -> dict[str, str]:
    """The environment of `coinslot mcp`: the sandbox's wallet, and caps."""
    return {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'client'}",
        "COINSLOT_SANDBOX_FILE": shutil.copy(service.var / "sandbox.json", tmp_path / "sandbox.json"),
        "COINSLOT_CAP_PER_CALL": "0.01",
        "COINSLOT_CAP_PER_DAY": "0.001",
        "COINSLOT_CAP_TOTAL": "1",
    }


@contextlib.contextmanager
def served(transport: str, owner: dict[str, str], folder: Path) -> Iterator[list[str]]:
    """What names the server to the inspector, which starts it itself over stdio."""
    if transport == "stdio":
        yield [*(part for name, value in owner.items() for part in ("-e", f"{name}={value}")), *SERVER]
        return
    port = claim_port(0)
    environment = {"PATH": os.environ["PATH"], **owner}
    with subprocess.Popen([*tethered(), *SERVER, "--http", str(port)], env=environment, cwd=folder) as server:
        try:
            _await_port(port)
            yield [f"http://127.0.0.1:{port}/mcp", "--transport", "http"]
        finally:
            server.terminate()


def _await_port(port: int) -> None:
    give_up_at = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < give_up_at
            time.sleep(0.05)
        else:
            return


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_and_calls(
    inspector: list[str], owner: dict[str, str], tmp_path: Path, transport: str
) -> None:
    """Its strict look at the schemas finds no error, and a paid call brings the answer and its receipt."""

    def run(*arguments: str) -> Any:
        done = subprocess.run(
            [*inspector, *target, "--connect-timeout", str(round(patience(15_000))), *arguments],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=patience(60),
            check=False,
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout), done.returncode

    with served(transport, owner, tmp_path) as target:
        listed, code = run("--method", "tools/list", "--strict")
        assert code == 0
        assert {"echo", "chain_chain-id", "spend_status"} < {tool["name"] for tool in listed["tools"]}
        bought, _ = run("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hello")
    assert bought["structuredContent"]["youSent"] == "hello"
    assert bought["_meta"]["x402/payment-response"]["success"] is True


def test_the_inspector_reads_the_tools_of_the_service(inspector: list[str], service: Service, tmp_path: Path) -> None:
    """All of them, as strictly; and the challenge of one."""

    def run(*arguments: str) -> Any:
        done = subprocess.run(
            [*inspector, f"{service.base_url}/mcp?tools=all", "--transport", "http", *arguments],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=patience(60),
            check=False,
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    listed = run("--method", "tools/list", "--strict")
    assert {"echo", "chain_chain-id"} < {tool["name"] for tool in listed["tools"]}
    asked = run("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hello")
    assert (asked["isError"], asked["structuredContent"]["error"]) == (True, "payment_required")
