"""Claims what channels owe, pays their payers back, and watches the chain for payers who leave.

It signs only what the ledger says: of a channel never more than was charged, and never more than a voucher allows. Only one
process of an installation does this. What it sends may be sent twice: the contract ignores a claim that says nothing new.
"""

import dataclasses
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from coincurve import PrivateKey

from facilitator.claimer.chain import Chain
from facilitator.claimer.ledger import ChainState, Channel, ClaimerLedger
from facilitator.claimer.relay import Relay
from facilitator.json_rpc import CLIENT_ERRORS
from facilitator.rails.evm.channels import MOST_ROWS
from shared.failpoints import reach
from shared.ledger.channels import Looked, ReadRequest
from shared.x402 import evm_channel_ids
from shared.x402.evm import address_of, checksummed
from shared.x402.evm_channel_ids import CLAIM_ROW_GAS, ChannelConfig
from shared.x402.networks import EvmToken
from shared.x402.wire import Settlement

log = logging.getLogger(__name__)

CLAIM_GAS, PAYOUT_GAS = 37_000, 66_000
"""Of a claim beside its channels, and of a payout. Measured on the contract's code: 36,200; 46,427 (63,527 the first time)."""
OVERLAP_BLOCKS = 20
"""Blocks whose events are looked for once more: the chain may have replaced them."""
MOST_ALL = 10_000
"""Channels that are claimed of when the process ends."""
CHECK_S = 60.0
"""When a claim is looked for in a final block."""
WAIT_S = 600.0
"""When a channel is looked at again whose charges are not worth their gas, or whose claim is refused."""
PAYOUT_FACTOR = 20
"""What was claimed is paid out once it is worth so many times the gas of that."""
_UNDECIDED = ("settlement_pending", "unexpected_settle_error")


@dataclass(frozen=True, slots=True)
class Terms:
    """What the settings say.

    Attributes:
        ether_price: USDC for one ether.
        withdraw_delay, min_deposit: what the API offers.
        claim_value, claim_within_s: when a channel is claimed: when it owes so much, or when its oldest charge is so old.
    """

    pay_to: str
    ether_price: float
    withdraw_delay: int
    min_deposit: int
    claim_value: int
    claim_within_s: float


