"""What a challenge offers while rails go down and come back. The gate is real, with two rails; nothing is asked or settled."""

import base64
import dataclasses
import json
import time
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from api.causes import Cause
from api.errors import Problem
from api.http import Answer, respond
from api.payment.binding import Binder
from api.payment.channel_watch import channel_rail
from api.payment.cost_limit import CostLimit
from api.payment.facilitator import Facilitator
from api.payment.gate import MAX_HEAD_BYTES, UNPAID, PaymentGate
from api.payment.headers import MAX_VALUES
from api.payment.health import Health
from api.payment.offer_receipt import Signer
from api.payment.rails import ConfiguredRail, configured_rails
from jobs import echo
from jobs.catalogue import BY_NAME, CATALOGUE
from shared.endpoint import Endpoint, Flavour
from shared.settings.rails import (
    EthereumRailSettings,
    EvmRailSettings,
    SolanaRailSettings,
    StellarRailSettings,
    XrplRailSettings,
)
from shared.settings.service import Settings
from shared.x402 import evm
from shared.x402.exact import SCHEME
from shared.x402.networks import EVM_USDC, Rail
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, FlatPayment, Offer, Payment, SupportedKind
from tests.each import each

BASE, OTHER = "eip155:8453", "eip155:84532"
FEE_PAYER = "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu"
BINDER = Binder(bytes(range(32)))
LONG = "https://" + "x" * 60 + ".example.com"
SIGNER = Signer(bytes(range(32)), LONG)


def rail(name: Rail, network: str) -> ConfiguredRail:
    """On an EVM network, whatever its name."""
    facilitator = Facilitator("http://127.0.0.1:1", settle_timeout_s=1.0)
    return ConfiguredRail(
        rail=name,
        verifier=evm,
        token=EVM_USDC[network],
        pay_to="0x" + "11" * 20,
        facilitator=facilitator,
        health=Health(name, facilitator, scheme=SCHEME, network=network),
    )


@pytest.fixture
def rails() -> tuple[ConfiguredRail, ConfiguredRail]:
    return rail(Rail.BASE, BASE), rail(Rail.SOLANA, OTHER)


def take_down(one: ConfiguredRail) -> None:
    one.health.hold(is_held=True)


def bring_back(one: ConfiguredRail) -> None:
    one.health.hold(is_held=False)


def offered(answer: Answer) -> list[str]:
    """The networks in the body. PAYMENT-REQUIRED says the same, and WWW-Authenticate those that need no token."""
    assert answer.status == 402
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    offers = json.loads(answer.body)["accepts"]
    assert json.loads(base64.b64decode(headers["payment-required"]))["accepts"] == offers
    if short := headers.get("www-authenticate", "").removeprefix("X402 "):
        exact = [offer for offer in offers if offer["scheme"] == SCHEME]
        plain = [offer for offer in exact if "memo" not in offer["extra"] and "invoiceId" not in offer["extra"]]
        assert json.loads(base64.b64decode(short))["accepts"] == (plain or offers)
    return [offer["network"] for offer in offers]


@pytest.mark.parametrize("flavour", Flavour)
def test_a_rail_that_is_down_is_not_offered(rails: Any, flavour: Flavour) -> None:
    """In no challenge, for whatever reason it is given, and in no header; back it is where it was."""
    endpoint = dataclasses.replace(echo.ENDPOINT, flavour=flavour)
    gate = PaymentGate(endpoint, rails, "http://shop.test", BINDER)
    base, other = rails
    assert offered(gate.refuse(UNPAID)) == [BASE, OTHER]
    for down, left in ((base, OTHER), (other, BASE)):
        take_down(down)
        assert offered(gate.refuse(UNPAID)) == offered(gate.refuse("insufficient_funds")) == [left]
        bring_back(down)
        assert offered(gate.refuse(UNPAID)) == offered(gate.refuse("insufficient_funds")) == [BASE, OTHER]


