"""Chains by the operator's nodes: the first that answers, each answer from one node at one block.

A node is passed over for the next one when it cannot be reached, does not answer in its share of the time, has had too many
calls, is of another chain, lags, or does not have the block. What the chain itself says, a revert for instance, is the answer.
Where a node has pruned the state, or does not know a transaction, the others are asked before that is said.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from jobs.ports.chains import CHAIN_IDS, MAX_READS, Call, Chain, ChainCall, ChainRead, Code
from shared.outcome import UpstreamFailed
from workers.adapters.chain_node import Behind, Node, gaps
from workers.adapters.chain_share import MOST, ThreadShares
from workers.adapters.expiring_cache import ExpiringCache
from workers.egress.upstreams import FAILING, Upstreams

WITHIN_S = 10.0
"""For one read, whatever its deadline."""
AT_ONCE = 64
"""Reads of one node that run together."""
AGAIN_AFTER_S = 0.4
"""Behind one URL are many nodes: the next one may have the block already."""
_FUTURE_S = 15
_HEDGING_THREADS = 2 * MOST

MAX_AGE_S = 3600.0
MAX_BYTES = 16 * 1024 * 1024
"""Of all answers that are kept."""

MAX_ANSWER_BYTES = 32 * 1024
"""Of one that is kept: code has 24 KB at most. A few tokens with names of a megabyte would leave no room for others."""

_ENTRY_BYTES = 500
"""What an entry takes beside its answer."""
_DELEGATION = b"\xef\x01\x00"


class NodeChains:
    """jobs.ports.chains.Chains.

    Args:
        urls: of each chain's nodes, the preferred one first. They may hold keys: they are shown nowhere.
        hedge: a node that is slower than nearly always in the last minute gets company by the next one.
        clock: seconds since 1970.

    Raises:
        ValueError: a URL is none.
    """

    def __init__(
        self, urls: Mapping[Chain, Sequence[str]], *, hedge: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        shares = ThreadShares(urls)
        self._chains = {
            chain: _Nodes(
                [
                    Node(url, CHAIN_IDS[chain], f"Node {number} of {chain}", clock=clock)
                    for number, url in enumerate(listed, 1)
                ],
                clock,
                # One per chain: in one for all a slow chain's reads would be before the others'.
                ThreadPoolExecutor(_HEDGING_THREADS, "hedge") if hedge else None,
                partial(shares.hold, chain),
            )
            for chain, listed in urls.items()
            if listed
        }

    def read(self, chain: Chain, calls: Sequence[ChainCall], *, block: int | None = None, deadline: float) -> ChainRead:
        """Reads, all at one block. Raises UpstreamFailed with a reason out of jobs.ports.chains.FAILURES."""
        if len(calls) > MAX_READS:
            raise ValueError(f"at most {MAX_READS} reads")
        nodes = self._chains.get(chain)
        if nodes is None:
            raise UpstreamFailed(f"This installation has no node of {chain}.", reason="not_configured")
        return nodes.read(calls, block, min(deadline, time.monotonic() + WITHIN_S))


class _Nodes:
    """Those of one chain."""

    def __init__(
        self,
        nodes: Sequence[Node],
        clock: Callable[[], float],
        executor: ThreadPoolExecutor | None,
        hold: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._nodes = nodes
        self._hold = hold
        self._clock = clock
        self._executor = executor
        self._constants = Constants()
        # What a caller's question may cause does not count: an answer that is too large, or an error that is not known.
        self._circuits = Upstreams(
            at_once=AT_ONCE, pause_s=5.0, longest_pause_s=60.0, failing=FAILING | {"http_status", "wrong_chain"}
        )
        self._newest = 0
        self._newest_lock = threading.Lock()

    def read(self, calls: Sequence[ChainCall], block: int | None, deadline: float) -> ChainRead:
        """Constants out of memory, the rest of nodes."""
        known = {n: answer for n, call in enumerate(calls) if (answer := self._constants.get(call)) is not None}
        asked = [call for n, call in enumerate(calls) if n not in known]
        with self._hold():
            read = self._of_nodes(asked, block, deadline)
        for call, result in zip(asked, read.results, strict=True):
            self._constants.put(call, result)
        if not known:
            return read
        results = iter(read.results)
        return read._replace(results=tuple(known[n] if n in known else next(results) for n in range(len(calls))))

    def _of_nodes(self, calls: Sequence[ChainCall], block: int | None, deadline: float) -> ChainRead:
        try:
            return self._of_one(calls, block, deadline)
        except UpstreamFailed as failure:
            if failure.reason != "block_not_found" or time.monotonic() + AGAIN_AFTER_S >= deadline:
                raise
        time.sleep(AGAIN_AFTER_S)
        return self._of_one(calls, block, deadline)

    def _of_one(self, calls: Sequence[ChainCall], block: int | None, deadline: float) -> ChainRead:
        """The first answer that leaves nothing out, else the best one."""
        best: ChainRead | None = None
        behind: list[Node] = []
        failure: UpstreamFailed | None = None
        left = list(self._nodes)
        while left:
            try:
                read = self._next(left, calls, block, deadline)
            except UpstreamFailed as failed:
                # The first one says most: after it may come nodes that are left alone, or have no time.
                failure = failure or failed
                if isinstance(failed, Behind):
                    behind.append(failed.node)
                continue
            if best is None or gaps(read, calls) < gaps(best, calls):
                best = read
            if not gaps(best, calls):
                return best
        if best is not None:
            return best
        for node in behind:  # an old head is an answer too: it says how old it is
            try:
                return self._ask(node, calls, block, deadline, newest=0)
            except UpstreamFailed as failed:
                failure = failed
        assert failure is not None
        raise failure

    def _next(self, left: list[Node], calls: Sequence[ChainCall], block: int | None, deadline: float) -> ChainRead:
        """The read of the next node, or of the one after it where that answers first. Those that were asked are taken off."""
        # A node that says nothing leaves time for the others.
        limit = time.monotonic() + (deadline - time.monotonic()) / len(left)
        node = left.pop(0)
        slow_after_s = node.slow_after_s() if self._executor and left else None
        if self._executor is None or slow_after_s is None:
            return self._ask(node, calls, block, limit)
        asked = {self._executor.submit(self._ask, node, calls, block, limit)}
        if not wait(asked, slow_after_s).done:
            asked.add(self._executor.submit(self._ask, left.pop(0), calls, block, limit))
        return _first(asked)

    def _ask(
        self, node: Node, calls: Sequence[ChainCall], block: int | None, deadline: float, newest: int | None = None
    ) -> ChainRead:
        with self._circuits.slot(node.name, deadline=deadline):
            newest = self._newest if newest is None else newest
            read = node.read(calls, block, newest=newest, deadline=deadline)
        if block is None and read.timestamp <= self._clock() + _FUTURE_S:
            with self._newest_lock:
                self._newest = max(self._newest, read.timestamp)
        return read


def _first(asked: set[Future[ChainRead]]) -> ChainRead:
    """The first that succeeds. Raises UpstreamFailed when none does."""
    failures: list[UpstreamFailed] = []
    while asked:
        done, asked = wait(asked, return_when=FIRST_COMPLETED)
        for one in done:
            try:
                return one.result()
            except UpstreamFailed as failure:
                failures.append(failure)
    raise next((failure for failure in failures if isinstance(failure, Behind)), failures[0])


class Constants:
    """Answers to calls that say of themselves that they are constant. Thread-safe.

    Nothing empty is kept, because what is not there yet may come, and no delegation, because an account may change it. Nor is
    what is too long for a name or for code.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._cache: ExpiringCache[ChainCall, bytes] = ExpiringCache(MAX_BYTES, now)

    def get(self, call: ChainCall) -> bytes | None:
        """The answer of the last hour."""
        kept = self._cache.get(call)
        return kept[0] if kept else None

    def put(self, call: ChainCall, answer: Any) -> None:
        """Keep it, if it is one to keep."""
        if not isinstance(call, Call | Code) or not call.is_constant or not isinstance(answer, bytes) or not answer:
            return
        if len(answer) > MAX_ANSWER_BYTES or (isinstance(call, Code) and answer.startswith(_DELEGATION)):
            return
        self._cache.put(call, answer, size=len(answer) + _ENTRY_BYTES, lifetime_s=MAX_AGE_S)
