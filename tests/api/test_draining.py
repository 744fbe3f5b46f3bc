"""An API process that ends beside another one of its port fails no call."""

import http.client
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compose.sandbox.child import ROOT, claim_port, tethered
from tests.time_limits import patience
from tests.workers.until import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sockets are found in /proc")

APP = """
import sys
from contextlib import asynccontextmanager
from api.__main__ import serve
from api.draining import Draining
from api.rsgi import Rsgi

async def answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})

@asynccontextmanager
async def lifespan():
    yield

def application():
    return Rsgi(answer, lifespan, Draining("127.0.0.1", int(sys.argv[1])))

if __name__ == "__main__":
    serve("small:application", "127.0.0.1", int(sys.argv[1]), "text")
"""


@pytest.fixture
def port() -> int:
    """Of the processes of a test."""
    return claim_port(0)


@pytest.fixture
def processes(tmp_path: Path, port: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two that serve the port."""
    (tmp_path / "small.py").write_text(APP)
    command = [*tethered(), sys.executable, "small.py", str(port)]
    started = [subprocess.Popen(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}) for _ in range(2)]
    try:
        until(lambda: _listeners(port) == 2)
        yield started
    finally:
        for process in started:
            process.terminate()
            process.wait(patience(20))


def test_callers_do_not_notice(port: int, processes: list[subprocess.Popen[bytes]]) -> None:
    """Given connections to both, some of which have had a call, when one process ends, then each connection has its next call
    answered, those of the ending process are asked to be closed, and no new one comes to it. The last one refuses new ones."""
    connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=patience(10)) for _ in range(32)]
    for number, connection in enumerate(connections):
        connection.connect()
        if number % 2:
            assert _call(connection) is None

    processes[0].terminate()
    until(lambda: _listeners(port) == 1)
    asked = [_call(connection) for connection in connections]

    assert set(asked) == {None, "close"}
    connections.append(http.client.HTTPConnection("127.0.0.1", port, timeout=patience(10)))
    assert _call(connections[-1]) is None
    assert processes[0].wait(patience(20)) == 0
    processes[1].terminate()
    until(lambda: _listeners(port) == 0)
    assert processes[1].wait(patience(20)) == 0
    for connection in connections:
        connection.close()


def _call(connection: http.client.HTTPConnection) -> str | None:
    """Make a call; the answer's Connection header."""
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert answer.read() == b"ok"
    return answer.getheader("Connection")


def _listeners(port: int) -> int:
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)
