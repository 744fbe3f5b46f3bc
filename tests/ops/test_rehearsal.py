"""What a rehearsal says of receipts, balances and settings: each fault has its sentence."""

import dataclasses
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from coinslot.challenge import Quote
from coinslot.configuration import Configuration
from coinslot.evm_signer import EvmSigner
from coinslot.payment_folder import PaymentFolder
from ops.main import main
from ops.rehearsal.plan import Planned, RehearsedRail
from ops.rehearsal.purchases import balanced, differences, wrongs_of
from shared.money import Price
from shared.settings.rails import EvmRailSettings
from shared.x402.networks import EVM_USDC, Rail
from shared.x402.wire import Challenge, Offer, Resource, Settlement
from tests.each import each

NETWORK = "eip155:84532"
PAY_TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
OFFER = Offer(
    scheme="exact",
    network=NETWORK,
    amount="1000",
    asset=EVM_USDC[NETWORK].address,
    pay_to=PAY_TO,
    max_timeout_seconds=60,
)


@pytest.fixture
def rehearsed(tmp_path: Path) -> RehearsedRail:
    """The EVM rail of a service on Base Sepolia, whose facilitator is another's."""
    signer = EvmSigner(bytes(31) + b"\1", network=NETWORK)
    buyer = Configuration(signer, "https://api.example", Decimal(1), PaymentFolder(tmp_path), False, ())
    own = EvmRailSettings(network=NETWORK, pay_to=PAY_TO, facilitator_url="https://key@facilitator.example/v2")
    return RehearsedRail(Rail.BASE, "evm", own, EVM_USDC[NETWORK], "http://node.test", buyer)


@pytest.fixture
def planned(rehearsed: RehearsedRail) -> Planned:
    return Planned(rehearsed, "echo", {}, OFFER, Price.of("0.001"))


def test_wrong_options_are_refused_before_anything_is_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What would be ignored, or be found out after the challenge only."""
    monkeypatch.chdir(tmp_path)
    assert main(["rehearse", "--all", "echo"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["rehearse", "--rpc-url", "base=node.example"])
    printed = capsys.readouterr().err
    assert "name none beside it. Nothing was signed" in printed
    assert "--rpc-url: the node is no http(s) address" in printed


def test_each_field_of_a_receipt_is_checked(planned: Planned) -> None:
    """Another spelling of the payer is none."""
    payer = planned.rehearsed.buyer.signer.address
    right = Settlement(
        success=True, transaction="0x1", network=NETWORK, payer=payer.upper().replace("X", "x"), amount="1000"
    )
    assert wrongs_of(right, planned) == []
    assert wrongs_of(None, planned) == ["the answer came without a receipt that can be read"]
    wrong = {"success": False, "transaction": "", "network": "eip155:8453", "payer": PAY_TO, "amount": "999"}
    for name, value in wrong.items():
        assert len(wrongs_of(msgspec.structs.replace(right, **{name: value}), planned)) == 1
    assert len(wrongs_of(msgspec.structs.replace(right, **wrong), planned)) == len(wrong)


@each("grown", [("0.001", "ok"), ("0.003", "note"), ("0", "fail"), ("0.0009", "fail"), ("-5", "fail")])
def test_the_recipient_has_the_price_more(planned: Planned, grown: tuple[str, str]) -> None:
    """More than that, others pay, too; less, something is wrong."""
    amount, level = grown
    step = balanced(planned, Decimal(7), 7 + Decimal(amount))
    assert (step.level, step.seen["before"]) == (level, "7")


def test_what_differs_from_the_sandbox(rehearsed: RehearsedRail) -> None:
    """Network, facilitator, finality, spacing and extensions: a sentence for each, without the facilitator's password."""
    resource = Resource(url="https://api.example/v1/cdp/echo")
    quote = Quote(Challenge(error="", resource=resource, accepts=(OFFER,), extensions={"bazaar": {}}), {})
    told = [step.detail for step in differences(rehearsed, quote)]
    assert told == [
        "Base Sepolia, a network with test tokens and other users",
        "another facilitator settles, facilitator.example: its fees and its finality count",
        "the challenge lacks the extension payment-identifier",
    ]
    ours = dataclasses.replace(rehearsed.own, rpc_url="http://node.test", finality="3", spacing_ms=100)  # type: ignore[call-arg]
    told = [step.detail for step in differences(dataclasses.replace(rehearsed, own=ours), quote)]
    assert told[1:3] == ["finality is 3, and included in the sandbox", "spacing_ms is 100, and 0 in the sandbox"]
