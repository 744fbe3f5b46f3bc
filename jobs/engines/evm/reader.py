"""Reads a chain for one answer: the first read finds the newest block, and all others read the same block."""

import time
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

from jobs.fields import Ok, doc
from jobs.ports import Context
from jobs.ports.chains import CHAIN_IDS, Chain, ChainCall, Unavailable
from shared.outcome import InvalidInput, UpstreamFailed

WITHIN_S = 10.0
"""For all reads of one answer."""
STALE_AFTER_S: dict[Chain, int] = {"base": 60, "ethereum": 120}
"""Thirty blocks of Base, ten of Ethereum: an older head means that the node, or the chain, has stopped."""
STALE_HEAD = "stale_head"


class NotAContract(InvalidInput):
    """There is no contract where the caller says that there is one, which only the chain can tell."""

    code = "not_a_contract"


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What every answer of a chain has."""

    ok: Ok = True
    chain: Annotated[Chain, doc("The chain that was read.")]
    chain_id: Annotated[int, doc("The chain's id: 1 for Ethereum, 8453 for Base.")]
    block_number: Annotated[str, doc("The block at which everything in the answer was read, in decimal.")]
    block_timestamp: Annotated[str, doc("The time of that block, ISO 8601 in UTC.")]
    warnings: Annotated[
        list[str], doc("Codes of what to know about the answer, such as `stale_head`: the newest block is old.")
    ]


class Reader:
    """Reads of one chain at one block, within WITHIN_S.

    Attributes:
        block: its number; None before the first read.
        timestamp: of that block, seconds since 1970.
        warnings: codes, without repetition.
    """

    def __init__(self, context: Context, chain: Chain) -> None:
        self.chain = chain
        self.block: int | None = None
        self.timestamp = 0
        self.warnings: list[str] = []
        self._ports = context.ports
        self._deadline = time.monotonic() + WITHIN_S

    def read(self, *calls: ChainCall) -> tuple[Any, ...]:
        """Results at the block of this answer. Raises UpstreamFailed."""
        first = self.block is None
        read = self._ports.chains.read(self.chain, calls, block=self.block, deadline=self._deadline)
        self.block, self.timestamp = read.block, read.timestamp
        if first and self._ports.clock.now().timestamp() - read.timestamp > STALE_AFTER_S[self.chain]:
            self.warn(STALE_HEAD)
        if any(isinstance(result, Unavailable) for result in read.results):
            raise UpstreamFailed("The node does not have the state of its newest block.", reason="bad_content")
        return read.results

    def read_past(self, block: int, *calls: ChainCall) -> tuple[Any, ...]:
        """Results at an older block, where a node without an archive has none: Unavailable. Raises UpstreamFailed."""
        return self._ports.chains.read(self.chain, calls, block=block, deadline=self._deadline).results

    def read_of(self, chain: Chain, *calls: ChainCall) -> tuple[Any, ...]:
        """Results of another chain. Raises UpstreamFailed."""
        return self._ports.chains.read(chain, calls, deadline=self._deadline).results

    def warn(self, code: str) -> None:
        """Add a warning, unless the answer has it already."""
        if code not in self.warnings:
            self.warnings.append(code)

    def head(self) -> dict[str, Any]:
        """The values of the fields of Response."""
        return {
            "chain": self.chain,
            "chain_id": CHAIN_IDS[self.chain],
            "block_number": str(self.block),
            "block_timestamp": iso(self.timestamp),
            "warnings": self.warnings,
        }


def iso(timestamp: int) -> str:
    """Seconds since 1970 as UTC. Raises UpstreamFailed for what no block has."""
    try:
        return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        raise UpstreamFailed("The node's block has an impossible time.", reason="bad_content") from None
