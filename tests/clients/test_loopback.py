"""What keeps the clients on this machine, shown on a program that tries to leave it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

PYTHON = """
import json, loopback, socket
for host in ("127.0.0.1", "192.0.2.1", "shop.invalid"):
    try:
        socket.create_connection((host, 1), timeout=1)
    except OSError:
        pass
print(json.dumps(loopback.elsewhere))
"""
NODE = """
for (const host of ["127.0.0.1", "192.0.2.1", "shop.invalid"]) {
  try { await fetch(`https://${host}:4433/`); } catch {}
}
console.log(JSON.stringify(globalThis.elsewhere));
"""


def test_python_stays_here() -> None:
    """No name is looked up, and nothing is sent."""
    done = subprocess.run([sys.executable, "-c", PYTHON], cwd=HERE, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["192.0.2.1:1", "shop.invalid:1"]


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript client: node not installed")
def test_node_stays_here() -> None:
    """The same, with TLS on top."""
    command = ["node", "--import", (HERE / "loopback.mjs").as_uri(), "--input-type=module", "-"]
    done = subprocess.run(command, input=NODE, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["192.0.2.1:4433", "shop.invalid:4433"]