def test_when_no_rail_is_up_all_are_offered(rails: Any) -> None:
    """An unpaid call is 402 with a challenge, always."""
    gate = PaymentGate(echo.ENDPOINT, rails, "http://shop.test", BINDER)
    for one in rails:
        take_down(one)
    assert offered(gate.refuse(UNPAID)) == [BASE, OTHER]
    bring_back(rails[1])
    assert offered(gate.refuse(UNPAID)) == [OTHER]


def test_challenges_are_built_when_rails_change_and_not_for_a_call(rails: Any) -> None:
    """Without tokens, every caller gets the very same bytes."""
    gate = PaymentGate(echo.ENDPOINT, rails, "http://shop.test", BINDER)
    full = gate.refuse(UNPAID)
    assert gate.refuse(UNPAID, b"{}") is full
    assert not gate.binds_bodies
    take_down(rails[0])
    bring_back(rails[0])
    assert gate.refuse(UNPAID) == full


def test_a_payment_on_a_rail_that_is_down_is_still_recognised(rails: Any) -> None:
    """It may be one that was made before."""
    gate = PaymentGate(echo.ENDPOINT, rails, "http://shop.test", BINDER)
    for one in rails:
        take_down(one)
        offer = one.offers(echo.ENDPOINT.price)[0]
        found = gate.match(Payment(x402_version=X402_VERSION, accepted=offer, payload={}))
        assert (found.offer, found.rail.rail, found.rail.is_up, found.is_current) == (offer, one.rail, False, True)


