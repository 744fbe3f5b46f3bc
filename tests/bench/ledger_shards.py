"""How many payments the ledger takes with one, two and three shards, when every server has the same part of a core:
`python -m tests.bench.ledger_shards`, as root, because it makes control groups.

Clusters of 1, 2 and 3 shards are measured in turns, from one process with the client of the API: claim and settlement of one
payment after the other, each by a payer of its own, so many at once. At a few per cent of a core for each server neither this
process nor the machine is the limit.
"""

import argparse
import asyncio
import contextlib
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import uvloop

from api.ledger_servers import LedgerServers
from api.payment.ledger import Ledger as ApiLedger
from api.payment.ledger_terms import Claim, Verdict
from compose.sandbox.child import claim_port, spawn
from tests.chaos.cluster.ledger import Ledger
from tests.chaos.cluster.server import Server

SIZES = (1, 2, 3)
PERIOD_US = 20_000
"""The kernel takes no quota below 1,000."""
_V1, _V2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")


@contextlib.contextmanager
def control_group(name: str, share: float) -> Iterator[Path]:
    """A group of processes that gets this share of one core together; the file to write their ids to."""
    root = _V1 if _V1.is_dir() else _V2
    group = root / f"coinslot-{name}-{os.getpid()}"
    group.mkdir()
    try:
        if root == _V1:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(int(PERIOD_US * share)))
        else:
            (group / "cpu.max").write_text(f"{int(PERIOD_US * share)} {PERIOD_US}")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


@contextlib.contextmanager
def cluster(folder: Path, shards: int, replicas: int, share: float) -> Iterator[Ledger]:
    """A cluster, each of whose servers gets this share of a core."""
    servers = [
        Server(shard, copy, "127.0.0.1", claim_port(0), claim_port(0))
        for shard in range(shards)
        for copy in range(1 + replicas)
    ]
    with contextlib.ExitStack() as stack:
        own = folder / str(shards)
        groups, children = {}, {}
        for server in servers:
            groups[server] = stack.enter_context(control_group(f"{shards}-{server.name}", share))
            children[server] = spawn(server.name, server.command(own / server.name), own)
            stack.callback(children[server].stop)
        made = Ledger(servers)
        made.form()
        for server in servers:
            server.says("CONFIG", "SET", "min-replicas-to-write", min(replicas, 1))
            groups[server].write_text(str(children[server].process.pid))
        yield made


async def measured(ledger: Ledger, replicas: int, at_once: int, seconds: float) -> tuple[float, float]:
    """Payments a second, and this process's share of a core."""
    servers = LedgerServers(ledger.url.split(","), replicas)
    api = ApiLedger(servers.commands, servers.replicated)
    counted, end = 0, 0.0

    async def pay() -> None:
        nonlocal counted
        while (began := time.monotonic()) < end:
            claim = a_claim()
            entry = await api.claim(claim)
            assert entry.verdict is Verdict.SETTLE, entry
            assert await api.settled(claim.payment_id, b"{}", 10_000)
            counted += began >= start

    start = time.monotonic() + 0.5
    end = start + seconds
    cpu_s = time.process_time()
    await asyncio.gather(*(pay() for _ in range(at_once)))
    share = (time.process_time() - cpu_s) / (time.monotonic() - start + 0.5)
    servers.close()
    return counted / seconds, share


def a_claim() -> Claim:
    """Of a new payer."""
    payer = "0x" + secrets.token_hex(20)
    return Claim(
        payment_id=f"eip155:8453:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913:{payer}:{secrets.token_hex(32)}",
        fingerprint="f1",
        endpoint="echo",
        payer=payer,
        offer=b"{}",
        settle_lease_ms=10_000,
        run_lease_ms=10_000,
    )


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=0.1, help="of a core, for each server")
    parser.add_argument("--replicas", type=int, default=0, help="of each shard, of which one is waited for")
    parser.add_argument("--at-once", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    fence = min(options.replicas, 1)
    rates: dict[int, list[float]] = {size: [] for size in SIZES}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        made = {
            size: stack.enter_context(cluster(Path(folder), size, options.replicas, options.share)) for size in SIZES
        }
        for _ in range(options.rounds):
            for size, ledger in made.items():
                rate, share = uvloop.run(measured(ledger, fence, options.at_once, options.seconds))
                rates[size].append(rate)
                buckets = [len(ledger.buckets_of(server)) for server in ledger.servers if server.copy == 0]
                print(f"{size} shards {buckets}: {rate:.0f}/s, this process {share:.0%} of a core", flush=True)
    one = statistics.median(rates[1])
    for size, found in rates.items():
        ratios = sorted(rate / base for rate, base in zip(found, rates[1], strict=True))
        print(
            f"{size} shards: median {statistics.median(found):.0f}/s ({min(found):.0f}..{max(found):.0f}), "
            f"{statistics.median(found) / one:.2f} times one; by round {', '.join(f'{ratio:.2f}' for ratio in ratios)}"
        )
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
