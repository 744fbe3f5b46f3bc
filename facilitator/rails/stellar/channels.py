"""The accounts that settlements are sent from. One account has one transaction on its way at most, so there are some of them.

The network takes a second transaction of an account only after the first is in a ledger, five seconds later. Channel accounts
give their sequence numbers and nothing else: the settler pays the fee of each transaction (a fee bump, CAP-15), and only it has
to be filled up. Their keys follow from the settler's, and each holds one lumen, without which there is no account.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from dataclasses import dataclass, field

from stellar_sdk import Account, CreateAccount, InvokeHostFunction, Keypair, TransactionBuilder, TransactionEnvelope
from stellar_sdk import xdr as stellar_xdr
from stellar_sdk.soroban_rpc import GetTransactionResponse, GetTransactionStatus, SendTransactionStatus

from facilitator.rails.stellar.node import BASE_FEE, NODE_ERRORS, STROOPS, Held, StellarNode

log = logging.getLogger(__name__)

VALID_S = 30
"""How long a transaction can get into a ledger. Less than an authorization, so that another one can still take its place."""
AGAIN_AFTER_S = 4.0
"""What is in no ledger by then is handed in again: the same transaction, which counts once."""
OPENED_WITHIN_S = 25.0
_CHANNEL_STROOPS = STROOPS
_BAD_SEQUENCE = stellar_xdr.TransactionResultCode.txBAD_SEQ


class CannotSend(Exception):
    """Nothing was sent. The text says why."""


@dataclass(eq=False, slots=True)
class Channel:
    """One account. `sequence` is its last number; None when it has to be asked for."""

    key: Keypair = field(repr=False)
    sequence: int | None = None


@dataclass(eq=False, slots=True)
class Sent:
    """A transaction on its way, and whatever becomes of it: None when it is in no ledger and never will be."""

    hash: str
    envelope: str
    valid_until: int
    fate: asyncio.Task[GetTransactionResponse | None]


class Channels:
    """Numbers, signs and sends, each account one transaction at a time.

    Args:
        count: how many payments may be on their way at once.
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
        """The settler, and its channels."""
        return (self._settler.public_key, *(each.key.public_key for each in self._channels))

    @property
    def is_busy(self) -> bool:
        """Whether anything is on its way."""
        return bool(self._underway)

    async def open(self) -> None:
        """See that all of them are there; make those that are not. `complaint` says why there are none.

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
        """Follow nothing any more."""
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
        """Send one call. Returns once a node has taken it, or may have.

        Args:
            inclusion_fee: stroops for each of the two that count: the call, and the fee bump.
            give_up_at: monotonic seconds until which to wait for a free channel and for the node.

        Raises:
            CannotSend: nothing was sent.
            What is in NODE_ERRORS, and nothing was sent.
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
                sent, last = await self._hand_in(channel, *signed)
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
        """(hash, envelope, until when it is valid)."""
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

    async def _hand_in(
        self, channel: Channel, tx_hash: str, envelope: str, valid_until: int
    ) -> tuple[Sent | None, str]:
        """The transaction on its way; or None, and why there is none: another attempt may go better."""
        try:
            answer = await self._node.send(envelope)
        except NODE_ERRORS as error:
            # It may have it: from here on only the ledgers say.
            log.warning("sending %s: %s", tx_hash, type(error).__name__)
            return self._follow(channel, tx_hash, envelope, valid_until), ""
        if answer.status in (SendTransactionStatus.PENDING, SendTransactionStatus.DUPLICATE):
            return self._follow(channel, tx_hash, envelope, valid_until), ""
        channel.sequence = None
        if answer.status == SendTransactionStatus.TRY_AGAIN_LATER:
            # Something of an earlier run is on its way from this account, or the node has too much to do.
            return None, "the network does not take a transaction now"
        code = _code(answer.error_result_xdr)
        if code != _BAD_SEQUENCE:
            raise CannotSend(f"the network refuses the transaction: {code.name if code is not None else 'ERROR'}")
        return None, "the channel accounts are used by somebody else"

    def _follow(self, channel: Channel, tx_hash: str, envelope: str, valid_until: int) -> Sent:
        assert channel.sequence is not None
        fate = asyncio.create_task(self._fate(channel, tx_hash, envelope, valid_until), name=f"fate-{tx_hash[:8]}")
        self._underway.add(fate)
        fate.add_done_callback(self._underway.discard)
        return Sent(tx_hash, envelope, valid_until, fate)

    async def _fate(
        self, channel: Channel, tx_hash: str, envelope: str, valid_until: int
    ) -> GetTransactionResponse | None:
        """Until it is in a ledger, or the ledgers have passed its time: then its channel is free again."""
        handed_in_at = time.monotonic()
        while True:
            await self._node.next_ledger()
            try:
                found = await self._node.find(tx_hash)
                if found.status != GetTransactionStatus.NOT_FOUND:
                    break
                if found.latest_ledger_close_time > valid_until:
                    log.warning("transaction %s got into no ledger in time", tx_hash)
                    break
                if time.monotonic() - handed_in_at > AGAIN_AFTER_S:
                    handed_in_at = time.monotonic()
                    await self._node.send(envelope)
            except NODE_ERRORS as error:
                log.debug("asking for %s: %s", tx_hash, type(error).__name__)
        channel.sequence = None if found.status == GetTransactionStatus.NOT_FOUND else (channel.sequence or 0) + 1
        self._free.put_nowait(channel)
        return None if found.status == GetTransactionStatus.NOT_FOUND else found

    async def _create(self, missing: list[str], settler: Held | None) -> bool:
        """One transaction of the settler's. False when it has not enough for that."""
        needed = len(missing) * (_CHANNEL_STROOPS + 2 * BASE_FEE)
        if settler is None or settler.stroops < needed:
            named, lumens = self._settler.public_key, _lumens(needed)
            self.unavailable_reason = (
                f"the settler account {named} needs {lumens} XLM for {len(missing)} channel accounts"
            )
            return False
        operations = [CreateAccount(name, _lumens(_CHANNEL_STROOPS)) for name in missing]
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
    """A channel's key: the same in every run, and nobody's who has not the settler's."""
    seed = hmac.new(settler.raw_secret_key(), f"coinslot stellar channel {number}".encode(), hashlib.sha256)
    return Keypair.from_raw_ed25519_seed(seed.digest())


def _code(result: str | None) -> stellar_xdr.TransactionResultCode | None:
    """Why a transaction was refused, of a fee bump or of what is in it."""
    if not result:
        return None
    read = stellar_xdr.TransactionResult.from_xdr(result).result
    return read.inner_result_pair.result.result.code if read.inner_result_pair else read.code


def _lumens(stroops: int) -> str:
    return f"{stroops // STROOPS}.{stroops % STROOPS:07d}"
