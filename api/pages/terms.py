"""Offers as a person reads them: what to pay, on which network, to whom."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from api.payment.gate import PaymentGate
from api.payment.rails import ConfiguredRail
from shared.x402.networks import SOLANA_DEVNET, SOLANA_MAINNET, XrplToken
from shared.x402.wire import Offer

_NETWORKS = {
    "eip155:8453": "Base",
    "eip155:84532": "Base Sepolia",
    "eip155:1": "Ethereum",
    SOLANA_MAINNET: "Solana",
    SOLANA_DEVNET: "Solana Devnet",
    "stellar:pubnet": "Stellar",
    "stellar:testnet": "Stellar Testnet",
    "xrpl:0": "XRP Ledger",
    "xrpl:1": "XRP Ledger Testnet",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """One way to pay.

    Attributes:
        network: its name; `network_id`: CAIP-2.
        amount: in whole units of `symbol`, e.g. ``0.001``.
        raw_amount: as the challenge writes it.
        asset: contract, mint or currency code; `issuer`: of a currency on the XRP Ledger.
        valid_s: seconds for which a payment is expected to stay valid.
    """

    rail: str
    network: str
    network_id: str
    symbol: str
    amount: str
    raw_amount: str
    asset: str
    issuer: str
    pay_to: str
    valid_s: int

    @property
    def badge(self) -> str:
        """``USDC on Base``."""
        return f"{self.symbol} on {self.network}"


def read(gate: PaymentGate) -> tuple[Terms, ...]:
    """The offers of a challenge that the gate would make now, in its order."""
    return tuple(_terms(offer, gate.rail_of(offer)) for offer in gate.offered)


def _terms(offer: Offer, rail: ConfiguredRail) -> Terms:
    token = rail.token
    if isinstance(token, XrplToken):
        whole, symbol, issuer = Decimal(offer.amount), token.symbol, token.issuer
    else:
        whole, symbol, issuer = Decimal(offer.amount).scaleb(-token.decimals), "USDC", ""
    return Terms(
        rail=rail.rail.value,
        network=_NETWORKS.get(offer.network, offer.network),
        network_id=offer.network,
        symbol=symbol,
        amount=format(whole.normalize(), "f"),
        raw_amount=offer.amount,
        asset=offer.asset,
        issuer=issuer,
        pay_to=offer.pay_to,
        valid_s=offer.max_timeout_seconds,
    )
