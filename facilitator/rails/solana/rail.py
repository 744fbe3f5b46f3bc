"""The Solana rail on the chain: signs checked payments as the payer of their fee, sends them, and waits for their confirmation.

Our signature of a message is always the same, so the transaction is known before it is sent, also by a process that never sent
it; and the network executes a message once. Sending it again can do no harm.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping, Sequence

import msgspec
from solders.keypair import Keypair

from facilitator.rails.solana.balance import SolanaPurse
from facilitator.rails.solana.confirmations import Confirmations
from facilitator.rails.solana.evidence import History, parse
from facilitator.rails.solana.node import NODE_ERRORS, PROCESSED, NotSent, SolanaNode, Status
from facilitator.rails.solana.simulation import CannotSettle, Outlook, outlook_of, reason_of
from facilitator.settling import Settling, require_ours
from shared.settings import InvalidSetting
from shared.x402 import solana
from shared.x402.networks import SolanaToken
from shared.x402.refusal import PaymentRefused
from shared.x402.solana import SolanaAuthorization
from shared.x402.wire import X402_VERSION, Evidence, FacilitatorCall, Settlement, SupportedKind, Verification

log = logging.getLogger(__name__)

SETTLE_TIMEOUT_S = 6.0
"""Of a whole settlement. Below the API's settle timeout, so that it hears `settlement_pending` with the transaction."""
RESEND_EVERY_S = 1.0
"""The network loses transactions: the official clients repeat them, too."""
BLOCKHASH_PATIENCE_S = 2.0
"""A payer may have asked a node that is some blocks ahead of ours."""
BLOCKHASH_PAUSE_S = 0.4
WATCH_EVERY_S = 1.0
DEAD_AFTER_S = 120.0
"""After it was sent: by then a transaction is in a block or its blockhash is dead. A node that says so before may be behind."""
SENT_LIVES_S = 300.0
"""For so long it is known that a transaction was sent."""


