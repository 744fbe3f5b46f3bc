"""No server of the sandbox is ever left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from compose.sandbox import child
from compose.sandbox.child import ROOT, Child, StartFailed, claim_port, spawn
from tests.compose.conftest import alive
from tests.workers.until import until

PARENT = """
import sys, time
from pathlib import Path
from compose.sandbox.evm import start_chain
from compose.sandbox.redis_server import start_redis

if __name__ == "__main__":
    var = Path(sys.argv[1])
    servers = [start_redis("ledger", var), start_redis("queue", var), start_chain(var)]
    print(*(server.process.pid for server in servers), flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child's life to its parent's")
def test_children_die_with_a_killed_parent(make_var: Any) -> None:
    """Given running servers, when their parent is killed with SIGKILL, then they end by themselves."""
    command = [sys.executable, "-c", PARENT, str(make_var())]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 3
        assert all(map(alive, pids))

        parent.kill()

        until(lambda: not any(map(alive, pids)))


def test_a_child_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    """Its life hangs on the process, though the kernel would tie it to the thread."""
    started: list[Child] = []
    thread = threading.Thread(target=lambda: started.append(spawn("sleeper", ["sleep", "60"], tmp_path)))
    thread.start()
    thread.join()
    time.sleep(0.3)

    assert started[0].process.poll() is None
    started[0].stop()
    assert started[0].process.returncode == -signal.SIGTERM


def test_a_child_has_its_own_session(running: Any) -> None:
    """Ctrl-C in the terminal goes to the foreground group, which no server belongs to: we stop them in order."""
    chain, _ = running

    assert os.getsid(chain.process.pid) == chain.process.pid


def test_a_deaf_child_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """stop() does not wait for ever for a process that ignores SIGTERM."""
    monkeypatch.setattr("compose.sandbox.child._STOP_WITHIN_S", 0.2)
    child = spawn("deaf", ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"], tmp_path)
    child.wait_ready(lambda: "ready" in child.log.read_text())

    child.stop()

    assert child.process.returncode == -signal.SIGKILL


def test_a_child_that_ends_early_says_why(tmp_path: Path) -> None:
    """The error holds the status and the last words; a command that does not exist is such a case."""
    child = spawn("broken", ["sh", "-c", "echo out of luck >&2; exit 3"], tmp_path)
    with pytest.raises(StartFailed, match="broken ended with status 3: out of luck"):
        child.wait_ready(lambda: False)

    missing = spawn("missing", ["/no/such/program"], tmp_path)
    with pytest.raises(StartFailed, match="No such file"):
        missing.wait_ready(lambda: False)


def test_a_child_that_is_never_ready_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting has an end, and nothing is left of the try."""
    monkeypatch.setattr("compose.sandbox.child._READY_WITHIN_S", 0.1)
    child = spawn("slow", ["sleep", "60"], tmp_path)

    with pytest.raises(StartFailed, match="not ready"):
        child.wait_ready(lambda: False)

    assert child.process.returncode is not None


def test_no_port_is_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any server listens, to this process or another one."""
    monkeypatch.setattr(child, "PORTS", range(19_900, 20_000))
    monkeypatch.setattr(child, "_claims", deque())
    given = []

    def give_all() -> None:
        while True:
            given.append(claim_port(0))

    try:
        with pytest.raises(StartFailed):
            give_all()
        assert len(set(given)) == len(given) > 50
        other = "from compose.sandbox import child; child.PORTS = range(19_900, 20_000); child.claim_port(0)"
        ended = subprocess.run([sys.executable, "-c", other], cwd=ROOT, capture_output=True, text=True, check=False)
        assert ended.stderr.splitlines()[-1].startswith("compose.sandbox.child.StartFailed")
    finally:
        for _, descriptor in child._claims:
            os.close(descriptor)
