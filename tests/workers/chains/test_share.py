"""A slow chain leaves threads to the others."""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs.evm.chains import ChainId
from shared.outcome import UpstreamFailed
from shared.pools import POOLS, Pool
from tests.workers.chains.fake_node import FakeNode
from workers.adapters.chain_share import MOST, MOST_SLOW, SLOW_S, ThreadShare
from workers.adapters.chains import NodeChains

THREADS = POOLS[Pool.CHAIN].threads


@pytest.mark.parametrize("hedge", [False, True])
def test_a_chain_that_says_nothing_does_not_take_all_threads(hedge: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of its calls than there are threads; then the other chain answers one of those threads at once."""
    with FakeNode(8453).serving() as works, FakeNode(1).serving() as hangs:
        released, right = threading.Event(), hangs.replies_to
        urls = {"base": [works.url] * 2, "ethereum": [hangs.url] * 2}
        chains = NodeChains(urls, hedge=hedge)  # type: ignore[arg-type]
        for chain in ("base", "ethereum") * 20:  # from then on it is known what is slow
            chains.read(chain, [ChainId()], deadline=time.monotonic() + 20)  # type: ignore[arg-type]

        def replies_late(batch: list[dict[str, object]]) -> list[dict[str, object]]:
            released.wait(30)
            return right(batch)

        monkeypatch.setattr(hangs, "replies_to", replies_late)

        def read(chain: str) -> str:
            try:
                chains.read(chain, [ChainId()], deadline=time.monotonic() + 20)  # type: ignore[arg-type]
            except UpstreamFailed as failure:
                return failure.reason
            return "answered"

        with ThreadPoolExecutor(THREADS) as pool, contextlib.ExitStack() as stack:
            stack.callback(released.set)
            slow = [pool.submit(read, "ethereum") for _ in range(2 * THREADS)]
            fast = [pool.submit(read, "base") for _ in range(THREADS)]

            assert {one.result(timeout=9) for one in fast} == {"answered"}
            assert {one.result() for one in slow if one.done()} == {"rate_limited"}
            assert sum(not one.done() for one in slow) >= MOST_SLOW


def test_calls_wait_for_fast_reads_and_are_refused_behind_slow_ones() -> None:
    """By the oldest that runs, and by the last that ended."""
    now = [0.0]
    share = ThreadShare("base", now=lambda: now[0])
    with contextlib.ExitStack() as stack:
        holds = [contextlib.ExitStack() for _ in range(MOST)]
        for one in holds:
            stack.enter_context(one).enter_context(share.hold())

        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(stack.enter_context, share.hold())
            holds[0].close()
            assert waiting.result(timeout=10) is None

        now[0] += SLOW_S + 0.1
        with pytest.raises(UpstreamFailed) as refused, share.hold():
            pass
        assert refused.value.reason == "rate_limited"
        # All but one end together, and as many others begin as may beside slow ones.
        for one in holds:
            one.close()
        for one in holds[: MOST_SLOW - 1]:
            one.enter_context(share.hold())
        with pytest.raises(UpstreamFailed), share.hold():
            pass


def test_every_thread_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as read at once: a new one costs two round trips, and over TLS some milliseconds of work."""
    with FakeNode(8453).serving() as node, ThreadPoolExecutor(MOST) as pool:
        together, right = threading.Barrier(MOST), node.replies_to

        def replies_together(batch: list[dict[str, object]]) -> list[dict[str, object]]:
            together.wait(30)
            return right(batch)

        monkeypatch.setattr(node, "replies_to", replies_together)
        chains = NodeChains({"base": [node.url]})
        for _ in range(3):
            reads = [pool.submit(chains.read, "base", [ChainId()], deadline=time.monotonic() + 30) for _ in range(MOST)]
            assert {read.result().results for read in reads} == {(8453,)}

        assert node.connections == MOST
