"""What COINSLOT_LEDGER_REPLICAS costs a claim: `python -m tests.bench.bench_fence`. Both servers are on this machine and sync
every write, so the network between two hosts comes on top."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from api.payment.ledger import Ledger
from api.redis_client import Redis
from api.replicated import ReplicatedRedis
from tests.api.payment.replicas import replicated_ledger
from tests.api.payment.test_ledger import a_claim

SECONDS = 4.0
ROUNDS = 3
IN_FLIGHT = (1, 16, 64)


async def measure(ledger: Ledger, in_flight: int) -> tuple[float, float, float]:
    """Claims a second, and of their times the median and the 99th percentile in ms."""
    times: list[float] = []
    until = time.perf_counter() + SECONDS

    async def claim() -> None:
        while (began := time.perf_counter()) < until:
            await ledger.claim(a_claim())
            times.append(1_000 * (time.perf_counter() - began))

    await asyncio.gather(*(claim() for _ in range(in_flight)))
    return len(times) / SECONDS, statistics.median(times), statistics.quantiles(times, n=100)[98]


async def compare(url: str) -> None:
    """Turn by turn, so that the machine's other work meets both. Medians of the rounds."""
    plain, replicated = Redis(url), ReplicatedRedis(url, 1)
    ledgers = {"0": Ledger(plain), "1": Ledger(plain, replicated)}
    print("| in flight | COINSLOT_LEDGER_REPLICAS | claims/s | p50 ms | p99 ms |\n|---|---|---|---|---|")
    for in_flight in IN_FLIGHT:
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ledgers}
        for _ in range(ROUNDS):
            for name, ledger in ledgers.items():
                found[name].append(await measure(ledger, in_flight))
        for name, rounds in found.items():
            rate, p50, p99 = (statistics.median(column) for column in zip(*rounds, strict=True))
            print(f"| {in_flight} | {name} | {rate:,.0f} | {p50:.1f} | {p99:.1f} |", flush=True)
    plain.close()
    replicated.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, replicated_ledger(Path(folder)) as servers:
        asyncio.run(compare(servers.url))
