"""A Solana node: the few requests of a settlement, each with a time limit.

solders' readers of answers are not used: they take unknown JSON-RPC errors for answers, and panic over others, which is no
Exception.
"""

import base64
import time
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec

from facilitator import json_rpc
from facilitator.json_rpc import JsonRpcNode
from facilitator.settling import CannotSend
from shared.nodes.json_rpc import RpcError

MOST_CONNECTIONS = 32
NODE_ERRORS = (*json_rpc.NODE_ERRORS, msgspec.MsgspecError)
"""What a call to the node raises when it does not answer, or not as it should."""

_CONFIRMED = {"commitment": "confirmed"}
_CLOCK = "SysvarC1ock11111111111111111111111111111111"
# Preflight, signatures, node behind, precompiles, unknown method, parameters. After other errors it may have been sent.
_UNSENT = frozenset({-32002, -32003, -32005, -32006, -32013, -32601, -32602})

Answer = TypeVar("Answer")


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """What became of a transaction.

    Args:
        confirmations: blocks on top of its own; None for a final transaction.
        err: why it failed in its block; None when it succeeded.
    """

    confirmations: int | None
    err: Any
    confirmation_status: str | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether two thirds of the stake have voted for its block. No such block was ever taken back."""
        return self.confirmations is None or self.confirmation_status in ("confirmed", "finalized")


PROCESSED = Status(confirmations=0, err=None, confirmation_status="processed")
"""The transaction is in a block that the network may still abandon."""


class Signed(msgspec.Struct, frozen=True):
    """An entry of an account's history."""

    signature: str
    err: Any


class _Amount(msgspec.Struct, frozen=True):
    amount: str


class TokenBalance(msgspec.Struct, frozen=True, rename="camel"):
    """The balance of a token account before or after a transaction."""

    account_index: int
    mint: str
    ui_token_amount: _Amount
    owner: str = ""


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    err: Any
    pre_token_balances: list[TokenBalance]
    post_token_balances: list[TokenBalance]


class FoundTransaction(msgspec.Struct, frozen=True):
    """A transaction in a block."""

    transaction: tuple[str, str]
    meta: _Meta

    @property
    def raw(self) -> bytes:
        """The serialized transaction. Raises ValueError."""
        return base64.b64decode(self.transaction[0], validate=True)


class Account(msgspec.Struct, frozen=True):
    """The state of an account."""

    lamports: int
    owner: str
    data: tuple[str, str]

    @property
    def content(self) -> bytes:
        """The decoded data. Raises ValueError."""
        return base64.b64decode(self.data[0], validate=True)


class _Context(msgspec.Struct, frozen=True):
    slot: int


class _Value(msgspec.Struct, Generic[Answer], frozen=True):
    value: Answer


class _Accounts(msgspec.Struct, frozen=True):
    context: _Context
    value: list[Account | None]


class _Simulation(msgspec.Struct, frozen=True):
    err: Any


class SolanaNode:
    """One node. It answers about confirmed blocks. Every method raises what is in NODE_ERRORS."""

    def __init__(self, rpc_url: str) -> None:
        self._node = JsonRpcNode(rpc_url, connections=MOST_CONNECTIONS)
        self._answered_at = time.monotonic()

    @property
    def silent_s(self) -> float:
        """Seconds since the last answer."""
        return time.monotonic() - self._answered_at

    async def close(self) -> None:
        """Close the connections."""
        await self._node.close()

    async def genesis_hash(self) -> str:
        """The genesis hash of the network that the node serves."""
        return await self._ask(str, "getGenesisHash")

    async def balance(self, address: str) -> int:
        """The lamports of an account."""
        return (await self._ask(_Value[int], "getBalance", address, _CONFIRMED)).value

    async def accounts(self, addresses: Sequence[str]) -> list[Account | None]:
        """The state of each account; None for one that does not exist."""
        return (await self._accounts(addresses)).value

    async def clock(self) -> tuple[int, int]:
        """The slot of the newest block, and its time in Unix seconds."""
        answer = await self._accounts([_CLOCK])
        clock = answer.value[0]
        if clock is None or len(clock.content) != 40:
            raise ValueError("the node has no clock")
        return answer.context.slot, int.from_bytes(clock.content[32:], "little", signed=True)

    async def simulate(self, raw: bytes) -> Any:
        """Why the transaction would fail, its signatures included; None when it would succeed."""
        config = {**_CONFIRMED, "encoding": "base64", "sigVerify": True}
        return (await self._ask(_Value[_Simulation], "simulateTransaction", _text(raw), config)).value.err

    async def send(self, raw: bytes) -> None:
        """Send a transaction that was simulated before. The node does not simulate it again.

        Raises:
            CannotSend: the node refused it.
        """
        config = {"encoding": "base64", "skipPreflight": True, "preflightCommitment": "confirmed"}
        try:
            await self._ask(str, "sendTransaction", _text(raw), config)
        except RpcError as error:
            if error.code in _UNSENT:
                raise CannotSend(error.code) from None
            raise

    async def statuses(self, signatures: Sequence[str], *, search: bool = False) -> list[Status | None]:
        """The statuses of up to 256 transactions; None for an unknown one.

        Args:
            search: also look for transactions that are older than some minutes. That takes a node longer.
        """
        config = {"searchTransactionHistory": search}
        found = (await self._ask(_Value[list[Status | None]], "getSignatureStatuses", list(signatures), config)).value
        if len(found) != len(signatures):
            raise ValueError("not a status for each")
        return found

    async def history(self, address: str, *, limit: int, slot: int) -> list[Signed]:
        """The newest transactions of an account, as of `slot` or later."""
        config = {**_CONFIRMED, "limit": limit, "minContextSlot": slot}
        return await self._ask(list[Signed], "getSignaturesForAddress", address, config)

    async def transaction(self, signature: str) -> FoundTransaction | None:
        """A transaction in a block; None when it is in none."""
        config = {**_CONFIRMED, "encoding": "base64", "maxSupportedTransactionVersion": 0}
        return await self._ask(FoundTransaction | None, "getTransaction", signature, config)  # type: ignore[arg-type]  # a union

    async def _accounts(self, addresses: Sequence[str]) -> _Accounts:
        config = {**_CONFIRMED, "encoding": "base64"}
        answer = await self._ask(_Accounts, "getMultipleAccounts", list(addresses), config)
        if len(answer.value) != len(addresses):
            raise ValueError("not an account for each")
        return answer

    async def _ask(self, kind: type[Answer], method: str, *params: Any) -> Answer:
        answer = msgspec.convert(await self._node.ask(method, *params), kind)
        self._answered_at = time.monotonic()
        return answer


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
