"""What echo's callers notice of hostile calls: `python tests/bench/bench_hostile.py`, beside a running `scripts/run`.

Prints p50 and p99 of paid echoes, one after the other, alone and beside two callers of each kind of hostile input, in turns.
"""

from __future__ import annotations

import json
import os
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from sys import path as module_path
from typing import Any

module_path.insert(0, str(Path(__file__).parents[2]))

from client.buyer import Buyer
from client.errors import CoinslotError
from client.wallet import Wallet
from tests.e2e.test_hostile_calls import HOSTILE

CALLS = 300
ROUNDS = 3
HOSTILE_CALLERS = 2


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


def beside(name: str, body: dict[str, Any], measure: Callable[[], list[float]]) -> list[float]:
    """The same, while others send one hostile call after the other."""
    stop = threading.Event()

    def send() -> None:
        with new_buyer() as buyer:
            while not stop.is_set():
                try:
                    buyer.call(name, body)
                except CoinslotError as error:
                    print(f"{name}: {error}")

    callers = [threading.Thread(target=send) for _ in range(HOSTILE_CALLERS)]
    for caller in callers:
        caller.start()
    try:
        return measure()
    finally:
        stop.set()
        for caller in callers:
            caller.join()


def told(took: list[float]) -> tuple[float, float]:
    """p50 and p99."""
    return statistics.median(took), statistics.quantiles(took, n=100)[98]


def main() -> None:
    """Print the table."""
    alone: list[float] = []
    crowded: dict[int, list[float]] = {number: [] for number in range(len(HOSTILE))}
    for _ in range(ROUNDS):
        alone += echoes()
        for number, (name, body) in enumerate(HOSTILE):
            crowded[number] += beside(name, body, echoes)
    p50, p99 = told(alone)
    print(f"echo alone: p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    for number, took in crowded.items():
        beside_p50, beside_p99 = told(took)
        name, body = HOSTILE[number]
        shown = json.dumps(body)[:60]
        print(f"{beside_p99 / p99:5.2f} x p99 ({beside_p50:.1f} / {beside_p99:.1f} ms) beside {name} {shown}")


if __name__ == "__main__":
    main()
