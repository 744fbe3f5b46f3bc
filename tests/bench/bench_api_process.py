"""How fast the API process, with all rails on, answers after its start, and what it weighs when idle:
`python tests/bench/bench_api_process.py`.

Prints medians of five starts. Start: from exec to the first 402. Weight: resident set of the process that serves, and of its
supervisor, ten seconds of idling later.
"""

from __future__ import annotations

import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROUNDS = 5
ALL_RAILS = {
    "COINSLOT_EVM_PAY_TO": "0x" + "11" * 20,
    "COINSLOT_SOLANA_PAY_TO": "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse",
    "COINSLOT_STELLAR_PAY_TO": "GDWUSKGGFDI4FRXK5EBTRECZSVQSSWJHHJOGH6JWG3AUMFFMQ435DIAG",
    "COINSLOT_XRPL_PAY_TO": "rpsqFvjMbCmMyT4Gfz7pfmzcExUDnjuktd",
}


def resident_mb(pid: int) -> float:
    """Resident set size of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def children(pid: int) -> list[int]:
    """Direct children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def measure(port: int, key_file: str, idle_s: float) -> tuple[float, float, float]:
    """(seconds to the first 402, MB of the serving process, MB of its supervisor)."""
    environment = {**os.environ, **ALL_RAILS, "COINSLOT_PORT": str(port), "COINSLOT_KEY_FILE": key_file}
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "api"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/cdp/echo", data=b"", timeout=1)
            except urllib.error.HTTPError:
                break  # the 402
            except OSError:
                time.sleep(0.005)
        took_s = time.monotonic() - started
        time.sleep(idle_s)
        return took_s, sum(resident_mb(pid) for pid in children(process.pid)), resident_mb(process.pid)
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Print the table."""
    with tempfile.NamedTemporaryFile("w") as key:
        key.write(secrets.token_hex(32))
        key.flush()
        rounds = []
        for number in range(ROUNDS):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            rounds.append(measure(port, key.name, 10.0 if number == 0 else 0.5))
    for name, values in zip(
        ("start, s", "serving process, MB", "supervisor, MB"), zip(*rounds, strict=True), strict=True
    ):
        print(f"{name:22} median {statistics.median(values):7.2f}   min {min(values):7.2f}   max {max(values):7.2f}")


if __name__ == "__main__":
    main()
