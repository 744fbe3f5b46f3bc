"""The process of `coinslot mcp`: it ends without a traceback, and keeps what its host has not read."""

import json
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coinslot.payment_folder import PaymentFolder
from tests.client.conftest import Canned, Seen, Shop, process
from tests.e2e.running import until_it_listens

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(shop: Shop, key_file: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts the process: with its own folder and caps, for a shop that sells echo."""
    content = {"paths": {"/v1/cdp/echo": {"post": {"responses": {}}}}}
    shop.documents["/openapi.json"] = Canned(200, json.dumps(content).encode())
    env = {
        "COINSLOT_STATE_DIR": str(tmp_path / "own"),
        "COINSLOT_WALLET_KEY_FILE": str(key_file),
        **{f"COINSLOT_CAP_{name}": "0.01" for name in ("PER_CALL", "PER_DAY", "TOTAL")},
    }
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)

    def started(*arguments: str) -> subprocess.Popen[bytes]:
        processes.append(process(tmp_path, "mcp", "--url", shop.base_url, *arguments, env=env, **pipes))
        return processes[-1]

    processes: list[subprocess.Popen[bytes]] = []
    yield started
    for one in processes:
        one.kill()
        with one:
            pass


def send(server: subprocess.Popen[bytes], method: str, **params: Any) -> None:
    """A request, or a notification."""
    assert server.stdin is not None
    number = {} if method.startswith("notifications/") else {"id": 1}
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **number}).encode() + b"\n")
    server.stdin.flush()


@pytest.mark.parametrize("dies", [True, False])
def test_a_host_that_dies_leaves_the_payment(shop: Shop, start: Start, tmp_path: Path, dies: bool) -> None:
    """A host that has read the answer, and then ends its server, leaves none."""
    server = start()
    assert server.stdin is not None
    assert server.stdout is not None
    host = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}

    def sell(seen: Seen) -> Canned:
        if dies:
            server.stdout.close()  # first: the end of the input ends the server, which then looks who reads its output
            server.stdin.close()
        return shop.sell(seen)

    shop.paid = [sell]
    send(server, "initialize", **host)
    assert server.stdout.readline()
    send(server, "notifications/initialized")
    send(server, "tools/call", name="echo", arguments={})
    if not dies:
        assert b"payment-response" in server.stdout.readline()
    said = server.communicate(timeout=30)[1] if not dies else server.stderr.read()
    assert (server.wait(), said) == (141 if dies else 0, b"")
    assert len(shop.payments) == 1
    assert len(PaymentFolder(tmp_path / "own").files()) == dies


def test_a_port_is_taken_and_given_back(start: Start) -> None:
    """One line where another process has it; SIGTERM ends quietly who has it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = start("--http", str(port))
        said = server.communicate(timeout=30)[1].decode()
    assert server.returncode == 2
    assert said == f"coinslot: cannot listen on 127.0.0.1:{port}: Address already in use. Nothing was spent.\n"
    server = start("--http", str(port))
    until_it_listens(server, port)
    server.send_signal(signal.SIGTERM)
    assert (server.communicate(timeout=30)[1], server.returncode) == (b"", 143)
