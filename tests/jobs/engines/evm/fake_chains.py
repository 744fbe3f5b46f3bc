"""jobs.ports.chains.Chains out of tables, and what contracts answer."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import eth_abi
import msgspec

from jobs.engines.evm.selectors import DECIMALS, NAME, SYMBOL, TOTAL_SUPPLY
from jobs.ports import Context
from jobs.ports.chains import (
    Balance,
    BlockTime,
    Call,
    Chain,
    ChainCall,
    ChainId,
    ChainRead,
    Code,
    EstimateGas,
    GasPrice,
    Nonce,
    ReceiptByHash,
    Reverted,
    Storage,
    TransactionByHash,
    Unavailable,
)
from shared.endpoint import Endpoint
from shared.outcome import UpstreamFailed
from tests.sites import decoded

NOW = 1_800_000_000
HEAD = 1_000_000
CONTRACT = bytes.fromhex("6080604052")


def text(value: str) -> bytes:
    """An ABI string as a contract returns it."""
    return eth_abi.encode(["string"], [value])


def word(number: int | str) -> bytes:
    """32 bytes."""
    return (int(number, 16) if isinstance(number, str) else number).to_bytes(32, "big")


class FakeChain:
    """One chain.

    Attributes:
        code: by address; or a list of (first block, code), the newest last.
        calls: answers by (to, data), or by (to, selector).
        archive: False when the past is not kept.
        block_s: seconds between blocks.
    """

    def __init__(self, number: int, *, block_s: int = 2, head: int = HEAD, time: int = NOW) -> None:
        self.number, self.block_s, self.head, self.time = number, block_s, head, time
        self.code: dict[str, bytes | list[tuple[int, bytes]]] = {}
        self.calls: dict[tuple[str | None, bytes], Any] = {}
        self.past_calls: dict[tuple[str | None, bytes], Any] = {}
        self.storage: dict[tuple[str, int], list[tuple[int, bytes]] | bytes] = {}
        self.balances: dict[str, Any] = {}
        self.nonces: dict[str, Any] = {}
        self.estimate: Any = 21_000
        self.gas_price = 6_000_000
        self.transactions: dict[str, Any] = {}
        self.receipts: dict[str, Any] = {}
        self.times: dict[int, int] = {}
        self.archive = True
        self.fails: UpstreamFailed | None = None

    def token(self, address: str, symbol: Any, decimals: Any, name: Any = None, supply: int = 10**15) -> None:
        """Put a token there."""
        self.code[address] = CONTRACT
        self.calls[address, SYMBOL] = text(symbol) if isinstance(symbol, str) else symbol
        self.calls[address, DECIMALS] = word(decimals) if isinstance(decimals, int) else decimals
        self.calls[address, NAME] = text(name) if isinstance(name, str) else name
        self.calls[address, TOTAL_SUPPLY] = word(supply)

    def time_of(self, block: int) -> int | None:
        """A block's time; None beyond the head."""
        if not 0 <= block <= self.head:
            return None
        return self.times.get(block, self.time - (self.head - block) * self.block_s)

    def answer(self, call: ChainCall, block: int) -> Any:
        """At a block."""
        is_past = block < self.head
        if is_past and not self.archive and not isinstance(call, BlockTime):
            return Unavailable()
        match call:
            case Call():
                table = self.past_calls if is_past and (call.to, call.data) in self.past_calls else self.calls
                for key in ((call.to, call.data), (call.to, call.data[:4])):
                    if (found := table.get(key)) is not None:
                        return found
                return Reverted(b"") if _at(self.code.get(call.to or "", b""), block) else b""
            case EstimateGas():
                return self.estimate
            case Balance(address):
                return _at(self.balances.get(address, 0), block)
            case Nonce(address):
                return _at(self.nonces.get(address, 0), block)
            case Code(address):
                return _at(self.code.get(address, b""), block)
            case Storage(address, slot):
                return _at(self.storage.get((address, slot), bytes(32)), block) or bytes(32)
            case GasPrice():
                return self.gas_price
            case ChainId():
                return self.number
            case BlockTime(number):
                return self.time_of(number)
            case TransactionByHash(tx_hash):
                return self.transactions.get(tx_hash)
            case ReceiptByHash(tx_hash):
                return self.receipts.get(tx_hash)


class FakeChains:
    """Both chains. `reads`: what was asked, with the block."""

    def __init__(self) -> None:
        self.base = FakeChain(8453)
        self.ethereum = FakeChain(1, block_s=12)
        self.reads: list[tuple[Chain, tuple[ChainCall, ...], int | None]] = []

    def read(self, chain: Chain, calls: Sequence[ChainCall], *, block: int | None = None, deadline: float) -> ChainRead:
        """As the port says."""
        self.reads.append((chain, tuple(calls), block))
        asked = self.base if chain == "base" else self.ethereum
        if asked.fails:
            raise asked.fails
        at = asked.head if block is None else block
        time = asked.time_of(at)
        if time is None:
            raise UpstreamFailed("no such block", reason="block_not_found")
        return ChainRead(at, time, tuple(asked.answer(call, at) for call in calls))


class Ports:
    """The chains, and a clock that shows the time of their heads."""

    def __init__(self, chains: FakeChains, now: int = NOW) -> None:
        self.chains = chains
        self.clock = self
        self._now = now

    def now(self) -> datetime:
        """In UTC."""
        return datetime.fromtimestamp(self._now, UTC)


def context(chains: FakeChains, now: int = NOW) -> Context:
    """For a handler."""
    return Context(payer="0xpayer", ports=Ports(chains, now))  # type: ignore[arg-type]


def answered(endpoint: Endpoint, chains: FakeChains, body: dict[str, Any], now: int = NOW) -> dict[str, Any]:
    """A call of an endpoint, as JSON in and out."""
    request = decoded(endpoint.request, body)
    answer: dict[str, Any] = json.loads(msgspec.json.encode(endpoint.run(request, context(chains, now))))
    return answer


def _at(history: Any, block: int) -> Any:
    if not isinstance(history, list):
        return history
    return next((value for first, value in reversed(history) if first <= block), b"")
