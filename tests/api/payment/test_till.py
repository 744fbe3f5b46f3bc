"""What a challenge offers while rails go down and come back. The till is real, with two rails; nothing is asked or settled."""

from __future__ import annotations

import base64
import dataclasses
import json
from functools import partial
from typing import Any

import pytest

from api.http import Answer
from api.payment.facilitator import Facilitator
from api.payment.health import Health
from api.payment.rails import ConfiguredRail
from api.payment.till import Till
from jobs import echo
from shared.endpoint import Flavour
from shared.x402 import evm
from shared.x402.networks import EVM_USDC, Rail
from shared.x402.wire import X402_VERSION, Payment

BASE, OTHER = "eip155:8453", "eip155:84532"


def rail(name: Rail, network: str) -> ConfiguredRail:
    """On an EVM network, whatever its name."""
    token = EVM_USDC[network]
    facilitator = Facilitator("http://127.0.0.1:1", settle_timeout_s=1.0)
    return ConfiguredRail(
        rail=name,
        asset=(network, token.address),
        offers=partial(evm.offers, token, pay_to="0x" + "11" * 20),
        matches=evm.matches,
        check=evm.check,
        facilitator=facilitator,
        health=Health(name, facilitator, scheme=evm.SCHEME, network=network),
    )


@pytest.fixture
def rails() -> tuple[ConfiguredRail, ConfiguredRail]:
    return rail(Rail.BASE, BASE), rail(Rail.SOLANA, OTHER)


def take_down(one: ConfiguredRail) -> None:
    circuit = one.facilitator.circuit
    while not circuit.is_open:
        circuit.failed(circuit.openings)


def bring_back(one: ConfiguredRail) -> None:
    one.facilitator.circuit.tried(passed=True)


def offered(answer: Answer) -> list[str]:
    """The networks in the body; every header says the same."""
    assert answer.status == 402
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    networks = [offer["network"] for offer in json.loads(answer.body)["accepts"]]
    for value in (headers["payment-required"], headers.get("www-authenticate", "").removeprefix("X402 ")):
        if value:
            assert [offer["network"] for offer in json.loads(base64.b64decode(value))["accepts"]] == networks
    return networks


@pytest.mark.parametrize("flavour", Flavour)
def test_a_rail_that_is_down_is_not_offered(rails: Any, flavour: Flavour) -> None:
    """In no challenge, for whatever reason it is given, and in no header; back it is where it was."""
    endpoint = dataclasses.replace(echo.ENDPOINT, flavour=flavour)
    till = Till(endpoint, rails, "http://shop.test")
    base, other = rails
    assert offered(till.unpaid) == [BASE, OTHER]
    for down, left in ((base, OTHER), (other, BASE)):
        take_down(down)
        assert offered(till.unpaid) == offered(till.refuse("insufficient_funds")) == [left]
        bring_back(down)
        assert offered(till.unpaid) == offered(till.refuse("insufficient_funds")) == [BASE, OTHER]


def test_when_no_rail_is_up_all_are_offered(rails: Any) -> None:
    """An unpaid call is 402 with a challenge, always."""
    till = Till(echo.ENDPOINT, rails, "http://shop.test")
    for one in rails:
        take_down(one)
    assert offered(till.unpaid) == [BASE, OTHER]
    bring_back(rails[1])
    assert offered(till.unpaid) == [OTHER]


def test_challenges_are_built_when_rails_change_and_not_for_a_call(rails: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And once for each set of rails that are up."""
    built: list[Any] = []
    original = Till._challenge

    def counted(till: Till, *args: Any) -> Answer:
        built.append(args)
        return original(till, *args)

    monkeypatch.setattr(Till, "_challenge", counted)
    till = Till(echo.ENDPOINT, rails, "http://shop.test")
    full = till.unpaid
    for _ in range(5):
        take_down(rails[0])
        bring_back(rails[0])
    assert till.unpaid is full
    assert len(built) == 2


def test_a_payment_on_a_rail_that_is_down_is_still_recognised(rails: Any) -> None:
    """It may be one that was made before."""
    till = Till(echo.ENDPOINT, rails, "http://shop.test")
    for one in rails:
        take_down(one)
        offer = one.offers(echo.ENDPOINT.price)[0]
        matched, found, _ = till.match(Payment(x402_version=X402_VERSION, accepted=offer, payload={}))
        assert (matched, found.rail, found.is_up) == (offer, one.rail, False)


def test_a_rail_that_is_down_from_the_start_is_not_offered(rails: Any) -> None:
    """Tills are made after rails."""
    take_down(rails[0])
    assert offered(Till(echo.ENDPOINT, rails, "http://shop.test").unpaid) == [OTHER]