class SolanaRail:
    """One token on one Solana network.

    Args:
        rpc_url: JSON-RPC node.
        settler_key: seed of 32 bytes, of the account that pays the fees.
        low_balance: lamports of that account below which the log warns.
    """

    def __init__(self, token: SolanaToken, rpc_url: str, settler_key: bytes, *, low_balance: int = 10_000_000) -> None:
        self.token = token
        self._settler = Keypair.from_seed(settler_key)
        self._fee_payer = str(self._settler.pubkey())
        self._node = SolanaNode(rpc_url)
        self._balance_monitor = SolanaPurse(self._node, self._fee_payer, low_balance)
        self._history = History(self._node, token)
        self._confirmations = Confirmations(self._node)
        self._settling = Settling[str]()
        self._sent: dict[str, float] = {}
        self._watching: asyncio.Task[None] | None = None

    @property
    def network(self) -> str:
        """CAIP-2."""
        return self.token.network

    @property
    def kinds(self) -> Sequence[SupportedKind]:
        """What /supported says of it: nothing while no settlement can be paid for."""
        if self.unavailable_reason:
            return ()
        extra = {"feePayer": self._fee_payer}
        return (SupportedKind(x402_version=X402_VERSION, scheme=solana.SCHEME, network=self.network, extra=extra),)

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        """The account that pays the fees."""
        return {"solana:*": (self._fee_payer,)}

    @property
    def unavailable_reason(self) -> str:
        """Why nothing can be settled now; empty when it can."""
        return self._balance_monitor.unavailable_reason

    @property
    def balance(self) -> str:
        """What the fee payer has, as it was read last."""
        return f"{self._balance_monitor.balance_sol} SOL"

    async def start(self) -> None:
        """Raises InvalidSetting when the node serves another network: settling there would be settling nothing."""
        genesis = await self._node.genesis_hash()
        served = f"solana:{genesis[:32]}"
        if served != self.network:
            raise InvalidSetting(f"the node serves {served}, not {self.network}")
        await self._balance_monitor.read()
        self._watching = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Wait for what is being settled, then close the connections."""
        await self._settling.finish()
        await self._confirmations.stop()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._node.close()

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now. Changes nothing."""
        try:
            authorization = self._check(call)
            async with asyncio.timeout(SETTLE_TIMEOUT_S):
                if await self._find(authorization, *self._sign(authorization)) is not None:
                    raise PaymentRefused("invalid_exact_svm_payload_already_processed")
        except PaymentRefused as refused:
            return Verification(is_valid=False, invalid_reason=refused.reason)
        except (CannotSettle, *NODE_ERRORS) as error:
            return Verification(
                is_valid=False, invalid_reason="unexpected_verify_error", invalid_message=type(error).__name__
            )
        return Verification(is_valid=True, payer=authorization.payer)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle the payment, or say how it was settled before. The same payment twice is one transaction."""
        try:
            authorization = self._check(call)
        except PaymentRefused as refused:
            return self._failed(refused.reason, None)
        return await self._settling.once(authorization.payment_id, lambda: self._settle(authorization))

    async def evidence(self, payment_id: str) -> Evidence | None:
        """What the chain says of one payment."""
        named = parse(payment_id)
        if named is None or (named.network, named.mint) != (self.network, self.token.mint):
            return None
        return await self._history.evidence(named)

    def _check(self, call: FacilitatorCall) -> SolanaAuthorization:
        require_ours(call, self.network)
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
        """The transaction on the wire, and its signature, by which it is known."""
        signature = self._settler.sign_message(authorization.message)
        return b"\2" + bytes(signature) + authorization.signature + authorization.message, str(signature)

    async def _settle(self, authorization: SolanaAuthorization) -> Settlement:
        """Never raises. `settlement_pending`: a transaction may be on its way. `unexpected_settle_error`: none of ours is."""
        raw, signature = self._sign(authorization)
        try:
            async with asyncio.timeout(SETTLE_TIMEOUT_S):
                status = None
                if authorization.payment_id not in self._sent:
                    status = await self._send(authorization, raw, signature)
                while status is None or not status.is_confirmed:
                    status = await self._confirmations.wait(signature, RESEND_EVERY_S)
                    if status is None:
                        with contextlib.suppress(NotSent, *NODE_ERRORS):
                            await self._resend(authorization, raw, signature)
                return self._ended(authorization, signature, status)
        except PaymentRefused as refused:
            return self._failed(refused.reason, authorization.payer)
        except (NotSent, CannotSettle) as why:
            return msgspec.structs.replace(self._open(authorization, signature), error_message=str(why))
        except NODE_ERRORS as error:
            log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
            return self._open(authorization, signature)

    async def _send(self, authorization: SolanaAuthorization, raw: bytes, signature: str) -> Status | None:
        """Send what the chain takes; or what became of it before. Raises Refused when neither."""
        status = await self._find(authorization, raw, signature)
        self._remember(authorization)
        if status is not None:
            return status
        try:
            await self._node.send(raw)
        except NotSent:
            del self._sent[authorization.payment_id]
            raise
        except NODE_ERRORS as error:
            log.warning(
                "sending %s: %s", authorization.payment_id, type(error).__name__
            )  # it may have left all the same
        return None

    async def _find(self, authorization: SolanaAuthorization, raw: bytes, signature: str) -> Status | None:
        """What became of it before; None when nothing did and the chain would take it.

        Raises:
            Refused: nothing did, and the chain would not take it.
            CannotSettle: it does not take it now, and that is not the payer's fault. And what is in NODE_ERRORS.
        """
        impatient_at = time.monotonic() + BLOCKHASH_PATIENCE_S
        while True:
            err = await self._node.simulate(raw)
            outlook = outlook_of(err)
            if outlook is Outlook.GOOD:
                return None
            if outlook is Outlook.OURS:
                self._balance_monitor.is_doubtful()
                raise CannotSettle(f"the network would not take a transaction of the fee payer now: {err}")
            (status,) = await self._node.statuses([signature], search=True)
            if status is not None:
                return status
            if outlook is Outlook.PROCESSED:
                return PROCESSED  # nobody else can have signed it
            if outlook is Outlook.BAD:
                raise PaymentRefused(await reason_of(self._node, authorization))
            if time.monotonic() >= impatient_at:
                raise PaymentRefused("invalid_exact_svm_payload_blockhash_not_found")
            await asyncio.sleep(BLOCKHASH_PAUSE_S)

    async def _resend(self, authorization: SolanaAuthorization, raw: bytes, signature: str) -> None:
        """Once more into the network, if it has still not seen it. Raises Refused when it never will."""
        outlook = outlook_of(await self._node.simulate(raw))
        if outlook is Outlook.UNKNOWN_BLOCKHASH:
            # Asked after its death: until then it could still have come into a block.
            (status,) = await self._node.statuses([signature], search=True)
            if status is None and time.monotonic() - self._sent[authorization.payment_id] > DEAD_AFTER_S:
                del self._sent[authorization.payment_id]
                raise PaymentRefused("invalid_exact_svm_payload_blockhash_not_found")
        elif outlook is not Outlook.PROCESSED:
            await self._node.send(raw)

    def _remember(self, authorization: SolanaAuthorization) -> None:
        """From now on it may be on its way."""
        now = time.monotonic()
        self._sent[authorization.payment_id] = now
        for payment_id, sent_at in tuple(self._sent.items()):
            if now - sent_at < SENT_LIVES_S:
                break  # they are in the order of time
            del self._sent[payment_id]

    def _ended(self, authorization: SolanaAuthorization, signature: str, status: Status) -> Settlement:
        """What a confirmed status means. The message is all that its execution can do: without an error it moved the amount."""
        self._sent.pop(authorization.payment_id, None)
        self._history.learn(authorization.message, signature)
        if status.err is not None:
            return self._failed("invalid_transaction_state", authorization.payer)
        return Settlement(
            success=True,
            transaction=signature,
            network=self.network,
            payer=authorization.payer,
            amount=str(authorization.value),
        )

    def _failed(self, reason: str, payer: str | None) -> Settlement:
        return Settlement(success=False, transaction="", network=self.network, payer=payer, error_reason=reason)

    def _open(self, authorization: SolanaAuthorization, signature: str) -> Settlement:
        is_sent = authorization.payment_id in self._sent
        failed = self._failed("settlement_pending" if is_sent else "unexpected_settle_error", authorization.payer)
        return msgspec.structs.replace(failed, transaction=signature if is_sent else "")

    async def _watch(self) -> None:
        """The fee payer's balance, which is also how a silent node is noticed."""
        while True:
            await asyncio.sleep(WATCH_EVERY_S)
            if self._balance_monitor.is_due:
                with contextlib.suppress(*NODE_ERRORS):
                    await self._balance_monitor.read()
