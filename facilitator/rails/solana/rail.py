"""The Solana rail: signs checked payments as the payer of their fee, sends them, and waits for their confirmation.

Our signature of a message is always the same, so every process knows the transaction before it is sent. The network executes a
message once, so a transaction can be sent again without harm.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from facilitator import results
from facilitator.balance import READ_EVERY_S, READ_SOON_S, SOL, BalanceMonitor
from facilitator.json_rpc import NodeFailures
from facilitator.rail import Rail
from facilitator.rails.solana.confirmations import Confirmations
from facilitator.rails.solana.evidence import History, parse_id
from facilitator.rails.solana.node import NODE_ERRORS, PROCESSED, SolanaNode, Status
from facilitator.rails.solana.simulation import Verdict, reason_of, verdict_of
from facilitator.settling import CannotSend, Settling
from shared.settings.rails import configured_token
from shared.settings.secret_files import read_key
from shared.settings.service import InvalidSetting, Settings
from shared.x402 import solana
from shared.x402.networks import SOLANA_USDC, SolanaToken
from shared.x402.refusal import PaymentRefused
from shared.x402.solana import SolanaAuthorization
from shared.x402.solana_address import encode_base58
from shared.x402.solana_layout import MAX_PRIORITY_FEE
from shared.x402.wire import Evidence, FacilitatorCall, Settlement

log = logging.getLogger(__name__)

SETTLE_TIMEOUT_S = 6.0
"""How long a settlement may take. It is below the API's settle timeout, so that the API gets `settlement_pending`."""
RESEND_EVERY_S = 1.0
"""The network loses transactions. The official clients also repeat them."""
BLOCKHASH_PATIENCE_S = 2.0
"""How long to wait for a blockhash that our node does not know: the payer's node may be some blocks ahead."""
BLOCKHASH_PAUSE_S = 0.4
WATCH_EVERY_S = 1.0
DEAD_AFTER_S = 120.0
"""Seconds after which a sent transaction is in a block or its blockhash is dead. A node that says so earlier may be behind."""
SENT_LIVES_S = 300.0
"""How long a sent transaction is remembered."""
SILENT_AFTER_S = 30.0
SETTLEMENT_LAMPORTS = 2 * 5_000 + MAX_PRIORITY_FEE
"""The most that one settlement may cost: two signatures, and the highest priority fee that a payment may ask for."""
RENT_EXEMPT_LAMPORTS = 890_880
"""The network refuses a transaction that leaves its fee payer with less."""


