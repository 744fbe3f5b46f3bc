"""Processes that a person starts, without a keeper."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from compose.sandbox.child import ROOT, claim_port
from tests.e2e.running import environment, until


def _environment(**settings: str) -> dict[str, str]:
    named = {f"COINSLOT_{name}": value for name, value in settings.items()}
    return environment(PYTHONPATH=str(ROOT), **named)


def has_ended(process: Path) -> bool:
    """Whether it runs no more, also when nobody has asked for its status."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def said(module: str, **settings: str) -> str:
    """By a process that cannot start."""
    ended = subprocess.run(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env=_environment(**settings),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    return ended.stderr


def test_a_missing_key_file_is_told_in_a_sentence() -> None:
    """Not in a traceback."""
    told = said("api", PORT=str(claim_port(0)), KEY_FILE="/nowhere/key", PROT="1")
    assert "coinslot: cannot read the key file /nowhere/key: there is no such file\n" in told
    assert told.count("COINSLOT_PROT is no setting: did you mean COINSLOT_PORT?") == 1


class OtherNode(BaseHTTPRequestHandler):
    """A node of another XRP Ledger."""

    def do_POST(self) -> None:
        """Whatever is asked."""
        self.rfile.read(int(self.headers["Content-Length"]))
        content = json.dumps({"result": {"status": "success", "info": {"network_id": 1025}}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_a_node_of_another_network_is_told_in_a_sentence() -> None:
    """What it settled there would not be paid here."""
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherNode) as node:
        threading.Thread(target=node.serve_forever, daemon=True).start()
        told = said(
            "facilitator",
            FACILITATOR_PORT=str(claim_port(0)),
            XRPL_RPC_URL=f"http://127.0.0.1:{node.server_port}",
        )
        node.shutdown()
    assert "coinslot facilitator: xrpl:0: the node serves XRPL network 1025, not 0\n" in told


def test_a_killed_api_leaves_nobody_who_serves(tmp_path: Path) -> None:
    """Given an API with its worker process, when the master is killed, then the worker ends too: it would serve on, beside
    the API that is started next."""
    key = tmp_path / "key"
    key.write_text("1f" * 32)
    process = subprocess.Popen(
        [sys.executable, "-m", "api"],
        cwd=ROOT,
        env=_environment(
            PORT=str(claim_port(0)),
            KEY_FILE=str(key),
            EVM_PAY_TO="0x1111111111111111111111111111111111111111",
            EVM_FACILITATOR_URL="http://127.0.0.1:9",
        ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until(lambda: process.poll() is None and children.read_text())
    worker = Path("/proc", children.read_text().split()[0])
    process.kill()
    process.wait()
    until(lambda: has_ended(worker))
