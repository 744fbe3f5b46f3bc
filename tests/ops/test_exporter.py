"""The exporter as a process: a port that is another's, and sources that do not answer."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
from collections.abc import Iterator
from pathlib import Path

import pytest

from compose.sandbox.child import ROOT, claim_port
from tests.ops.series import samples, scrape

HASTY = "from ops import exporter; assert exporter.TRY_AGAIN_S > 0.5; exporter.TRY_AGAIN_S = 0.5; exporter.main()"
"""The exporter, which tries its port again sooner."""


@pytest.fixture
def port() -> int:
    return claim_port(0)


@pytest.fixture
def exporter(port: int, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """One beside which nothing runs, and whose port is another process's at first."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    environment |= {"COINSLOT_METRICS_PORT": str(port), "COINSLOT_METRICS_DIR": str(tmp_path / "metrics")}
    nobody = str(claim_port(0))
    environment |= {"COINSLOT_PORT": nobody, "COINSLOT_EVM_PAY_TO": "0x" + "1a" * 20}
    environment |= {f"COINSLOT_{role}_URL": f"redis://127.0.0.1:{nobody}/0" for role in ("LEDGER", "QUEUE")}
    environment |= {f"COINSLOT_EVM_{name}_URL": f"http://127.0.0.1:{nobody}" for name in ("RPC", "FACILITATOR")}
    with socket.create_server(("127.0.0.1", port)):
        process = subprocess.Popen(
            [sys.executable, "-c", HASTY], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        line = process.stderr.readline()
    assert f"port {port} of 127.0.0.1 cannot be used (Address already in use)" in line
    assert "set COINSLOT_METRICS_PORT to another one" in line
    yield process
    process.kill()
    process.communicate()


def answer(port: int) -> str:
    give_up_at = time.monotonic() + 60
    while True:
        try:
            return scrape(f"http://127.0.0.1:{port}/metrics")
        except urllib.error.URLError:
            assert time.monotonic() < give_up_at
            time.sleep(0.1)


def test_a_port_that_becomes_free_is_taken_and_silent_sources_are_shown(
    exporter: subprocess.Popen[str], port: int
) -> None:
    """Given a port that was taken and nothing to read but the folder, when the port is free, then the exporter answers, says
    which sources are silent, has no series of them, and ends well."""
    found = {(sample.name, *sample.labels.values()): sample.value for sample in samples(answer(port))}
    assert found == {
        ("coinslot_source_up", "queue"): 0,
        ("coinslot_source_up", "ledger"): 0,
        ("coinslot_source_up", "api"): 0,
        ("coinslot_source_up", "facilitator"): 0,
        ("coinslot_source_up", "processes"): 1,
    }
    exporter.send_signal(signal.SIGTERM)
    assert exporter.wait(20) == 0