class Claimer:
    """The one claimer of an installation.

    Args:
        key: of the authorizer.
    """

    def __init__(
        self, ledger: ClaimerLedger, chain: Chain, relay: Relay, token: EvmToken, key: bytes, terms: Terms
    ) -> None:
        self._ledger = ledger
        self._chain = chain
        self._relay = relay
        self._token = token
        self._key = PrivateKey(key)
        self._terms = terms
        self._sent: dict[str, str] = {}
        """The transaction of a refund that was sent and not confirmed, by channel."""
        self._pay_out_at = 0.0
        """Until then no payout is sent: the last one is undecided or was refused. By the monotonic clock."""
        self.address = checksummed(address_of(self._key.public_key))

    async def read(self, request: ReadRequest) -> None:
        """Read one channel for the API. Raises RedisError, and what is in NODE_ERRORS."""
        config = msgspec.json.decode(request.config, type=ChannelConfig)
        states = await self._chain.states([request.channel], await self._chain.head())
        state = states[request.channel]
        if state.balance:
            self._ledger.sync(request.channel, request.network, request.payer, config, state)
        self._ledger.was_read(request)

    async def look(self, *, is_last: bool = False) -> None:
        """Do everything that is due once. Raises RedisError, and what is in NODE_ERRORS.

        Args:
            is_last: the process ends: what is worth its gas is claimed, also before it is due.
        """
        self._ledger.begin()
        self._ledger.void()
        head = await self._watch()
        await self._refund_all(head)
        price = await self._chain.gas_price()
        self._ledger.watched({"claim_cost": self._atomic((CLAIM_GAS + CLAIM_ROW_GAS) * price)})
        await self._claim_due(head, price, is_all=is_last)
        await self._pay_out(price, is_last=is_last)

    async def _watch(self) -> int:
        """Read the channels that have events, then say how far the chain was looked at."""
        self._ledger.learn()
        head = await self._chain.head()
        looked = self._ledger.looked()
        names = sorted(await self._touched(looked, head))
        for start in range(0, len(names), MOST_ROWS):
            for channel in await self._synced(self._rows(names[start : start + MOST_ROWS]), head):
                if channel.leaving:
                    log.warning(
                        "the payer of channel %s withdraws; it owes %d", channel.id, channel.charged - channel.claimed
                    )
        reach("events-read")
        self._ledger.watched(
            {
                "network": self._token.network,
                "authorizer": self.address,
                "withdraw_delay": self._terms.withdraw_delay,
                "min_deposit": self._terms.min_deposit,
                "handled_block": head,
                "claimer": self._ledger.name,
                "watched_at": int(time.time() * 1000),
                "behind": msgspec.json.encode({bucket: looked[bucket] for bucket in self._ledger.lost}),
            }
        )
        return head

    async def _touched(self, looked: Sequence[Looked], head: int) -> set[str]:
        """The channels that have events since their bucket was looked at; all, when the ledger lost how far that was."""
        since: dict[int, set[str]] = {}
        for name, bucket in self._ledger.buckets.items():
            if bucket not in self._ledger.lost:
                since.setdefault(looked[bucket].block, set()).add(name)
        touched = since.pop(0, set())
        for block, names in since.items():
            touched |= await self._chain.touched(names, max(0, min(block, head) - OVERLAP_BLOCKS), head)
        return touched

    def _rows(self, names: Sequence[str]) -> Sequence[Channel]:
        return list(self._ledger.rows((name, self._ledger.buckets[name]) for name in names))

    async def _synced(self, channels: Sequence[Channel], block: int) -> Sequence[Channel]:
        """The channels, after what the chain shows of them was recorded."""
        states = await self._chain.states([channel.id for channel in channels], block)
        for channel in channels:
            self._ledger.sync(channel.id, channel.network, channel.payer, channel.config, states[channel.id])
        return list(self._ledger.rows((channel.id, channel.bucket) for channel in channels))

    async def _claim_due(self, head: int, gas_price: int, *, is_all: bool) -> None:
        due = self._ledger.claimable(is_all=is_all, count=MOST_ALL if is_all else MOST_ROWS)
        for start in range(0, len(due), MOST_ROWS):
            await self._claim_of(due[start : start + MOST_ROWS], head, gas_price, is_all=is_all)

    async def _claim_of(self, due: Sequence[Channel], head: int, gas_price: int, *, is_all: bool) -> None:
        states = await self._chain.states([channel.id for channel in due], head)
        final = await self._chain.final_block(head)
        finals = await self._chain.states([channel.id for channel in due], final)
        rows = []
        for channel in await self._synced(due, head):
            state, final_claimed = states[channel.id], min(finals[channel.id].claimed, states[channel.id].claimed)
            most = _most(channel, state)
            owed = most - state.claimed
            if is_frozen := most < channel.charged:
                log.error(
                    "channel %s owes %d and holds %d: no more is claimed", channel.id, channel.charged, state.balance
                )
                self._ledger.claimed(channel, final_claimed, pause_s=WAIT_S, event="FROZEN")
            if owed <= 0:
                if not is_frozen:
                    self._ledger.claimed(channel, final_claimed, pause_s=CHECK_S)
            elif not (is_all or is_frozen) and (early_s := self._early_s(channel, owed)) > 0:
                self._ledger.claimed(channel, final_claimed, pause_s=min(early_s, CHECK_S))
            elif owed < self._atomic(CLAIM_ROW_GAS * gas_price):
                self._ledger.claimed(channel, final_claimed, pause_s=WAIT_S)
            else:
                rows.append(channel)
        worth = sum(_most(channel, states[channel.id]) - states[channel.id].claimed for channel in rows)
        if rows and worth < self._atomic((CLAIM_GAS + CLAIM_ROW_GAS * len(rows)) * gas_price):
            for channel in rows:
                self._ledger.claimed(channel, finals[channel.id].claimed, pause_s=WAIT_S)
        elif rows:
            await self._claim(rows, states, finals)

    def _early_s(self, channel: Channel, owed: int) -> float:
        """For how long the channel's charges may wait. It is looked at sooner, to see its last claim in a final block."""
        if owed >= self._terms.claim_value or channel.leaving:
            return 0.0
        return self._terms.claim_within_s - (time.time() - channel.owed_since / 1000)

    async def _claim(
        self, rows: Sequence[Channel], states: dict[str, ChainState], finals: dict[str, ChainState]
    ) -> None:
        """Claim of these channels. Of a batch that would revert, each half is tried by itself."""
        shown = [self._ledger.show(channel) for channel in rows]  # first: where it fails, the next look claims again
        for channel in rows:
            self._ledger.claimed(channel, finals[channel.id].claimed, pause_s=CHECK_S)
        rows = [dataclasses.replace(channel, charged=_most(channel, states[channel.id])) for channel in shown]
        reach("claim-noted")
        result = await self._send({"type": "claim", **self._signed_claims(rows)})
        reach("claim-sent")
        if result.success:
            log.info("claimed of %d channels: %s", len(rows), result.transaction)
            await self._synced(rows, await self._chain.head())
        elif result.error_reason in _UNDECIDED or result.transaction:
            log.warning(
                "a claim of %d channels is undecided: %s", len(rows), result.error_message or result.error_reason
            )
        elif len(rows) > 1:
            middle = len(rows) // 2
            await self._claim(rows[:middle], states, finals)
            await self._claim(rows[middle:], states, finals)
        else:
            log.error("the claim of channel %s is refused: %s", rows[0].id, result.error_reason)
            self._ledger.claimed(rows[0], finals[rows[0].id].claimed, pause_s=WAIT_S, event="CLAIM_REFUSED")

    def _signed_claims(self, rows: Sequence[Channel]) -> dict[str, object]:
        """The `claims` of a message, with our signature over them: of each channel what was charged, and no more."""
        claims = [
            {
                "voucher": {"channel": msgspec.to_builtins(row.config), "maxClaimableAmount": str(row.top)},
                "signature": "0x" + row.signature.hex(),
                "totalClaimed": str(row.charged),
            }
            for row in rows
        ]
        digest = evm_channel_ids.claim_digest(
            self._token.chain_id, [(bytes.fromhex(row.id[2:]), row.top, row.charged) for row in rows]
        )
        return {"claims": claims, "claimAuthorizerSignature": self._sign(digest)}

    async def _refund_all(self, head: int) -> None:
        for channel in self._ledger.refunds():
            (state,) = (await self._chain.states([channel.id], head)).values()
            await self._refund(channel, state)

    async def _refund(self, channel: Channel, state: ChainState) -> None:
        """Claim what a channel owes and pay the rest back, in one transaction."""
        left = state.balance - max(channel.charged, state.claimed)
        if left <= 0:  # an earlier attempt was made
            transaction = self._sent.pop(channel.id, "")
            (channel,) = await self._synced([channel], state.block)
            self._ledger.refunded(channel, self._refund_result(channel, state, transaction, 0), is_done=True)
            return
        channel, refund_nonce = self._ledger.show(channel), state.refund_nonce
        digest = evm_channel_ids.refund_digest(self._token.chain_id, bytes.fromhex(channel.id[2:]), refund_nonce, left)
        payload: dict[str, object] = {
            "type": "refund",
            "channelConfig": msgspec.to_builtins(channel.config),
            "voucher": {
                "channelId": channel.id,
                "maxClaimableAmount": str(channel.top),
                "signature": "0x" + channel.signature.hex(),
            },
            "amount": str(left),
            "refundNonce": str(refund_nonce),
            "refundAuthorizerSignature": self._sign(digest),
            "claims": [],
        }
        if channel.charged > state.claimed:
            payload |= self._signed_claims([channel])
        reach("refund-signed")
        result = await self._send(payload)
        if result.error_reason in _UNDECIDED:
            self._sent[channel.id] = result.transaction  # looked at again at the next look
            return
        # From here on vouchers are taken again, so the ledger has to know what is left. A refund is also refused because an
        # earlier attempt, or another process, has made it.
        head = await self._chain.head()
        (channel,) = await self._synced([channel], head)
        (state,) = (await self._chain.states([channel.id], head)).values()
        is_shown = state.refund_nonce > refund_nonce
        if not is_shown and (result.success or self._sent.get(channel.id)):  # our node is behind the facilitator's
            self._sent[channel.id] = result.transaction or self._sent[channel.id]
            return
        if is_shown:
            transaction = result.transaction or self._sent.get(channel.id, "")
            told = self._refund_result(channel, state, transaction, left)
            self._ledger.refunded(channel, told, is_done=True)
        else:
            log.error("the refund of channel %s is refused: %s", channel.id, result.error_reason)
            self._ledger.refunded(channel, msgspec.json.encode(result), is_done=False)
        self._sent.pop(channel.id, None)

    def _refund_result(self, channel: Channel, state: ChainState, transaction: str, amount: int) -> bytes:
        """What the payer is told."""
        shown = {
            "channelId": channel.id,
            "balance": str(state.balance),
            "totalClaimed": str(state.claimed),
            "withdrawRequestedAt": state.withdraw_at,
            "refundNonce": str(state.refund_nonce),
            "chargedCumulativeAmount": str(max(channel.charged, channel.done_top)),
        }
        return msgspec.json.encode(
            Settlement(
                success=True,
                transaction=transaction,
                network=channel.network,
                payer=channel.payer,
                amount=str(amount),
                extra={"channelState": shown},
            )
        )

    async def _pay_out(self, gas_price: int, *, is_last: bool) -> None:
        """Have the contract pay what was claimed."""
        if time.monotonic() < self._pay_out_at and not is_last:
            return
        owed = await self._chain.owed(self._terms.pay_to, self._token.address)
        cost = self._atomic(PAYOUT_GAS * gas_price)
        if owed and owed >= cost * (1 if is_last else PAYOUT_FACTOR):
            result = await self._send({"type": "settle", "receiver": self._terms.pay_to, "token": self._token.address})
            if result.success:
                log.info("paid out %d: %s", owed, result.transaction)
            else:
                self._pay_out_at = time.monotonic() + CHECK_S
                log.warning("a payout of %d: %s", owed, result.error_reason)

    async def _send(self, payload: dict[str, object]) -> Settlement:
        try:
            return await self._relay.send(payload)
        except CLIENT_ERRORS as error:
            return Settlement(
                success=False,
                transaction="",
                network=self._token.network,
                error_reason=_UNDECIDED[0],
                error_message=type(error).__name__,
            )

    def _sign(self, digest: bytes) -> str:
        raw = self._key.sign_recoverable(digest, hasher=None)
        return "0x" + (raw[:64] + bytes([raw[64] + 27])).hex()

    def _atomic(self, wei: int) -> int:
        """What so many wei are worth, in atomic units of the token."""
        return int(wei * self._terms.ether_price * 10**self._token.decimals / 10**18)


def _most(channel: Channel, state: ChainState) -> int:
    """What can be claimed of a channel in all: what was charged, as far as the voucher and the deposit go."""
    return min(channel.charged, channel.top, state.balance)