class SolanaRail(Rail[SolanaAuthorization]):
    """One token on one Solana network.

    Args:
        rpc_url: JSON-RPC node.
        settler_key: seed of 32 bytes, of the account that pays the fees.
        low_balance: lamports of that account below which the log warns.
    """

    node_errors = NODE_ERRORS

    def __init__(self, token: SolanaToken, rpc_url: str, settler_key: bytes, *, low_balance: int = 10_000_000) -> None:
        self.token, self.network = token, token.network
        self._settler = Ed25519PrivateKey.from_private_bytes(settler_key)
        self._fee_payer = encode_base58(self._settler.public_key().public_bytes_raw())
        self._node = SolanaNode(rpc_url)
        self._balance_monitor = BalanceMonitor(
            f"the fee payer {self._fee_payer}",
            SOL,
            shortage=": not enough for the fee of a settlement",
            read=lambda: self._node.balance(self._fee_payer),
            needed=lambda: RENT_EXEMPT_LAMPORTS + SETTLEMENT_LAMPORTS,
            low=low_balance,
            read_every_s=READ_EVERY_S,
            read_soon_s=READ_SOON_S,
        )
        self._history = History(self._node, token)
        self._confirmations = Confirmations(self._node)
        self._settling = Settling[str]()
        self._sent: dict[str, float] = {}

    @property
    def terms(self) -> dict[str, Any]:
        return {"feePayer": self._fee_payer}

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """The account that pays the fees."""
        return {"solana:*": (self._fee_payer,)}

    @property
    def unavailable_reason(self) -> str:
        if not (reason := self._balance_monitor.unavailable_reason) and self._node.silent_s > SILENT_AFTER_S:
            return f"its node has not answered for {self._node.silent_s:.0f} s"
        return reason

    async def start(self) -> None:
        """Connect. Raises InvalidSetting when the node serves another network, and what is in NODE_ERRORS."""
        genesis = await self._node.genesis_hash()
        served = f"solana:{genesis[:32]}"
        if served != self.network:
            raise InvalidSetting(f"the node serves {served}, not {self.network}")
        await self._balance_monitor.read()
        self._tasks = [asyncio.create_task(self._watch())]

    async def stop(self) -> None:
        await self._settling.finish()
        await self._confirmations.stop()
        await self._end_tasks()
        await self._node.close()

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain says of one payment; None when the id is not one of this token."""
        named = parse_id(payment_id, self.token)
        return await self._history.evidence(named) if named else None

    def _check(self, call: FacilitatorCall) -> SolanaAuthorization:
        offer = call.payment_requirements
        if offer.asset != self.token.mint:
            raise PaymentRefused("invalid_payment_requirements")
        if "feePayer" not in offer.extra:
            raise PaymentRefused("invalid_exact_svm_payload_missing_fee_payer")
        if offer.extra["feePayer"] != self._fee_payer:
            raise PaymentRefused("fee_payer_not_managed_by_facilitator")
        if not solana.is_payable(offer):
            raise PaymentRefused("invalid_payment_requirements")
        return solana.check(offer, call.payment_payload.payload)

    def _sign(self, authorization: SolanaAuthorization) -> tuple[bytes, str]:
        """The serialized transaction, and its signature, by which the network knows it."""
        signature = self._settler.sign(authorization.message)
        return b"\2" + signature + authorization.signature + authorization.message, encode_base58(signature)

    async def _simulate(self, call: FacilitatorCall, payment: SolanaAuthorization) -> None:
        async with asyncio.timeout(SETTLE_TIMEOUT_S):
            if await self._find(payment, *self._sign(payment)) is not None:
                raise PaymentRefused("invalid_exact_svm_payload_already_processed")

    async def _settle(self, call: FacilitatorCall, payment: SolanaAuthorization) -> Settlement:
        return await self._settling.once(payment.payment_id, lambda: self._run(payment))

    async def _run(self, authorization: SolanaAuthorization) -> Settlement:
        """Run one settlement. Never raises."""
        raw, signature = self._sign(authorization)
        try:
            async with asyncio.timeout(SETTLE_TIMEOUT_S):
                status = None
                if authorization.payment_id not in self._sent:
                    status = await self._send(authorization, raw, signature)
                while status is None or not status.is_confirmed:
                    status = await self._confirmations.wait(signature, RESEND_EVERY_S)
                    if status is None:
                        with contextlib.suppress(CannotSend, *NODE_ERRORS):
                            await self._resend(authorization, raw, signature)
                return self._ended(authorization, signature, status)
        except PaymentRefused as refused:
            return results.failed(self.network, refused.reason, authorization.payer)
        except CannotSend as why:
            return self._unsettled(authorization, signature, message=str(why))
        except NODE_ERRORS as error:
            log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
            return self._unsettled(authorization, signature)

    async def _send(self, authorization: SolanaAuthorization, raw: bytes, signature: str) -> Status | None:
        """Send the transaction, or return what became of it before. Raises PaymentRefused when the chain would not take it."""
        status = await self._find(authorization, raw, signature)
        self._remember(authorization)
        if status is not None:
            return status
        try:
            await self._node.send(raw)
        except CannotSend:
            del self._sent[authorization.payment_id]
            raise
        except NODE_ERRORS as error:
            # The node may have sent it all the same.
            log.warning("sending %s: %s", authorization.payment_id, type(error).__name__)
        return None

    async def _find(self, authorization: SolanaAuthorization, raw: bytes, signature: str) -> Status | None:
        """What became of the transaction before; None when it is in no block and the chain would take it.

        Raises:
            PaymentRefused: it is in no block, and the chain would not take it.
            CannotSend: the chain does not take it now, and that is not the payer's fault.
            What is in NODE_ERRORS.
        """
        impatient_at = time.monotonic() + BLOCKHASH_PATIENCE_S
        while True:
            err = await self._node.simulate(raw)
            verdict = verdict_of(err)
            if verdict is Verdict.GOOD:
                return None
            if verdict is Verdict.OURS:
                self._balance_monitor.read_soon()
                raise CannotSend(f"the network would not take a transaction of the fee payer now: {err}")
            (status,) = await self._node.statuses([signature], search=True)
            if status is not None:
                return status
            if verdict is Verdict.PROCESSED:
                return PROCESSED  # only we can have signed it
            if verdict is Verdict.BAD:
                raise PaymentRefused(await reason_of(self._node, authorization))
            if time.monotonic() >= impatient_at:
                raise PaymentRefused("invalid_exact_svm_payload_blockhash_not_found")
            await asyncio.sleep(BLOCKHASH_PAUSE_S)

    async def _resend(self, authorization: SolanaAuthorization, raw: bytes, signature: str) -> None:
        """Send the transaction again if it is in no block. Raises PaymentRefused when it never will be."""
        verdict = verdict_of(await self._node.simulate(raw))
        if verdict is Verdict.UNKNOWN_BLOCKHASH:
            # The status is asked for after the blockhash died: before, the transaction could still have got into a block.
            (status,) = await self._node.statuses([signature], search=True)
            if status is None and time.monotonic() - self._sent[authorization.payment_id] > DEAD_AFTER_S:
                del self._sent[authorization.payment_id]
                raise PaymentRefused("invalid_exact_svm_payload_blockhash_not_found")
        elif verdict is not Verdict.PROCESSED:
            await self._node.send(raw)

    def _remember(self, authorization: SolanaAuthorization) -> None:
        """Note that the transaction may have been sent."""
        now = time.monotonic()
        self._sent[authorization.payment_id] = now
        for payment_id, sent_at in tuple(self._sent.items()):
            if now - sent_at < SENT_LIVES_S:
                break  # the oldest come first
            del self._sent[payment_id]

    def _ended(self, authorization: SolanaAuthorization, signature: str, status: Status) -> Settlement:
        """The settlement that a confirmed status shows. The message does nothing but the transfer: without an error it paid."""
        self._sent.pop(authorization.payment_id, None)
        self._history.learn(authorization.message, signature)
        if status.err is not None:
            return results.failed(self.network, "invalid_transaction_state", authorization.payer)
        return results.succeeded(authorization, signature)

    def _unsettled(
        self, authorization: SolanaAuthorization, signature: str, *, message: str | None = None
    ) -> Settlement:
        is_sent = authorization.payment_id in self._sent
        return results.unsettled(authorization, signature if is_sent else "", message=message)

    async def _watch(self) -> None:
        """Read the fee payer's balance. The readings also show whether the node answers."""
        failures = NodeFailures(self.network, NODE_ERRORS)
        while True:
            await asyncio.sleep(WATCH_EVERY_S)
            if self._balance_monitor.is_due:
                with failures.swallowed():
                    await self._balance_monitor.read()


def rail(settings: Settings, name: str) -> SolanaRail:
    """Raises InvalidSetting."""
    own = settings.solana
    token = configured_token(SOLANA_USDC, own.network, name)
    return SolanaRail(token, own.rpc_url, read_key(own.settler_key_file))
