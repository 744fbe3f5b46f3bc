"""Official clients that send a call again when its answer was lost on the way, with the hook that names their calls."""

import itertools
import json
import os
import shutil
import socket
import socketserver
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shared.x402.networks import EVM_USDC
from tests.clients import environments
from tests.clients.ledgers import LEDGERS
from tests.clients.programs import run
from tests.clients.shop import Shop
from tests.contract.endpoints import ENDPOINTS

pytestmark = pytest.mark.timeout(600)

HERE = Path(__file__).parent
HOOK = HERE.parents[1] / "client" / "javascript" / "named-calls.mjs"
ECHO = next(row for row in ENDPOINTS if row.name == "echo")
USDC = EVM_USDC["eip155:8453"].address
CALLS = int(os.environ.get("LOST_ANSWERS", "4"))
"""Of each client. Half of them are meant to be one another's equals: the same body, and each is paid."""
LOST = (0, 2, 1)
"""How many answers in turn do not get to the client."""


class Cutting(socketserver.ThreadingTCPServer):
    """Passes requests to the shop, one on each connection, and closes the connection of some paid ones when the shop has
    answered."""

    daemon_threads = True

    def __init__(self, to: tuple[str, int]) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.to = to
        self.lost = 0
        self._left = 0
        self._turns = itertools.cycle(LOST)
        self._lock = threading.Lock()

    def loses_next(self) -> bool:
        """Whether the answer to the next paid request is lost."""
        with self._lock:
            if self._left == 0:
                self._left = next(self._turns) + 1
            self._left -= 1
            self.lost += self._left > 0
            return self._left > 0


class _Passing(socketserver.BaseRequestHandler):
    server: Cutting
    request: socket.socket

    def handle(self) -> None:
        head, body = _message(self.request)
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"connection:", b"host:"))]
        host = f"host: {self.server.to[0]}:{self.server.to[1]}".encode()
        with socket.create_connection(self.server.to, timeout=60) as shop:
            shop.sendall(b"\r\n".join([lines[0], host, b"connection: close", *lines[1:]]) + b"\r\n\r\n" + body)
            answer = b""
            while part := shop.recv(65536):
                answer += part
        is_paid = b"payment-signature:" in head.lower()
        if not (is_paid and self.server.loses_next()):
            self.request.sendall(answer)


def _message(connection: socket.socket) -> tuple[bytes, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        if not part:
            return b"", b""
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    lengths = [line.partition(b":")[2] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while len(body) < (int(lengths[0]) if lengths else 0):
        body += connection.recv(65536)
    return head, body


@pytest.fixture
def cutting(shop: Shop) -> Iterator[Cutting]:
    """The proxy."""
    url = urlsplit(shop.base_url)
    assert url.port
    with Cutting(("127.0.0.1", url.port)) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize("script", ["lost_fetch.mjs", "lost_axios.mjs", "lost_httpx.py", "lost_requests.py"])
def test_what_is_on_the_chain_is_one_transfer_a_call(shop: Shop, cutting: Cutting, tmp_path: Path, script: str) -> None:
    """However many answers were lost. Two calls that are meant to be two are paid twice, although they are equal."""
    messages = [uuid.uuid4().hex for _ in range(CALLS // 2)] * 2
    sandbox, ledger = shop.sandbox["evm"], LEDGERS["evm"]
    command: list[str | Path] = [sys.executable, "-"]
    folder = tmp_path
    if script.endswith(".mjs"):
        try:
            folder = environments.node()
        except environments.Unavailable as error:
            pytest.skip(str(error))
        command = [shutil.which("node") or "", "--input-type=module", "-"]
    before = ledger.held(sandbox, USDC)
    done = run(
        command,
        folder,
        (HERE / script).read_text(),
        timeout_s=600,
        URL=f"http://127.0.0.1:{cutting.server_address[1]}{ECHO.path}",
        KEY=sandbox["payerKey"],
        NETWORK="eip155:8453",
        MESSAGES=json.dumps(messages),
        HOOK=HOOK.as_uri(),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == messages
    assert cutting.lost >= CALLS // 2
    assert ledger.held(sandbox, USDC) - before == CALLS * 1000
