"""The Stellar rail: puts a payer's signed transfer into a transaction of our own, and pays its fee."""

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any

from stellar_sdk import Keypair
from stellar_sdk.exceptions import SdkError
from stellar_sdk.soroban_rpc import GetTransactionResponse, GetTransactionStatus

from facilitator import results
from facilitator.balance import READ_EVERY_S, READ_SOON_S, XLM, BalanceMonitor
from facilitator.json_rpc import NodeFailures
from facilitator.rail import Rail
from facilitator.rails.stellar.channels import Channels, Sent
from facilitator.rails.stellar.evidence import Transfers, emitted, events_refusal, parse_id
from facilitator.rails.stellar.node import BASE_FEE, IDLE_POLL_S, NODE_ERRORS, POLL_S, STROOPS, StellarNode
from facilitator.rails.stellar.simulation import Simulator, expected_of
from facilitator.settling import CannotSend, PaymentKey, Settling, payment_key
from shared.settings.rails import configured_token
from shared.settings.secret_files import read_secret
from shared.settings.service import InvalidSetting, Settings
from shared.x402 import stellar
from shared.x402.networks import STELLAR_USDC, StellarToken
from shared.x402.refusal import PaymentRefused
from shared.x402.stellar import StellarAuthorization
from shared.x402.wire import Evidence, FacilitatorCall, Settlement

log = logging.getLogger(__name__)

SETTLE_TIMEOUT_S = 12.0
"""From the start of a settlement until the wait for its ledger ends. It is below the API's settle timeout: while the node
answers, the API gets `settlement_pending` with the transaction."""
MOST_FOR_FEE = 50_000
"""Stroops that one settlement may cost: the official facilitator's figure."""
CHANNELS = 16
SILENT_S = 30.0
MOST_REMEMBERED = 4_000
"""Payments whose transaction is remembered, so that evidence of them takes one request. Others are searched for."""

_PREFIX = "invalid_exact_stellar_payload_"


