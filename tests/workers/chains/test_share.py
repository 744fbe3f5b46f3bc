"""A slow chain leaves threads to the others."""

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs.ports.chains import ChainId
from shared.outcome import UpstreamFailed
from tests.workers.chains.fake_node import FakeNode
from workers.adapters.chain_share import IN_USE_S, MOST, MOST_SLOW, SLOW_S, THREADS, ThreadShares
from workers.adapters.chains import NodeChains


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


class Shares:
    """Two chains, of which the other was read just now; and a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.held: list[contextlib.ExitStack] = []  # one that is dropped ends
        self.shares = ThreadShares(("base", "ethereum"), now=lambda: self.now)
        with self.shares.hold("ethereum"):
            pass

    def hold(self, count: int) -> list[contextlib.ExitStack]:
        """Reads of Base that run."""
        holds = [contextlib.ExitStack() for _ in range(count)]
        for one in holds:
            one.enter_context(self.shares.hold("base"))
        self.held += holds
        return holds

    def is_refused(self) -> bool:
        """One more of Base."""
        try:
            with self.shares.hold("base"):
                return False
        except UpstreamFailed as failure:
            return failure.reason == "rate_limited"


def test_calls_wait_for_fast_reads() -> None:
    """For the first that ends."""
    shares = Shares()
    holds = shares.hold(MOST)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(shares.is_refused)
        holds[0].close()
        assert waiting.result(timeout=30) is False


def test_calls_are_refused_behind_slow_reads() -> None:
    """By the oldest that runs, and by the last that ended."""
    shares = Shares()
    holds = shares.hold(MOST_SLOW)
    assert not shares.is_refused()

    shares.now += SLOW_S + 0.1
    assert shares.is_refused()

    # All end together, and as many others begin as may beside slow ones.
    for one in holds:
        one.close()
    shares.hold(MOST_SLOW)
    assert shares.is_refused()


def test_a_chain_that_is_read_alone_has_all_threads() -> None:
    """Whatever its reads take: nobody else would use the threads."""
    shares = Shares()
    shares.now += IN_USE_S
    shares.hold(THREADS)
    shares.now += SLOW_S + 0.1

    assert not shares.is_refused()


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
