"""The pools: one table of everything that is decided per pool. The Procfile is tested against it. Packages add theirs."""

import enum
import re
from collections.abc import Collection
from dataclasses import dataclass


class Pool(enum.StrEnum):
    """A queue, and the worker processes that serve only this queue. A full pool does not slow another one.

    These are our own. A pool of a package (jobs/packages.py) is a plain str, which `add_pool` returns.
    """

    MICRO = "micro"
    FAST = "fast"
    NET = "net"
    CHAIN = "chain"
    RENDER = "render"
    WHOIS = "whois"
    YOUTUBE = "youtube"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPolicy:
    """What is decided for one pool.

    Attributes:
        purpose: what its endpoints have in common.
        latency: how long a call itself usually takes, in words. The settlement of its payment comes before it, and depends on
            the network.
        threads: jobs that one worker process runs at once.
        room: calls that may wait and run per worker process: what it can do within its endpoints' deadlines.
        call_interval_ms: milliseconds between two new calls of one payer, in the long run.
        call_burst: new calls that one payer may make at once after a rest.
        is_batched: jobs take a second or so, and the pool gives up some milliseconds for the sake of other pools: it starts
            jobs one after the other, acknowledges together what ends together, and the API answers their callers one
            after the other (tests/bench/measure/isolation.py).
        needs_children: its workers start child processes, for hostile or long calculations.
        calls_out: its calls go to hosts on the internet. It is refused while this machine's DNS or route does not work.
        niceness: of its workers (nice(2)), once they have loaded what they need.
    """

    purpose: str
    latency: str
    threads: int
    room: int
    call_interval_ms: float
    call_burst: int
    is_batched: bool = False
    needs_children: bool = False
    calls_out: bool = False
    niceness: int = 10


POOLS: dict[str, PoolPolicy] = {
    Pool.MICRO: PoolPolicy(
        purpose="Calculations of well under a millisecond, run by the thread that reads the queue.",
        latency="milliseconds",
        threads=1,
        room=2_000,
        call_interval_ms=100,
        call_burst=20,
        niceness=0,
    ),
    Pool.FAST: PoolPolicy(
        purpose="Calculations. Those on hostile input run in children, so a thread may wait for one.",
        latency="under a second",
        threads=16,
        room=1_000,
        call_interval_ms=100,
        call_burst=20,
        needs_children=True,
    ),
    Pool.NET: PoolPolicy(
        purpose="Calls of sites that the caller names; children read what they answer.",
        latency="a second or two",
        threads=32,
        room=200,
        call_interval_ms=500,
        call_burst=10,
        needs_children=True,
        calls_out=True,
    ),
    Pool.CHAIN: PoolPolicy(
        purpose="Calls of blockchain nodes.",
        latency="about a second",
        threads=32,
        room=200,
        call_interval_ms=500,
        call_burst=10,
    ),
    Pool.RENDER: PoolPolicy(
        purpose="Pages in a browser; children read what it gives.",
        latency="a few seconds",
        threads=4,
        room=8,
        call_interval_ms=3_000,
        call_burst=3,
        is_batched=True,
        needs_children=True,
        calls_out=True,
    ),
    Pool.WHOIS: PoolPolicy(
        purpose="Calls of WHOIS servers, which ban a caller that asks too often.",
        latency="a few seconds",
        threads=16,
        room=64,
        call_interval_ms=500,
        call_burst=10,
        is_batched=True,
        calls_out=True,
    ),
    Pool.YOUTUBE: PoolPolicy(
        purpose="Calls of YouTube, which bans a caller that asks too often; children read its documents.",
        latency="a few seconds",
        threads=8,
        room=32,
        call_interval_ms=500,
        call_burst=10,
        is_batched=True,
        needs_children=True,
        calls_out=True,
    ),
}

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)


def add_pool(name: str, policy: PoolPolicy) -> str:
    """Add the pool of a package, beside the declaration of its endpoints. Workers that serve it are started with the others.

    Args:
        name: the package's prefix, or words that begin with it: ``acme`` or ``acme-names``.

    Returns:
        The name, for the endpoints' `pool`.

    Raises:
        ValueError: the name has another form, or another pool has it.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"pool {name!r}: lower-case words joined by '-', the first of them with a letter first")
    if min(policy.threads, policy.room, policy.call_burst) < 1 or policy.call_interval_ms <= 0:
        raise ValueError(f"pool {name}: threads, room, call_interval_ms and call_burst must be positive")
    if POOLS.setdefault(name, policy) != policy:
        raise ValueError(f"there is another pool {name}")
    return name


def niceness(pools: Collection[str]) -> int:
    """The niceness of a process that serves these pools; all when none is named."""
    return min(POOLS[pool].niceness for pool in pools or POOLS)
