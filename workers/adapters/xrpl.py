"""The XRP Ledger through the nodes that the operator has chosen. They are asked in order, until one has the whole answer.

An answer comes from one node, and from validated ledgers of the configured network alone.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from jobs.ports.xrpl import History, Point, WalletState
from shared.outcome import UpstreamFailed
from shared.x402.networks import XRPL_RLUSD
from workers.adapters.xrpl_node import RippledNode

RESTS_S = 15.0
"""For so long after a failure, a node is asked after the others."""

T = TypeVar("T")


class XrplNodes:
    """Implements jobs.ports.xrpl.XrplLedger.

    Args:
        urls: of rippled or Clio servers, the preferred one first.
        network: CAIP-2, one that RLUSD is on.

    Raises:
        ValueError: a URL or the network is none.
    """

    def __init__(self, urls: Sequence[str], *, network: str) -> None:
        if network not in XRPL_RLUSD:
            raise ValueError(f"there is no RLUSD on {network}")
        self._network = network
        self._nodes = [RippledNode(url, XRPL_RLUSD[network]) for url in urls]
        self._rests_until: dict[RippledNode, float] = {}

    @property
    def network(self) -> str:
        """CAIP-2."""
        return self._network

    def wallet(self, address: str, *, at_least: int, deadline: float) -> WalletState:
        """An account in the newest validated ledger of the first node that can say. See the port."""
        return self._first(lambda node: node.wallet(address, at_least, deadline), deadline, lambda wallet: True)

    def history(self, address: str, *, after: Point, through: int, most: int, deadline: float) -> History:
        """An account's transactions, of the first node that has all of them; else of the first that has some. See the port."""
        if after == Point(through):
            return History((), is_complete=True, is_truncated=False)
        return self._first(
            lambda node: node.history(address, after, through, most, deadline),
            deadline,
            lambda history: history.is_complete,
        )

    def close(self) -> None:
        """Close the connections that are not in use. It can be used again."""
        for node in self._nodes:
            node.close()

    def _first(self, ask: Callable[[RippledNode], T], deadline: float, is_good: Callable[[T], bool]) -> T:
        """The first good answer, else the first answer, else the first failure."""
        if not self._nodes:
            raise UpstreamFailed("No node of the XRP Ledger is configured here.", reason="node_error")
        failures: list[UpstreamFailed] = []
        answers: list[T] = []
        for node in sorted(self._nodes, key=self._is_resting):
            try:
                answer = ask(node)
            except UpstreamFailed as failure:
                self._rests_until[node] = time.monotonic() + RESTS_S
                failures.append(failure)
            else:
                if is_good(answer):
                    return answer
                answers.append(answer)
            if time.monotonic() >= deadline:
                break
        if answers:
            return answers[0]
        raise failures[0]

    def _is_resting(self, node: RippledNode) -> bool:
        return time.monotonic() < self._rests_until.get(node, 0.0)
