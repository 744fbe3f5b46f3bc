"""SIGHUP reaches the process that serves, also while that one starts, and ends nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compose.sandbox.child import ROOT, claim_port, tethered
from tests.time_limits import patience
from tests.workers.until import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="granian's workers are looked for in /proc")

APP = """
import sys, time
from contextlib import asynccontextmanager
from pathlib import Path
from api.__main__ import serve
from api.hang_up import HangUp
from api.rsgi import Rsgi

@asynccontextmanager
async def lifespan():
    yield

async def work():
    with open("done", "a") as done:
        done.write(".")

def application():
    Path("loading").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    return Rsgi(None, lifespan, None, HangUp(work))

if __name__ == "__main__":
    serve("small:application", "127.0.0.1", int(sys.argv[1]), "text")
"""


def test_the_serving_process_gets_it(tmp_path: Path) -> None:
    """Given a master whose worker still loads its application, when it gets SIGHUP, then the worker does its work as soon as it
    runs; and once more when it comes again."""
    (tmp_path / "small.py").write_text(APP)
    command = [*tethered(), sys.executable, "small.py", str(claim_port(0))]
    process = subprocess.Popen(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)})
    done = tmp_path / "done"
    try:
        until((tmp_path / "loading").exists)
        os.kill(process.pid, signal.SIGHUP)
        (tmp_path / "go").touch()
        until(done.exists)
        os.kill(process.pid, signal.SIGHUP)
        until(lambda: done.read_text() == "..")
        assert process.poll() is None
    finally:
        process.terminate()
        assert process.wait(patience(20)) == 0
