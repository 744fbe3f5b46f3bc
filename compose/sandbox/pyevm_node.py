"""A one-node EVM chain in this process, on py-evm: every transaction is mined at once into a block of its own.

Blocks carry the real clock, and so do calls on the newest block, because EIP-3009 windows are compared with it. Not safe
from several threads: the server holds a lock around every call. Everything is in memory and ends with the process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import cast

from eth.abc import BlockAPI, BlockHeaderAPI, ComputationAPI, ReceiptAPI, SignedTransactionAPI, StateAPI
from eth.chains.base import MiningChain
from eth.constants import BLANK_ROOT_HASH, POST_MERGE_DIFFICULTY, POST_MERGE_NONCE
from eth.db import get_db_backend
from eth.exceptions import Revert
from eth.vm.forks.london.transactions import UnsignedDynamicFeeTransaction
from eth.vm.forks.prague import PragueVM
from eth.vm.forks.prague.transactions import PragueTransactionBuilder
from eth.vm.spoof import SpoofTransaction
from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_typing import Address, BlockNumber, Hash32
from eth_utils.exceptions import ValidationError

from compose.sandbox.pyevm_pool import Pool
from compose.sandbox.scene_state import GAS_LIMIT, Account
from shared.json_rpc import REVERTED, RpcError

BLOCK_S = 10.0
"""Age of the newest block at which an empty one follows when somebody asks: a node whose head is old is not believed."""
_ERROR_STRING = bytes.fromhex("08c379a0")


class _SandboxVM(PragueVM):
    @classmethod
    def validate_header(cls, header: BlockHeaderAPI, parent_header: BlockHeaderAPI) -> None:
        # Two blocks of one second are allowed. Were they not, every burst of payments would push the chain's clock ahead
        # of the real one, and authorizations would expire early.
        super().validate_header(header, parent_header.copy(timestamp=parent_header.timestamp - 1))


class _SandboxChain(MiningChain):
    vm_configuration = ((BlockNumber(0), _SandboxVM),)


@dataclass(frozen=True, slots=True)
class Message:
    """What a call or an estimate executes, without a signature."""

    sender: Address
    to: Address
    data: bytes
    value: int
    gas: int = GAS_LIMIT


@dataclass(frozen=True, slots=True)
class Mined:
    """A transaction in its block. It is the only one there."""

    transaction: SignedTransactionAPI
    receipt: ReceiptAPI
    block: BlockAPI
    created: Address | None

    @property
    def gas_price(self) -> int:
        """What was paid per gas, in wei."""
        base_fee = int(self.block.header.base_fee_per_gas or 0)
        tip = min(self.transaction.max_priority_fee_per_gas, self.transaction.max_fee_per_gas - base_fee)
        return base_fee + tip


class Node:
    """The chain and what waits for it.

    Args:
        accounts: of the first block.
        began: the time of the first block, in seconds since 1970.
    """

    def __init__(self, chain_id: int, accounts: Mapping[Address, Account], began: int) -> None:
        self.chain_id = chain_id
        genesis = {
            "difficulty": POST_MERGE_DIFFICULTY,
            "nonce": POST_MERGE_NONCE,
            "gas_limit": GAS_LIMIT,
            "timestamp": began,
            "receipt_root": BLANK_ROOT_HASH,
            "transaction_root": BLANK_ROOT_HASH,
        }
        state = {
            address: {"balance": account.balance, "code": account.code, "nonce": 0, "storage": account.storage}
            for address, account in accounts.items()
        }
        chain = type("Chain", (_SandboxChain,), {"chain_id": chain_id})
        # py-evm says less of its types than it keeps to.
        self._chain: _SandboxChain = chain.from_genesis(get_db_backend(), genesis, state)  # type: ignore[attr-defined]
        self._pool = Pool()
        self._mined: dict[Hash32, Mined] = {}
        self.blocks: list[BlockAPI] = [self._chain.get_canonical_block_by_number(BlockNumber(0))]

    def send(self, raw: bytes, timestamp: int | None = None) -> Hash32:
        """Mine a signed transaction, and every waiting one whose turn has come by it. A transaction ahead of its turn waits.

        Args:
            timestamp: of its block, not before that of the newest one; None: now.

        Raises:
            RpcError: it can never be mined. (One that reverts is mined, as on any chain.)
        """
        transaction = self._decode(raw)
        expected = self.nonce(transaction.sender)
        if transaction.nonce < expected:
            message = f"nonce too low: next nonce {expected}, tx nonce {transaction.nonce}"
            raise RpcError(-32000, "already known" if transaction.hash in self._mined else message)
        if transaction.nonce > expected:
            self._pool.add(transaction)
            return transaction.hash
        self._mine(transaction, timestamp)
        self._mine_successors(transaction)
        return transaction.hash

    def keep_up(self) -> None:
        """Mine an empty block when the newest one is old."""
        if self.blocks[-1].header.timestamp + BLOCK_S < time.time():
            self.mine_empty()

    def mine_empty(self, timestamp: int | None = None) -> None:
        """Mine a block without transactions. `timestamp` as in `send`."""
        self._chain.header = self._next_header(timestamp)
        result, _, _ = self._chain.mine_all([], mix_hash=os.urandom(32))
        self.blocks.append(result.imported_block)

    def mined(self, transaction_hash: Hash32) -> Mined | None:
        """The transaction of that hash, once it is in a block."""
        return self._mined.get(transaction_hash)

    def waiting(self, transaction_hash: Hash32) -> SignedTransactionAPI | None:
        """The transaction of that hash, while it waits for its turn."""
        return self._pool.find(transaction_hash)

    def call(self, message: Message, block: int | None) -> bytes:
        """Execute without a trace and return the output. `block` None is the newest state at the clock's time.

        Raises:
            RpcError: it reverted (code 3, with the reason and the data) or could not be executed.
        """
        return self._execute(message, block).output

    def estimate(self, message: Message, block: int | None) -> int:
        """The gas limit that is just enough, to 1%.

        Raises:
            RpcError: it fails with any gas.
        """
        used = message.gas - self._execute(message, block).get_gas_remaining()
        # Nearly always that is the answer. A contract that keeps gas back from its calls needs more than it uses.
        if self._succeeds(message, used, block):
            return used
        too_little, enough = used, message.gas
        while enough - too_little > enough // 100:
            middle = (too_little + enough) // 2
            if self._succeeds(message, middle, block):
                enough = middle
            else:
                too_little = middle
        return enough

    def nonce(self, account: Address, block: int | None = None) -> int:
        """How many transactions the account has had mined."""
        return self.state(block).get_nonce(account)

    def state(self, block: int | None = None) -> StateAPI:
        """The state after a block, for reading."""
        return self._chain.get_vm(self._header(block)).state

    def next_base_fee(self) -> int:
        """The base fee of the next block, in wei."""
        return int(self._next_header().base_fee_per_gas or 0)

    def _header(self, block: int | None) -> BlockHeaderAPI:
        if block is None:
            return self._next_header()
        if not 0 <= block < len(self.blocks):
            raise RpcError(-32000, "block not found")
        return self.blocks[block].header

    def _next_header(self, timestamp: int | None = None) -> BlockHeaderAPI:
        head = self.blocks[-1].header
        wanted = int(time.time()) if timestamp is None else timestamp
        return self._chain.create_header_from_parent(head, timestamp=max(wanted, head.timestamp), gas_limit=GAS_LIMIT)

    def _decode(self, raw: bytes) -> SignedTransactionAPI:
        try:
            transaction = PragueTransactionBuilder.decode(raw)
            transaction.validate()
            transaction.check_signature_validity()
        except Exception as error:  # py-evm lets its decoders' own errors through, and the bytes are the caller's
            raise RpcError(-32000, f"invalid transaction: {error}") from error
        if transaction.chain_id != self.chain_id:
            raise RpcError(-32000, f"invalid chain id for signer: have {transaction.chain_id} want {self.chain_id}")
        return transaction

    def _mine(self, transaction: SignedTransactionAPI, timestamp: int | None = None) -> None:
        self._require_funds(transaction)
        self._chain.header = self._next_header(timestamp)
        try:
            result, (receipt,), (computation,) = self._chain.mine_all([transaction], mix_hash=os.urandom(32))
        except ValidationError as error:
            raise RpcError(-32000, str(error)) from error
        created = computation.msg.storage_address if computation.msg.is_create else None
        self.blocks.append(result.imported_block)
        self._mined[transaction.hash] = Mined(transaction, receipt, result.imported_block, created)

    def _mine_successors(self, transaction: SignedTransactionAPI) -> None:
        while successor := self._pool.take(transaction.sender, transaction.nonce + 1):
            try:
                self._mine(successor)
            except RpcError:
                # Like a real node's: it was accepted on trust, and drops out when its turn shows it to be impossible.
                return
            transaction = successor

    def _require_funds(self, transaction: SignedTransactionAPI) -> None:
        cost = transaction.gas * transaction.max_fee_per_gas + transaction.value
        balance = self.state().get_balance(transaction.sender)
        if balance < cost:
            raise RpcError(-32000, f"insufficient funds for gas * price + value: have {balance} want {cost}")

    def _execute(self, message: Message, block: int | None) -> ComputationAPI:
        try:
            state = self._costless(block)
            computation = state.apply_transaction(self._unsigned(message, state.get_nonce(message.sender)))
        except ValidationError as error:
            raise RpcError(-32000, str(error)) from error
        if computation.is_error:
            if isinstance(computation.error, Revert):
                raise _reverted(computation.output)
            raise RpcError(-32000, f"{type(computation.error).__name__}: {computation.error}")
        return computation

    def _succeeds(self, message: Message, gas: int, block: int | None) -> bool:
        try:
            self._execute(replace(message, gas=gas), block)
        except RpcError:
            return False
        return True

    def _costless(self, block: int | None) -> StateAPI:
        """A state in which gas is free, so that anybody may be the sender. What happens in it is never persisted."""
        return self._chain.get_vm(self._header(block).copy(base_fee_per_gas=0)).state

    def _unsigned(self, message: Message, nonce: int) -> SignedTransactionAPI:
        """The message in the clothes of a transaction, which is what py-evm executes."""
        unsigned = UnsignedDynamicFeeTransaction(
            self.chain_id,
            nonce,
            0,  # max_priority_fee_per_gas
            0,  # max_fee_per_gas
            message.gas,
            message.to,
            message.value,
            message.data,
            (),  # access_list
        )
        return cast(SignedTransactionAPI, SpoofTransaction(unsigned, from_=message.sender))


def _reverted(data: bytes) -> RpcError:
    reason = ""
    if data.startswith(_ERROR_STRING):
        with suppress(DecodingError):
            reason = ": " + decode(["string"], data[4:])[0]
    return RpcError(REVERTED, "execution reverted" + reason, "0x" + data.hex())
