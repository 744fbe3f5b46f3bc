"""A Stellar RPC node: the newest ledger, what a call would do, and what became of a transaction."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import aiohttp
from stellar_sdk import (
    Account,
    Address,
    InvokeHostFunction,
    Operation,
    StrKey,
    TransactionBuilder,
    TransactionEnvelope,
)
from stellar_sdk import xdr as stellar_xdr
from stellar_sdk.client.aiohttp_client import AiohttpClient
from stellar_sdk.exceptions import SdkError
from stellar_sdk.soroban_rpc import GetTransactionResponse, SendTransactionResponse, SimulateTransactionResponse
from stellar_sdk.soroban_server_async import SorobanServerAsync

from facilitator.rails.stellar.ledger_keys import account_key, nonce_key
from shared.x402.networks import StellarToken
from shared.x402.stellar import ledger_seconds

RPC_TIMEOUT_S = 4.0
POLL_S = 0.25
"""How often the newest ledger is read while something waits for it."""
IDLE_POLL_S = 1.0
BASE_FEE = 100
STROOPS = 10_000_000
NODE_ERRORS = (
    SdkError,
    aiohttp.ClientError,
    OSError,
    TimeoutError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    AttributeError,
    AssertionError,
)
"""What a call to the node raises when it does not answer, or not as it should. The SDK lets all of these through."""

_NO_TRANSACTION = "0" * 64


@dataclass(frozen=True, slots=True)
class Height:
    """How far the network is.

    Attributes:
        ledger: the newest ledger.
        close_time: of the newest ledger, in Unix seconds.
        oldest: the first ledger whose transactions the node knows.
        ledger_s: how long a ledger takes, within the bounds of the scheme.
    """

    ledger: int
    close_time: int
    oldest: int
    ledger_s: float


@dataclass(frozen=True, slots=True)
class AccountState:
    """The stroops that an account may spend, and its last sequence number."""

    stroops: int
    sequence: int


class StellarNode:
    """One node. Every method raises what is in NODE_ERRORS."""

    def __init__(self, token: StellarToken, rpc_url: str) -> None:
        self.token = token
        self.server = SorobanServerAsync(
            rpc_url, AiohttpClient(request_timeout=RPC_TIMEOUT_S, post_timeout=RPC_TIMEOUT_S)
        )
        self.height: Height | None = None
        self.answered_at = 0.0
        self._next = asyncio.Event()

    async def close(self) -> None:
        """Close the connections."""
        await self.server.close()

    async def passphrase(self) -> str:
        """The passphrase of the network that the node serves."""
        return (await self.server.get_network()).passphrase

    async def look(self) -> Height:
        """Read the newest ledger, and wake up those who wait for one."""
        # This small request is the only one whose answer has the times of the newest and of the oldest ledger.
        known = await self.server.get_transaction(_NO_TRANSACTION)
        elapsed_s = known.latest_ledger_close_time - known.oldest_ledger_close_time
        ledger_s = ledger_seconds(known.latest_ledger - known.oldest_ledger, elapsed_s)
        height = Height(known.latest_ledger, known.latest_ledger_close_time, known.oldest_ledger, ledger_s)
        self.answered_at = time.monotonic()
        if self.height is None or height.ledger > self.height.ledger:
            self.height = height
            self._next.set()
            self._next = asyncio.Event()
        return height

    async def next_ledger(self) -> None:
        """Wait until a newer ledger was read, for two seconds at most."""
        try:
            async with asyncio.timeout(2.0):
                await self._next.wait()
        except TimeoutError:
            return

    async def accounts(self, names: Iterable[str]) -> dict[str, AccountState]:
        """The accounts that exist, by name."""
        found = {}
        for each in (await self.server.get_ledger_entries([account_key(name) for name in names])).entries or []:
            entry = stellar_xdr.LedgerEntryData.from_xdr(each.xdr).account
            assert entry is not None
            key = entry.account_id.account_id.ed25519
            assert key is not None
            reserve = (2 + entry.num_sub_entries.uint32) * STROOPS // 2
            name = StrKey.encode_ed25519_public_key(key.uint256)
            found[name] = AccountState(entry.balance.int64 - reserve, entry.seq_num.sequence_number.int64)
        return found

    async def spendable(self, name: str) -> int:
        """The stroops that an account may spend; 0 where it does not exist."""
        held = (await self.accounts([name])).get(name)
        return held.stroops if held else 0

    async def nonce_used_in(self, payer: str, nonce: int) -> int | None:
        """The ledger in which the nonce was used; None when it was not used, or when its use has expired."""
        answer = await self.server.get_ledger_entries([nonce_key(payer, nonce)])
        for entry in answer.entries or []:
            if entry.live_until_ledger is None or entry.live_until_ledger >= answer.latest_ledger:
                return entry.last_modified_ledger
        return None

    async def simulate(self, operation: InvokeHostFunction, source: str) -> SimulateTransactionResponse:
        """What the call would do in the next ledger, with its authorization."""
        transaction = self.transaction(Account(source, 0), [operation], BASE_FEE, valid_until=0)
        return await self.server.simulate_transaction(transaction)

    async def balance(self, account: str) -> int:
        """How much of the token an account has, in atomic units; 0 also where the contract does not say."""
        call = stellar_xdr.InvokeContractArgs(
            Address(self.token.contract).to_xdr_sc_address(),
            stellar_xdr.SCSymbol(b"balance"),
            [stellar_xdr.SCVal(stellar_xdr.SCValType.SCV_ADDRESS, address=Address(account).to_xdr_sc_address())],
        )
        function = stellar_xdr.HostFunction(
            stellar_xdr.HostFunctionType.HOST_FUNCTION_TYPE_INVOKE_CONTRACT, invoke_contract=call
        )
        answer = await self.simulate(InvokeHostFunction(function, []), account)
        if answer.error or not answer.results:
            return 0
        value = stellar_xdr.SCVal.from_xdr(answer.results[0].xdr).i128
        return 0 if value is None else (value.hi.int64 << 64) | value.lo.uint64

    def transaction(
        self, source: Account, operations: Sequence[Operation], fee: int, *, valid_until: int
    ) -> TransactionEnvelope:
        """An unsigned transaction of `source`, with its next sequence number.

        Args:
            fee: stroops for each operation.
            valid_until: Unix seconds; 0 for no end.
        """
        builder = TransactionBuilder(source, self.token.passphrase, fee).add_time_bounds(0, valid_until)
        for operation in operations:
            builder.append_operation(operation)
        return builder.build()

    async def send(self, envelope: str) -> SendTransactionResponse:
        """Send a signed transaction."""
        return await self.server.send_transaction(envelope)

    async def find(self, transaction_hash: str) -> GetTransactionResponse:
        """What became of a transaction."""
        return await self.server.get_transaction(transaction_hash)

    async def inclusion_fee(self) -> int:
        """Stroops for one operation, with which nine of ten get into a ledger."""
        return max(BASE_FEE, (await self.server.get_fee_stats()).soroban_inclusion_fee.p90)
