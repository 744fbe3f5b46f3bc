"""Offers as a person reads them: what to pay, on which network, to whom."""

from dataclasses import dataclass
from decimal import Decimal

from api.payment.gate import PaymentGate
from api.payment.rails import ConfiguredRail
from shared.networks import name_of
from shared.x402.wire import Offer


@dataclass(frozen=True, slots=True)
class Terms:
    """One way to pay.

    Attributes:
        network: its name; `network_id`: CAIP-2.
        amount: in whole units of `symbol`, e.g. ``0.001``.
        raw_amount: as the challenge writes it.
        asset: contract, mint or currency code; `issuer`: of a currency on the XRP Ledger.
        valid_s: seconds for which a payment is expected to stay valid.
        scheme: of x402.
        deposit: the least deposit into a channel that pays many calls, in whole units; empty where each call is paid by itself.
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
    scheme: str
    deposit: str

    @property
    def badge(self) -> str:
        """``USDC on Base``."""
        return f"{self.symbol} on {self.network}"


def read(gate: PaymentGate) -> tuple[Terms, ...]:
    """The offers of a challenge that the gate would make now, in its order."""
    return tuple(_terms(offer, gate.rail_of(offer)) for offer in gate.offered)


def _terms(offer: Offer, rail: ConfiguredRail) -> Terms:
    decimals = rail.token.decimals
    return Terms(
        rail=rail.rail.value,
        network=name_of(offer.network),
        network_id=offer.network,
        symbol=rail.token.symbol,
        amount=_whole(offer.amount, decimals),
        raw_amount=offer.amount,
        asset=offer.asset,
        issuer=offer.extra.get("issuer", ""),
        pay_to=offer.pay_to,
        valid_s=offer.max_timeout_seconds,
        scheme=offer.scheme,
        deposit=_whole(least, decimals) if (least := offer.extra.get("minDeposit")) else "",
    )


def _whole(amount: str, decimals: int) -> str:
    return format(Decimal(amount).scaleb(-decimals).normalize(), "f")
