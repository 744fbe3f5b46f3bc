"""Processes that a person starts, without a keeper."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from compose.sandbox.child import ROOT, claim_port

PATIENCE_S = 30.0


def environment(**settings: str) -> dict[str, str]:
    """This one's, with other settings of ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    return kept | {"PYTHONPATH": str(ROOT)} | {f"COINSLOT_{name}": value for name, value in settings.items()}


def until(is_so: Callable[[], object]) -> None:
    """Wait for it."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)


def has_ended(process: Path) -> bool:
    """Whether it runs no more, also when nobody has asked for its status."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_killed_api_leaves_nobody_who_serves(tmp_path: Path) -> None:
    """Given an API with its worker process, when the master is killed, then the worker ends too: it would serve on, beside
    the API that is started next."""
    key = tmp_path / "key"
    key.write_text("1f" * 32)
    process = subprocess.Popen(
        [sys.executable, "-m", "api"],
        cwd=ROOT,
        env=environment(
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