class StellarRail(Rail[StellarAuthorization]):
    """One token on one Stellar network.

    Args:
        rpc_url: Stellar RPC.
        settler_key: ``S…`` of the account that pays the fees.
        most_for_fee: stroops that one settlement may cost, and that a payment may declare.
        low_balance: stroops of that account below which the log warns.
        channels: how many payments may be settled at once. Each takes an account that holds one XLM.
    """

    node_errors = NODE_ERRORS

    def __init__(
        self,
        token: StellarToken,
        rpc_url: str,
        settler_key: str,
        *,
        most_for_fee: int = MOST_FOR_FEE,
        low_balance: int = 5 * STROOPS,
        channels: int = CHANNELS,
    ) -> None:
        self.token, self.network = token, token.network
        try:
            settler = Keypair.from_secret(settler_key)
        except (SdkError, ValueError):
            raise InvalidSetting("the settler's key is no secret key of Stellar's (S…)") from None
        self._node = StellarNode(token, rpc_url)
        self._prices = Prices(self._node, most_for_fee)
        self._balance_monitor = BalanceMonitor(
            f"the settler account {settler.public_key}",
            XLM,
            shortage=" to spend: not enough for the fee of a settlement",
            read=lambda: self._node.spendable(settler.public_key),
            needed=lambda: most_for_fee,
            low=low_balance,
            read_every_s=READ_EVERY_S,
            read_soon_s=READ_SOON_S,
        )
        self._simulator = Simulator(self._node, settler.public_key, most_for_fee)
        self._channels = Channels(self._node, settler, channels)
        self._transfers = Transfers(self._node)
        self._settling = Settling[PaymentKey]()
        self._sent: dict[PaymentKey, Sent] = {}
        self._seen: dict[str, str] = {}

    @property
    def terms(self) -> dict[str, Any]:
        """The newest ledger is among them."""
        assert self._node.height is not None
        return {"areFeesSponsored": True, "ledger": self._node.height.ledger}

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """The account that pays for settlements, and the accounts that send them."""
        return {"stellar:*": self._channels.addresses}

    @property
    def unavailable_reason(self) -> str:
        if self._node.height is None or time.monotonic() - self._node.answered_at > SILENT_S:
            return "its node does not answer"
        return self._balance_monitor.unavailable_reason or self._channels.unavailable_reason

    async def start(self) -> None:
        """Connect. Raises InvalidSetting when the node serves another network, and what is in NODE_ERRORS."""
        passphrase = await self._node.passphrase()
        if passphrase != self.token.passphrase:
            raise InvalidSetting(f"the node serves {passphrase!r}, not {self.token.passphrase!r}")
        await self._node.look()
        await self._read()
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._watch(), name="stellar-watch")]

    async def stop(self) -> None:
        await self._settling.finish()
        await self._channels.close()
        await self._end_tasks()
        await self._node.close()

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain says of one authorization; None when the id is not one of this token."""
        named = parse_id(payment_id, self.token)
        if named is None:
            return None
        return await self._transfers.evidence(named.payer, int(named.nonce), hint=self._seen.get(payment_id, ""))

    def _check(self, call: FacilitatorCall) -> StellarAuthorization:
        offer = call.payment_requirements
        if offer.asset != self.token.contract or not stellar.is_payable(offer):
            raise PaymentRefused("invalid_payment_requirements")
        authorization = stellar.check(offer, call.payment_payload.payload)
        ours = self._channels.addresses
        if authorization.source in ours:
            raise PaymentRefused(_PREFIX + "unsafe_tx_or_op_source")
        if authorization.payer in ours:
            # There is no entry but the payer's, so no other account of ours is in one either.
            raise PaymentRefused(_PREFIX + "facilitator_is_payer")
        return authorization

    async def _simulate(self, call: FacilitatorCall, payment: StellarAuthorization) -> None:
        await self._simulator.check(call, payment)

    async def _settle(self, call: FacilitatorCall, payment: StellarAuthorization) -> Settlement:
        return await self._settling.once(payment_key(payment), lambda: self._run(call, payment))

    async def _run(self, call: FacilitatorCall, authorization: StellarAuthorization) -> Settlement:
        """Run one settlement. Never raises."""
        give_up_at = time.monotonic() + SETTLE_TIMEOUT_S
        try:
            sent = self._sent.get(payment_key(authorization))
            if sent is None:
                ended = await self._send(call, authorization, give_up_at)
                if isinstance(ended, Settlement):
                    return ended
                sent = ended
            await asyncio.wait({sent.end}, timeout=max(0.0, give_up_at - time.monotonic()))
            if not sent.end.done() or sent.end.cancelled():
                return results.unsettled(authorization, sent.hash)
            return await self._ended(authorization, sent.end.result())
        except CannotSend as why:
            return results.unsettled(authorization, message=str(why))
        except NODE_ERRORS as error:
            log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
            return results.unsettled(authorization)

    async def _send(
        self, call: FacilitatorCall, authorization: StellarAuthorization, give_up_at: float
    ) -> Sent | Settlement:
        """Send the transfer. The result is a Settlement when nothing was sent: settled before, or refused."""
        try:
            made = await self._simulator.check(call, authorization)
        except PaymentRefused as refused:
            before = await self._settled_before(authorization)
            return before or results.failed(self.network, refused.reason, authorization.payer)
        inclusion_fee = self._prices.inclusion_fee(made.data.resource_fee.int64)
        sent = await self._channels.send(made.operation, made.data, inclusion_fee, give_up_at=give_up_at)
        key = payment_key(authorization)
        self._sent[key] = sent
        self._seen[authorization.payment_id] = sent.hash
        if len(self._seen) > MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        sent.end.add_done_callback(lambda _: self._sent.pop(key, None))
        return sent

    async def _ended(self, authorization: StellarAuthorization, found: GetTransactionResponse | None) -> Settlement:
        if found is None:
            return results.unsettled(authorization)
        if found.status == GetTransactionStatus.SUCCESS:
            refusal = events_refusal(emitted(found), self.token.contract, expected_of(authorization))
            if refusal is None:
                return results.succeeded(authorization, found.transaction_hash)
        # Somebody else may have sent the same authorization first. Then the payer has paid all the same.
        return await self._settled_before(authorization) or results.failed(
            self.network, "settle_exact_stellar_transaction_failed", authorization.payer
        )

    async def _settled_before(self, authorization: StellarAuthorization) -> Settlement | None:
        """The earlier settlement of this very payment, or None when the chain shows that there is none.

        Raises:
            TimeoutError: the chain shows neither.
        """
        height = await self._node.look()
        if authorization.expiration_ledger > height.ledger and not await self._node.nonce_used_in(
            authorization.payer, authorization.nonce
        ):
            return None  # a used nonce is on the chain for as long as its authorization is valid
        hint = self._seen.get(authorization.payment_id, "")
        evidence = await self._transfers.evidence(authorization.payer, authorization.nonce, hint=hint)
        return results.settled_before(authorization, evidence)

    async def _watch(self) -> None:
        """Read the newest ledger for all who wait for one, and the balance. Open the channel accounts when they are not."""
        failures = NodeFailures(self.network, NODE_ERRORS)
        while True:
            await asyncio.sleep(POLL_S if self._channels.is_busy or self._settling else IDLE_POLL_S)
            with failures.swallowed():
                await self._node.look()
                if self._balance_monitor.is_due or not self._channels.is_open:
                    await self._read()

    async def _read(self) -> None:
        """Read the balance and the price. Raises what is in NODE_ERRORS."""
        if not self._channels.is_open:
            await self._channels.open()
        await self._balance_monitor.read()
        await self._prices.read()


def rail(settings: Settings, name: str) -> StellarRail:
    """Raises InvalidSetting."""
    own = settings.stellar
    token = configured_token(STELLAR_USDC, own.network, name)
    return StellarRail(token, own.rpc_url, read_secret(own.settler_key_file))


class Prices:
    """The network's inclusion fee, as it was read last.

    Args:
        ceiling: stroops that one settlement may cost.
    """

    def __init__(self, node: StellarNode, ceiling: int) -> None:
        self._node = node
        self._ceiling = ceiling
        self._price = BASE_FEE

    async def read(self) -> None:
        """Read the price. Raises what is in NODE_ERRORS."""
        self._price = await self._node.inclusion_fee()

    def inclusion_fee(self, resource_fee: int) -> int:
        """Stroops for each of the two operations that a fee bump counts, so that a settlement stays below the ceiling.

        It is never below the network's minimum: a call whose resource fee is at the ceiling costs two minimum fees more.
        """
        room = (self._ceiling - resource_fee) // 2
        return max(BASE_FEE, min(self._price, room))
