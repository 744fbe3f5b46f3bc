"""The channel accounts, from which settlements are sent.

The network takes a second transaction of an account only when the first is in a ledger, five seconds later. So there are
several accounts, and each sends one transaction at a time. They give their sequence numbers and nothing else: the settler
account pays the fee of each transaction (a fee bump, CAP-15). Their keys are derived from the settler's, and each holds one
lumen, because an account must.
"""

import asyncio
import hashlib
import hmac
import logging
import time
from dataclasses import dataclass, field

from stellar_sdk import Account, CreateAccount, InvokeHostFunction, Keypair, TransactionBuilder, TransactionEnvelope
from stellar_sdk import xdr as stellar_xdr
from stellar_sdk.soroban_rpc import GetTransactionResponse, GetTransactionStatus, SendTransactionStatus

from facilitator.balance import XLM
from facilitator.rails.stellar.node import BASE_FEE, NODE_ERRORS, STROOPS, AccountState, StellarNode
from facilitator.settling import CannotSend

log = logging.getLogger(__name__)

VALID_S = 30
"""How long a transaction is valid. An authorization is valid for longer, so that a second transaction can still carry it."""
AGAIN_AFTER_S = 4.0
"""A transaction that is in no ledger by then is sent again. The network executes it once."""
OPENED_WITHIN_S = 25.0
_CHANNEL_LUMENS = "1"
_CHANNEL_STROOPS = STROOPS
_BAD_SEQUENCE = stellar_xdr.TransactionResultCode.txBAD_SEQ


@dataclass(eq=False, slots=True)
class Channel:
    """One account. `sequence` is its last sequence number; None when the node must be asked."""

    key: Keypair = field(repr=False)
    sequence: int | None = None


@dataclass(eq=False, slots=True)
class Sent:
    """A transaction that was sent. The result of `end` is None when it is in no ledger and never will be."""

    hash: str
    envelope: str
    valid_until: int
    end: asyncio.Task[GetTransactionResponse | None]


