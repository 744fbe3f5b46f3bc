"""The port to EVM chains: the reads, and their results.

`Chains.read` answers a list of reads at one block. A handler that needs a second round passes the first one's `block`, so that
all reads of one answer are of one block. Failures of the node raise; what the chain itself says is a value, also when a call
reverts.

    read                 its result
    Call                 bytes, b"" too | Reverted | Unavailable
    EstimateGas          int, gas | Reverted | Unavailable
    Balance              int, wei | Unavailable
    Nonce                int | Unavailable
    Code                 bytes, b"" where there is none | Unavailable
    Storage              bytes, 32 | Unavailable
    GasPrice             int, wei; of now, whatever the block
    ChainId              int, as the node says it in this very read
    BlockTime            int, seconds since 1970 | None where there is no such block
    TransactionByHash    the JSON-RPC object | None where the node has none; not of a block
    ReceiptByHash        the JSON-RPC object | None where there is none (unknown or pending); not of a block
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from jobs.site import Site
from shared.endpoint import InvalidField

Chain = Literal["ethereum", "base"]
CHAIN_IDS: Mapping[Chain, int] = {"ethereum": 1, "base": 8453}
CHAIN_NAMES: Mapping[Chain, str] = {"ethereum": "Ethereum", "base": "Base"}


def check_configured(chain: Chain, site: Site) -> None:
    """Refuse a request for a chain without nodes, before it is paid for. Raises InvalidField."""
    if chain not in site.chains:
        served = tuple(name for name in CHAIN_IDS if name in site.chains)
        raise InvalidField(
            f"This service does not read {chain.capitalize()}: it has no node of it.", field="chain", suggestions=served
        )


MAX_READS = 100
"""Limit for one `read`."""

FAILURES = (
    "timeout",
    "dns_failure",
    "connection_refused",
    "tls_failure",
    "http_status",
    "bad_content",
    "rate_limited",
    "wrong_chain",
    "block_not_found",
    "not_configured",
)
"""Reasons of the UpstreamFailed that `Chains.read` raises.

`bad_content`: no JSON-RPC, an answer that is missing or too large, a result of the wrong type, or an error of the node for
which there is no value in the table above. `block_not_found`: no node has the block that was named. `not_configured`: this
installation has no node of the chain.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """eth_call, without a gas price: gas is free, and nodes do not ask whether the sender could pay it.

    Attributes:
        to: 0x and 40 hex digits, in lower case, as all addresses here. None only to replay a contract's creation.
        data: calldata.
        sender: `from`; None: it is left out, and the node takes the zero address.
        value: wei; 0 is left out.
        gas: limit; None: the node's.
        is_constant: the answer does not change (a token's decimals, symbol or name), so one of the last hour will do, whatever
            the block. Only answers in bytes are kept: a revert or a failure is not.
    """

    to: str | None
    data: bytes
    sender: str | None = None
    value: int = 0
    gas: int | None = None
    is_constant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateGas:
    """eth_estimateGas at the block. Attributes as `Call` has them."""

    to: str | None
    data: bytes
    sender: str | None = None
    value: int = 0


@dataclass(frozen=True, slots=True)
class Balance:
    """eth_getBalance."""

    address: str


@dataclass(frozen=True, slots=True)
class Nonce:
    """eth_getTransactionCount."""

    address: str


@dataclass(frozen=True, slots=True)
class Code:
    """eth_getCode.

    Attributes:
        is_constant: one of the last hour will do. Only code is kept: never b"", and never an EIP-7702 delegation (0xef0100),
            which the account may change. Not for a read of a block in the past.
    """

    address: str
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class Storage:
    """eth_getStorageAt. `slot` is from 0 to 2^256-1; it goes out as 0x and 64 digits, which every node reads alike."""

    address: str
    slot: int


@dataclass(frozen=True, slots=True)
class GasPrice:
    """eth_gasPrice: base fee and tip, as the node would propose it."""


@dataclass(frozen=True, slots=True)
class ChainId:
    """eth_chainId."""


@dataclass(frozen=True, slots=True)
class BlockTime:
    """The timestamp of eth_getBlockByNumber, without transactions. `number` has no relation to the block of the `read`."""

    number: int


@dataclass(frozen=True, slots=True)
class TransactionByHash:
    """eth_getTransactionByHash. `hash`: 0x and 64 hex digits in lower case.

    The object is handed on as it came (its fields are read and checked in jobs/engines/evm/transactions.py), except that
    one whose `hash` is another is `bad_content`. Where a node has none and there is another URL, ask that one before saying
    None: a pending transaction is known to some nodes only.
    """

    hash: str


@dataclass(frozen=True, slots=True)
class ReceiptByHash:
    """eth_getTransactionReceipt, as TransactionByHash; its `transactionHash` must be the one that was asked for."""

    hash: str


ChainCall = (
    Call
    | EstimateGas
    | Balance
    | Nonce
    | Code
    | Storage
    | GasPrice
    | ChainId
    | BlockTime
    | TransactionByHash
    | ReceiptByHash
)

Cause = Literal["revert", "out_of_gas", "invalid_opcode", "insufficient_funds", "halted"]


class Reverted(NamedTuple):
    """A call that the EVM undid. It has `data` and `cause`, and nothing of the node's text.

    Attributes:
        data: what REVERT returned; b"" when nothing, or when the node does not say.
        cause: `revert` whenever the node sent data or said "execution reverted". The others have no data and are read from the
            node's text: `out_of_gas` (also "gas required exceeds allowance"), `invalid_opcode`, `insufficient_funds` (the
            sender does not have `value`), and `halted` for whatever else stopped it.
    """

    data: bytes
    cause: Cause = "revert"


class Unavailable(NamedTuple):
    """No node has kept the state of that block: they have no archive ("missing trie node", "state pruned")."""


class ChainRead(NamedTuple):
    """Results in the order of the calls.

    Attributes:
        block: the block at which all state was read: the requested one, or the head.
        timestamp: the time of that block, in seconds since 1970.
    """

    block: int
    timestamp: int
    results: tuple[Any, ...]


class Chains(Protocol):
    """Nodes of the chains, by JSON-RPC."""

    def read(self, chain: Chain, calls: Sequence[ChainCall], *, block: int | None = None, deadline: float) -> ChainRead:
        """Reads, all at one block.

        Args:
            calls: at most MAX_READS; none at all asks for the block alone.
            block: its number; None: the newest one.
            deadline: on `time.monotonic()`'s clock.

        Raises:
            UpstreamFailed: with a reason out of FAILURES.
        """
        ...