def test_a_price_that_is_not_worth_its_settlement_is_not_offered_there(
    rails: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A dearer endpoint is; without another rail the challenge has it all the same. What does not change stays the same
    object, discovery shows every rail, and the log has one line for each crossing."""
    base, _ = rails
    base.health.costs = CostLimit(Fraction(1, 2))
    cheap, dear, lone = (
        PaymentGate(endpoint, sold, "http://shop.test", BINDER)
        for endpoint, sold in ((echo.ENDPOINT, rails), (BY_NAME["web-diff"], rails), (echo.ENDPOINT, rails[:1]))
    )
    shown = cheap.listing

    def says(cost: int) -> None:
        base.health._hear(
            SupportedKind(x402_version=2, scheme=SCHEME, network=BASE, extra={"settlementCost": str(cost)})
        )

    for cost, of_cheap, of_dear in (
        (500, [BASE, OTHER], [BASE, OTHER]),
        (501, [OTHER], [BASE, OTHER]),
        (450, [OTHER], [BASE, OTHER]),
        (40_001, [OTHER], [OTHER]),
        (400, [BASE, OTHER], [BASE, OTHER]),
    ):
        says(cost)
        assert (offered(cheap.refuse(UNPAID)), offered(dear.refuse(UNPAID))) == (of_cheap, of_dear)
        assert offered(lone.refuse(UNPAID)) == [BASE]
    before = dear.offered
    says(401)
    assert dear.offered is before
    assert cheap.listing == shown
    assert [record.getMessage() for record in caplog.records if " echo " in f" {record.getMessage()} "][::2] == [
        "echo is not offered on base: a settlement costs 501 of its 1000 atomic units",
        "echo is offered on base again: its settlement costs less",
    ]
    assert base.health.terms == {}


def completed(offer: Offer, terms: dict[str, Any]) -> Offer | None:
    """As on Solana: nothing can be offered before the facilitator has named its fee payer."""
    named = terms.get("feePayer")
    return msgspec.structs.replace(offer, extra={**offer.extra, "feePayer": named}) if named else None


@pytest.fixture
def bound(rails: Any) -> ConfiguredRail:
    """A rail whose payments carry a token and whose facilitator has terms."""
    own = {"completed": completed, "TERMS": ("feePayer",), "TOKEN_KEY": "memo", "TOKEN_REASON": "memo_mismatch"}
    return dataclasses.replace(rails[1], verifier=SimpleNamespace(**vars(evm) | own))


def says(one: ConfiguredRail, fee_payer: str) -> None:
    """The facilitator's answer of /supported."""
    one.health._hear(
        SupportedKind(x402_version=2, scheme="exact", network=OTHER, extra={"feePayer": fee_payer, "ledger": 7})
    )


def extras(answer: Answer) -> list[dict[str, Any]]:
    return [offer["extra"] for offer in json.loads(answer.body)["accepts"]]


@pytest.mark.parametrize("flavour", Flavour)
def test_every_challenge_has_a_token_of_its_own(rails: Any, bound: ConfiguredRail, flavour: Flavour) -> None:
    """Good for this request, and only where its network can carry one."""
    gate = PaymentGate(
        dataclasses.replace(echo.ENDPOINT, flavour=flavour), (rails[0], bound), "http://shop.test", BINDER
    )
    says(bound, "F")
    body, now = b'{"message":"a"}', int(time.time())
    tokens = set()
    for _ in range(3):
        answer = gate.refuse(UNPAID, body)
        assert offered(answer) == [BASE, OTHER]
        base, other = extras(answer)
        assert "memo" not in base
        tokens.add(other["memo"])
        assert BINDER.binds(other["memo"], "echo", body, now)
        assert not BINDER.binds(other["memo"], "echo", b'{"message":"b"}', now)
        assert not BINDER.binds(other["memo"], "faker", body, now)
    assert len(tokens) == 3


def test_what_the_facilitator_has_to_say_is_waited_for(rails: Any, bound: ConfiguredRail) -> None:
    """Until then the rail is in no challenge; then with the facilitator's terms, as they are now. Discovery shows them too."""
    gate = PaymentGate(echo.ENDPOINT, (rails[0], bound), "http://shop.test", BINDER)
    assert [offer.extra.get("feePayer") for offer in gate.listing.offers] == [None, None]
    assert offered(gate.refuse(UNPAID)) == [BASE]
    for fee_payer in ("F", "G"):
        says(bound, fee_payer)
        assert extras(gate.refuse(UNPAID))[1]["feePayer"] == fee_payer
        known = bound.health.ledger()
        assert known is not None
        assert (known.number, known.ledger_s) == (7, None)
        assert [offer.extra.get("feePayer") for offer in gate.listing.offers] == [None, fee_payer]


def test_a_payment_brings_its_token(rails: Any, bound: ConfiguredRail) -> None:
    """The offer that is checked has it; without one there is nothing to check; a fee payer of yesterday pays nothing new."""
    gate = PaymentGate(echo.ENDPOINT, (rails[0], bound), "http://shop.test", BINDER)
    says(bound, "F")
    offer = json.loads(gate.refuse(UNPAID).body)["accepts"][1]

    def accepts(**extra: Any) -> Payment:
        accepted = msgspec.convert({**offer, "extra": {**offer["extra"], **extra}}, Offer)
        return Payment(x402_version=X402_VERSION, accepted=accepted, payload={})

    found = gate.match(accepts())
    assert (found.token, found.offer.extra["memo"], found.is_current) == (offer["extra"]["memo"],) * 2 + (True,)
    assert found.payment.accepted == found.offer
    for wrong in (None, "", 7, ["x"]):
        with pytest.raises(PaymentRefused, match="memo_mismatch"):
            gate.match(accepts(memo=wrong))
    says(bound, "G")
    earlier = gate.match(accepts())
    assert (earlier.offer.extra["feePayer"], earlier.is_current) == ("F", False)
    assert isinstance(earlier.refusal(), PaymentRefused)


def test_what_another_process_offers_already_may_come_again(rails: Any, bound: ConfiguredRail) -> None:
    """Given a process that its facilitator has told nothing yet, then a payment for the offer of another one is not refused for
    good."""
    gate = PaymentGate(echo.ENDPOINT, (rails[0], bound), "http://shop.test", BINDER)
    ours = gate.listing.offers[1]
    offer = msgspec.structs.replace(ours, extra={**ours.extra, "feePayer": "F", "memo": "m"})
    found = gate.match(Payment(x402_version=X402_VERSION, accepted=offer, payload={}))
    refusal = found.refusal()
    assert isinstance(refusal, Problem)
    assert (found.is_current, refusal.cause, refusal.charged) == (False, Cause.RAIL_DOWN, False)


def test_a_flat_payment_cannot_bring_a_token(rails: Any, bound: ConfiguredRail) -> None:
    """It has no `accepted` to say it in."""
    gate = PaymentGate(echo.ENDPOINT, (rails[0], bound), "http://shop.test", BINDER)
    says(bound, "F")
    flat = FlatPayment(x402_version=1, scheme="exact", network=OTHER, payload={})
    with pytest.raises(PaymentRefused, match="no_matching_offer"):
        gate.match(flat)
    assert gate.match(msgspec.structs.replace(flat, network=BASE)).rail is rails[0]


@each("endpoint", CATALOGUE)
@pytest.mark.anyio
@pytest.mark.parametrize("signer", [None, SIGNER])
async def test_a_challenge_of_all_rails_has_a_short_head(endpoint: Endpoint, signer: Signer | None) -> None:
    """All its headers together have 8 KB, at a long address. What is left out for it is in the catalogue. Offers are signed
    as long as there is room."""
    settings = Settings(
        evm=EvmRailSettings(pay_to="0x" + "11" * 20, channels="on"),
        ethereum=EthereumRailSettings(pay_to="0x" + "11" * 20),
        solana=SolanaRailSettings(pay_to="GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse"),
        stellar=StellarRailSettings(pay_to="GDWUSKGGFDI4FRXK5EBTRECZSVQSSWJHHJOGH6JWG3AUMFFMQ435DIAG"),
        xrpl=XrplRailSettings(pay_to="rpsqFvjMbCmMyT4Gfz7pfmzcExUDnjuktd"),
    )
    all_rails = configured_rails(settings)
    channels = channel_rail(settings, all_rails)
    assert channels
    gate = PaymentGate(endpoint, (*all_rails, channels), LONG, BINDER, signer=signer)
    for one in all_rails:
        one.health._hear(
            SupportedKind(
                x402_version=2, scheme="exact", network=one.asset[0], extra={"feePayer": FEE_PAYER, "ledger": 10**8}
            )
        )
    channels.health.heed({"receiverAuthorizer": "0x" + 40 * "a", "withdrawDelay": 900, "minDeposit": "200000"})
    answer = gate.refuse(UNPAID, b"{}")
    accepts = json.loads(answer.body)["accepts"]
    by_channel = Rail.BASE in endpoint.rails and not endpoint.holds_secret
    assert len(accepts) == len(endpoint.rails) + by_channel
    # A payment has one of the offers; everything else comes back in it.
    assert sum(map(answer.body.count, (b",", b"[", b"{"))) <= MAX_VALUES
    sent: list[Any] = []

    async def send(event: Any) -> None:
        sent.append(event)

    await respond(send, answer, request_id="r" * 64)
    assert sum(len(name) + len(value) + 4 for name, value in sent[0]["headers"]) <= MAX_HEAD_BYTES - 100
    assert offered(answer) == [one["network"] for one in accepts]


def test_a_path_in_front_of_the_api_may_be_named_or_not(rails: tuple[ConfiguredRail, ConfiguredRail]) -> None:
    """Given a proxy that serves the API below /shop, then a payment may name either path, and no other that ends so."""
    gate = PaymentGate(echo.ENDPOINT, rails, "https://api.test/shop", BINDER)
    path = echo.ENDPOINT.path

    def is_for_another(url: str) -> bool:
        payment = Payment(x402_version=X402_VERSION, accepted=gate.offered[0], payload={}, resource={"url": url})
        try:
            gate.match(payment)
        except PaymentRefused as refused:
            return refused.reason == "resource_mismatch"
        return False

    named = [f"https://api.test{way}{path}" for way in ("", "/shop", "/shop/shop", "/bishop")]
    assert [is_for_another(url) for url in named] == [False, False, True, True]