class Channels:
    """Numbers, signs and sends transactions, one at a time from each account.

    Args:
        count: how many transactions may be unconfirmed at once.
    """

    def __init__(self, node: StellarNode, settler: Keypair, count: int) -> None:
        self._node = node
        self._settler = settler
        self._channels = [Channel(_derived(settler, number)) for number in range(count)]
        self._free: asyncio.Queue[Channel] = asyncio.Queue()
        self._underway: set[asyncio.Task[GetTransactionResponse | None]] = set()
        self.is_open = False
        self.unavailable_reason = "there are no channel accounts yet"

    @property
    def addresses(self) -> tuple[str, ...]:
        """The settler account and its channel accounts."""
        return (self._settler.public_key, *(each.key.public_key for each in self._channels))

    @property
    def is_busy(self) -> bool:
        """Whether a transaction is unconfirmed."""
        return bool(self._underway)

    async def open(self) -> None:
        """Create the missing accounts, then take all into use. `unavailable_reason` says why that failed.

        Raises what is in NODE_ERRORS.
        """
        held = await self._node.accounts(self.addresses)
        settler = held.get(self._settler.public_key)
        missing = [each.key.public_key for each in self._channels if each.key.public_key not in held]
        if missing and not await self._create(missing, settler):
            return
        for channel in self._channels:
            found = held.get(channel.key.public_key)
            channel.sequence = found.sequence if found else None
            self._free.put_nowait(channel)
        self.is_open, self.unavailable_reason = True, ""

    async def close(self) -> None:
        """Stop following the transactions."""
        for task in self._underway:
            task.cancel()
        await asyncio.gather(*self._underway, return_exceptions=True)

    async def send(
        self,
        operation: InvokeHostFunction,
        data: stellar_xdr.SorobanTransactionData,
        inclusion_fee: int,
        *,
        give_up_at: float,
    ) -> Sent:
        """Send one call. Returns when the node has taken it, or may have.

        Args:
            inclusion_fee: stroops for each of the two operations that count: the call, and the fee bump.
            give_up_at: monotonic seconds until which to wait for a free account and for the node.

        Raises:
            CannotSend: nothing was sent.
            What is in NODE_ERRORS; nothing was sent.
        """
        if not self.is_open:
            raise CannotSend(self.unavailable_reason)
        last = "every channel account has a transaction on its way"
        while True:
            try:
                async with asyncio.timeout(max(0.0, give_up_at - time.monotonic())):
                    channel = await self._free.get()
            except TimeoutError:
                raise CannotSend(last) from None
            sent = None
            try:
                signed = await self._sign(channel, operation, data, inclusion_fee)
                sent, last = await self._submit(channel, *signed)
            finally:
                if sent is None:
                    self._free.put_nowait(channel)
            if sent is not None:
                return sent
            await asyncio.sleep(0.1)

    async def _sign(
        self,
        channel: Channel,
        operation: InvokeHostFunction,
        data: stellar_xdr.SorobanTransactionData,
        inclusion_fee: int,
    ) -> tuple[str, str, int]:
        """Sign the call. The result is (hash, envelope, the Unix second until which it is valid)."""
        if channel.sequence is None:
            channel.sequence = (await self._node.accounts([channel.key.public_key]))[channel.key.public_key].sequence
        valid_until = int(time.time()) + VALID_S
        inner = self._node.transaction(
            Account(channel.key.public_key, channel.sequence), [operation], BASE_FEE, valid_until=valid_until
        )
        inner.transaction.soroban_data = data
        inner.transaction.fee = BASE_FEE + data.resource_fee.int64
        inner.sign(channel.key)
        passphrase = self._node.token.passphrase
        bump = TransactionBuilder.build_fee_bump_transaction(self._settler, inclusion_fee, inner, passphrase)
        bump.transaction.fee = 2 * inclusion_fee + data.resource_fee.int64
        bump.sign(self._settler)
        return bump.hash_hex(), bump.to_xdr(), valid_until

    async def _submit(self, channel: Channel, tx_hash: str, envelope: str, valid_until: int) -> tuple[Sent | None, str]:
        """Send a signed transaction. The result is (None, why not) when nothing was sent and another attempt may succeed."""
        try:
            answer = await self._node.send(envelope)
        except NODE_ERRORS as error:
            # The node may have it. From here on only the ledgers show what becomes of it.
            log.warning("sending %s: %s", tx_hash, type(error).__name__)
            return self._follow(channel, tx_hash, envelope, valid_until), ""
        if answer.status in (SendTransactionStatus.PENDING, SendTransactionStatus.DUPLICATE):
            return self._follow(channel, tx_hash, envelope, valid_until), ""
        channel.sequence = None
        if answer.status == SendTransactionStatus.TRY_AGAIN_LATER:
            # An earlier run sent a transaction of this account, or the node is busy.
            return None, "the network does not take a transaction now"
        code = _code(answer.error_result_xdr)
        if code != _BAD_SEQUENCE:
            raise CannotSend(f"the network refuses the transaction: {code.name if code is not None else 'ERROR'}")
        return None, "the channel accounts are used by somebody else"

    def _follow(self, channel: Channel, tx_hash: str, envelope: str, valid_until: int) -> Sent:
        assert channel.sequence is not None
        end = asyncio.create_task(self._until_ended(channel, tx_hash, envelope, valid_until), name=f"end-{tx_hash[:8]}")
        self._underway.add(end)
        end.add_done_callback(self._underway.discard)
        return Sent(tx_hash, envelope, valid_until, end)

    async def _until_ended(
        self, channel: Channel, tx_hash: str, envelope: str, valid_until: int
    ) -> GetTransactionResponse | None:
        """Wait until the transaction is in a ledger or the ledgers have passed its end. Then free its channel."""
        sent_at = time.monotonic()
        while True:
            await self._node.next_ledger()
            try:
                found = await self._node.find(tx_hash)
                if found.status != GetTransactionStatus.NOT_FOUND:
                    break
                if found.latest_ledger_close_time > valid_until:
                    log.warning("transaction %s got into no ledger in time", tx_hash)
                    break
                if time.monotonic() - sent_at > AGAIN_AFTER_S:
                    sent_at = time.monotonic()
                    await self._node.send(envelope)
            except NODE_ERRORS as error:
                log.debug("asking for %s: %s", tx_hash, type(error).__name__)
        channel.sequence = None if found.status == GetTransactionStatus.NOT_FOUND else (channel.sequence or 0) + 1
        self._free.put_nowait(channel)
        return None if found.status == GetTransactionStatus.NOT_FOUND else found

    async def _create(self, missing: list[str], settler: AccountState | None) -> bool:
        """Create accounts in one transaction of the settler's. False when the settler's balance is too small."""
        needed = len(missing) * (_CHANNEL_STROOPS + 2 * BASE_FEE)
        if settler is None or settler.stroops < needed:
            named = self._settler.public_key
            self.unavailable_reason = (
                f"the settler account {named} needs {XLM.text(needed)} for {len(missing)} channel accounts"
            )
            return False
        operations = [CreateAccount(name, _CHANNEL_LUMENS) for name in missing]
        source = Account(self._settler.public_key, settler.sequence)
        fee = 2 * BASE_FEE
        envelope = self._node.transaction(source, operations, fee, valid_until=int(time.time()) + VALID_S)
        envelope.sign(self._settler)
        await self._confirmed(envelope)
        log.warning("%d channel accounts were made", len(missing))
        return True

    async def _confirmed(self, envelope: TransactionEnvelope) -> None:
        answer = await self._node.send(envelope.to_xdr())
        if answer.status not in (SendTransactionStatus.PENDING, SendTransactionStatus.DUPLICATE):
            raise TimeoutError(f"the network does not take the new channel accounts: {answer.status.value}")
        async with asyncio.timeout(OPENED_WITHIN_S):
            while True:
                found = await self._node.find(answer.hash)
                if found.status != GetTransactionStatus.NOT_FOUND:
                    break
                await asyncio.sleep(0.2)
        if found.status != GetTransactionStatus.SUCCESS:
            raise TimeoutError("the new channel accounts were not made")


def _derived(settler: Keypair, number: int) -> Keypair:
    """The key of a channel account: the same in every run, and known only to those who know the settler's key."""
    seed = hmac.new(settler.raw_secret_key(), f"coinslot stellar channel {number}".encode(), hashlib.sha256)
    return Keypair.from_raw_ed25519_seed(seed.digest())


def _code(result: str | None) -> stellar_xdr.TransactionResultCode | None:
    """Why a transaction was refused: the code of the inner transaction, when there is one."""
    if not result:
        return None
    read = stellar_xdr.TransactionResult.from_xdr(result).result
    return read.inner_result_pair.result.result.code if read.inner_result_pair else read.code
