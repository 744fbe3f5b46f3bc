"""People around the Solana rail: payers who sign, and the sandbox's ledger with what it does to order."""

import copy
from dataclasses import dataclass
from typing import Any

import msgspec
from solders.hash import Hash
from solders.keypair import Keypair
from solders.pubkey import Pubkey

from compose.sandbox.child import LocalLedger
from compose.sandbox.solana import USDC
from shared.money import Price
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import solana
from shared.x402.wire import FacilitatorCall, Offer, Payment
from tests.solana_signing import Draft, ata

MINT = Pubkey.from_string(USDC.mint)


@dataclass
class SolanaBench:
    """One ledger."""

    sandbox: LocalLedger
    rpc: JsonRpc

    def payer(self, funds: int | None = 1_000_000) -> Keypair:
        """A fresh wallet with so much USDC; None for one that has no account for it."""
        payer = Keypair()
        if funds is not None:
            self.fund(payer.pubkey(), usdc=funds)
        return payer

    def fund(self, owner: Pubkey, **what: int) -> None:
        """Set what a wallet has: usdc, lamports."""
        self.rpc("sandbox_fund", str(owner), what)

    def offer(self, pay_to: str, *, memo: str | None = None) -> Offer:
        """0.001 USDC, with our fee payer."""
        (offer,) = solana.offers(USDC, Price.of("0.001"), pay_to)
        extra = {**offer.extra, "feePayer": self.sandbox.settler}
        return msgspec.structs.replace(offer, extra=extra | ({"memo": memo} if memo else {}))

    def draft(self, payer: Keypair, pay_to: str, *, memo: str | None = None) -> Draft:
        """A payment with a living blockhash and a memo of its own."""
        blockhash = self.rpc("getLatestBlockhash", {"commitment": "confirmed"})["value"]["blockhash"]
        return Draft(self.offer(pay_to, memo=memo or str(Keypair().pubkey())[:32]), payer, Hash.from_string(blockhash))

    def call(self, payer: Keypair, pay_to: str, *, memo: str | None = None) -> FacilitatorCall:
        """The body of /verify and /settle."""
        draft = self.draft(payer, pay_to, memo=memo)
        return call_of(draft.offer, draft.payload())

    def balance(self, owner: Pubkey | str) -> int:
        """USDC of a wallet, in atomic units."""
        owner = Pubkey.from_string(owner) if isinstance(owner, str) else owner
        return int(self.rpc("getTokenAccountBalance", str(ata(owner, MINT)))["value"]["amount"])

    def transfers(self, pay_to: str) -> list[str]:
        """The transactions that a recipient's account appears in, the oldest first."""
        account = str(ata(Pubkey.from_string(pay_to), MINT))
        return [one["signature"] for one in reversed(self.rpc("getSignaturesForAddress", account))]


def call_of(offer: Offer, payload: dict[str, Any]) -> FacilitatorCall:
    """The body of /verify and /settle."""
    payment = Payment(x402_version=2, accepted=copy.deepcopy(offer), payload=payload)
    return FacilitatorCall(payment_payload=payment, payment_requirements=offer)


def payment_id(call: FacilitatorCall) -> str:
    """The replay key of a payment."""
    return solana.check(call.payment_requirements, call.payment_payload.payload).payment_id
