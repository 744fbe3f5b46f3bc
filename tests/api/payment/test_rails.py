"""A rail counts its settle calls by result, and says what an offer is worth."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from api.payment import rails
from api.payment.rails import ConfiguredRail, configured_rails
from api.payment.unsettled import Declined, Failing, NotSent, Undecided, Unsettled
from shared.money import Price
from shared.settings.rails import (
    EthereumRailSettings,
    EvmRailSettings,
    SolanaRailSettings,
    StellarRailSettings,
    XrplRailSettings,
)
from shared.settings.service import Settings
from shared.x402.networks import Rail
from shared.x402.wire import Offer, Payment, Settlement
from tests.each import each

SETTINGS = Settings(
    evm=EvmRailSettings(pay_to="0x" + "11" * 20),
    ethereum=EthereumRailSettings(pay_to="0x" + "11" * 20),
    solana=SolanaRailSettings(pay_to="GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse"),
    stellar=StellarRailSettings(pay_to="GDWUSKGGFDI4FRXK5EBTRECZSVQSSWJHHJOGH6JWG3AUMFFMQ435DIAG"),
    xrpl=XrplRailSettings(pay_to="rpsqFvjMbCmMyT4Gfz7pfmzcExUDnjuktd"),
)
RAILS = configured_rails(SETTINGS)
SETTLEMENT = Settlement(success=True, transaction="0x1", network="eip155:8453", payer="0x2")


def test_every_rail_is_tried() -> None:
    assert [rail.rail for rail in RAILS] == list(Rail)


@each("rail", RAILS, ids=[rail.rail.value for rail in RAILS])
@each("price", ["0.001", "0.08", "12"])
def test_an_offer_is_worth_its_price_on_every_rail(rail: ConfiguredRail, price: str) -> None:
    """Amounts have 6 or 7 decimals, or a point."""
    assert [rail.tokens(offer) for offer in rail.offers(Price.of(price))] == [float(price)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("failure", "result"),
    [
        (None, "settled"),
        (Declined("insufficient_funds", SETTLEMENT), "declined"),
        (NotSent("no connection"), "not_sent"),
        (Undecided("timed out"), "unknown"),
        (Failing("500"), "unknown"),
        (RuntimeError("a fault"), "unknown"),
    ],
)
async def test_settle_calls_are_counted_by_their_result(
    monkeypatch: pytest.MonkeyPatch, offer: Offer, payment: Payment, failure: Exception | None, result: str
) -> None:
    """Whatever the facilitator says, it is passed on."""
    counted: list[tuple[Any, ...]] = []
    monkeypatch.setattr(rails, "metrics", SimpleNamespace(settle=lambda *seen: counted.append(seen)))

    async def settle(payment: Payment, offer: Offer, **_: Any) -> Settlement:
        if failure is not None:
            raise failure
        return SETTLEMENT

    rail = dataclasses.replace(RAILS[0], facilitator=SimpleNamespace(settle=settle))
    if failure is None:
        assert await rail.settle(payment, offer, payer="0x2") is SETTLEMENT
    else:
        with pytest.raises(Unsettled if isinstance(failure, Unsettled) else RuntimeError):
            await rail.settle(payment, offer, payer="0x2")
    ((name, said, seconds),) = counted
    assert (name, said) == (Rail.BASE, result)
    assert 0 <= seconds < 60
