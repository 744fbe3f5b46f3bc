"""What echo's callers notice of hostile calls: `python tests/bench/bench_hostile.py`, beside a running `scripts/run`.

Prints p50 and p99 of paid echoes, one after the other: alone, beside two callers of harmless echoes, and beside two callers of
each kind of hostile input, in turns. The other callers are processes of their own: what is measured is the service, not this
client. They pay as well, so on a small machine the harmless ones are what a hostile one is to be compared with.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from client.buyer import Buyer
from client.errors import CoinslotError
from client.wallet import Wallet
from tests.e2e.test_hostile_calls import HOSTILE

CALLS = 200
ROUNDS = 2
OTHERS = 2
INPUTS: list[tuple[str, dict[str, Any]]] = [("echo", {"message": "hello"}), *HOSTILE]
"""The harmless one, and the hostile ones."""


def new_buyer() -> Buyer:
    """Pays with the sandbox's wallet."""
    sandbox = json.loads(Path(os.environ.get("COINSLOT_VAR", "var"), "sandbox.json").read_text())
    key = bytes.fromhex(sandbox["evm"]["payerKey"].removeprefix("0x"))
    return Buyer(sandbox["baseUrl"], Wallet.evm(key), max_price=None)


def echoes() -> list[float]:
    """Milliseconds of each of CALLS paid echoes."""
    took = []
    with new_buyer() as buyer:
        for _ in range(CALLS):
            started = time.perf_counter()
            buyer.call("echo", {"message": "hello"})
            took.append((time.perf_counter() - started) * 1e3)
    return took


def beside(number: int) -> list[float]:
    """The same, while others make one call after the other."""
    command = [sys.executable, __file__, str(number)]
    callers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(OTHERS)]
    try:
        for caller in callers:
            assert caller.stdout is not None
            caller.stdout.readline()
        return echoes()
    finally:
        for caller in callers:
            caller.terminate()
            caller.communicate()


def send(number: int) -> None:
    """One call after the other, until the process is ended. A line says that the first was answered."""
    name, body = INPUTS[number]
    with new_buyer() as buyer:
        buyer.call(name, body)
        print("sending", flush=True)
        while True:
            try:
                buyer.call(name, body)
            except CoinslotError as error:
                print(f"{name}: {error}", file=sys.stderr)


def told(took: list[float]) -> tuple[float, float]:
    """p50 and p99."""
    return statistics.median(took), statistics.quantiles(took, n=100)[98]


def main() -> None:
    """Print the table."""
    alone: list[float] = []
    crowded: dict[int, list[float]] = {number: [] for number in range(len(INPUTS))}
    for _ in range(ROUNDS):
        alone += echoes()
        for number in crowded:
            crowded[number] += beside(number)
    p50, p99 = told(alone)
    print(f"echo alone: p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    _, harmless_p99 = told(crowded[0])
    for number, took in crowded.items():
        beside_p50, beside_p99 = told(took)
        name, body = INPUTS[number]
        print(
            f"{beside_p99 / p99:5.2f} x alone, {beside_p99 / harmless_p99:5.2f} x harmless"
            f" ({beside_p50:.1f} / {beside_p99:.1f} ms) beside {name} {json.dumps(body)[:60]}",
            flush=True,
        )


if __name__ == "__main__":
    send(int(sys.argv[1])) if len(sys.argv) > 1 else main()
