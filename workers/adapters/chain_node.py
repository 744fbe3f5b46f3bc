"""One node of a chain: a read is its answer alone, at one block, on the right chain."""

import logging
import ssl
import time
from collections import deque
from collections.abc import Callable, Sequence
from socket import gaierror
from typing import Any, TypeVar

from jobs.ports.chains import ChainCall, ChainRead, ReceiptByHash, TransactionByHash, Unavailable
from shared.nodes import json_rpc
from shared.nodes.connections import NodeFailed
from shared.nodes.json_rpc import JsonRpc, RpcError
from shared.outcome import UpstreamFailed
from workers.adapters.chain_calls import header, header_of, is_of_block, quantity, request_of, result_of
from workers.adapters.chain_refusals import is_throttling, meaning
from workers.adapters.chain_share import MOST

MAX_ANSWER_BYTES = 8 * 1024 * 1024
LONGEST_LAG_S = 30
_CHAIN_ID = json_rpc.Call("eth_chainId")
_MEMORY_S = 60.0
_FEW = 20
T = TypeVar("T")

log = logging.getLogger(__name__)


class Behind(UpstreamFailed):
    """The node's newest block is much older than one that another node has shown."""

    def __init__(self, node: "Node") -> None:
        super().__init__(f"{node.name} is behind the others.", reason="block_not_found")
        self.node = node


class Node:
    """One URL of a chain.

    Args:
        name: for sentences that callers see.
        clock: seconds since 1970.

    Attributes:
        name: ``Node 1 of base``.
        place: scheme, host and port, for the log.

    Raises:
        ValueError: the URL is none.
    """

    def __init__(self, url: str, chain_id: int, name: str, *, clock: Callable[[], float] = time.time) -> None:
        self.name = name
        self._rpc = JsonRpc(url, max_answer_bytes=MAX_ANSWER_BYTES, max_idle=MOST)
        self.place = self._rpc.place
        self._chain_id = chain_id
        self._clock = clock
        self._durations: deque[tuple[float, float]] = deque(maxlen=512)

    def read(self, calls: Sequence[ChainCall], block: int | None, *, newest: int, deadline: float) -> ChainRead:
        """All results, at one block. Every batch also asks for the chain's id: behind one URL may be many nodes.

        Args:
            block: None: the node's newest.
            newest: time of the newest block that any node has shown. One that is 30 s behind it is not read.
            deadline: monotonic seconds.

        Raises:
            Behind: its head is too old.
            UpstreamFailed: with a reason of jobs.ports.chains.FAILURES.
        """
        began = time.monotonic()
        if block is None and any(is_of_block(call) for call in calls):
            (head,) = self._batch([header_of(None)], deadline)
            number, timestamp = self._block(head, None, newest)
            values = self._batch([request_of(call, number) for call in calls], deadline)
        else:
            head, *values = self._batch([header_of(block), *(request_of(call, block or 0) for call in calls)], deadline)
            number, timestamp = self._block(head, block, newest)
        results = tuple(self._result(call, value, timestamp) for call, value in zip(calls, values, strict=True))
        ended = time.monotonic()
        self._durations.append((ended, ended - began))
        return ChainRead(number, timestamp, results)

    def slow_after_s(self) -> float | None:
        """What all but one in twenty reads of the last minute took at most; None: there were too few."""
        since = time.monotonic() - _MEMORY_S
        recent = sorted(duration for ended, duration in list(self._durations) if ended >= since)
        return recent[int(len(recent) * 0.95)] if len(recent) >= _FEW else None

    def _block(self, value: Any, asked: int | None, newest: int) -> tuple[int, int]:
        """Number and timestamp of the block that was asked for."""
        if isinstance(value, RpcError) and is_throttling(value):
            raise UpstreamFailed(f"{self.name} has had too many calls.", reason="rate_limited")
        if value is None or isinstance(value, RpcError):
            raise UpstreamFailed(f"{self.name} does not have this block.", reason="block_not_found")
        number, timestamp = self._checked(lambda: header(value, asked))
        if asked is None and timestamp < newest - LONGEST_LAG_S:
            raise Behind(self)
        return number, timestamp

    def _require_chain(self, value: Any) -> None:
        if isinstance(value, RpcError):
            reason = "rate_limited" if is_throttling(value) else "bad_content"
            raise UpstreamFailed(f"{self.name} does not say which chain it is of.", reason=reason)
        if self._checked(lambda: quantity(value)) != self._chain_id:
            log.error("%s is a node of another chain than %d: it is not read", self.place, self._chain_id)
            raise UpstreamFailed(f"{self.name} is of another chain.", reason="wrong_chain")

    def _result(self, call: ChainCall, value: Any, timestamp: int) -> Any:
        if isinstance(value, RpcError):
            return meaning(call, value, age_s=self._clock() - timestamp)
        return self._checked(lambda: result_of(call, value))

    def _batch(self, requests: Sequence[json_rpc.Call], deadline: float) -> list[Any]:
        """The results, from the right chain."""
        try:
            chain_id, *values = self._rpc.batch([_CHAIN_ID, *requests], timeout_s=deadline - time.monotonic())
        except RpcError as error:
            if is_throttling(error):
                raise UpstreamFailed(f"{self.name} has had too many calls.", reason="rate_limited") from None
            raise UpstreamFailed(f"{self.name} takes no batches of calls.", reason="bad_content") from None
        except NodeFailed as failure:
            raise UpstreamFailed(f"{self.name} gave no usable answer.", reason=_reason(failure)) from None
        self._require_chain(chain_id)
        return values

    def _checked(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except ValueError:
            raise UpstreamFailed(f"{self.name} answered in a form that is not known.", reason="bad_content") from None


def gaps(read: ChainRead, calls: Sequence[ChainCall]) -> int:
    """How many results another node may know better: state that is not kept, and transactions that are not there."""
    return sum(
        isinstance(result, Unavailable) or (result is None and isinstance(call, TransactionByHash | ReceiptByHash))
        for call, result in zip(calls, read.results, strict=True)
    )


def _reason(failure: NodeFailed) -> str:
    """The reason of jobs.ports.chains.FAILURES."""
    if failure.reason == "timeout":
        return "timeout"
    if failure.reason == "status":
        return "rate_limited" if failure.status == 429 else "http_status"
    if failure.reason == "unreachable":
        if isinstance(failure.__context__, gaierror):
            return "dns_failure"
        return "tls_failure" if isinstance(failure.__context__, ssl.SSLError) else "connection_refused"
    return "bad_content"
