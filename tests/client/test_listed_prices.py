"""A shop whose challenges do not say what its list says."""

import base64
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import anyio
import msgspec
import pytest

from coinslot.capped_buyer import CappedBuyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError, PriceAboveList
from coinslot.spending_caps import Caps
from shared.x402.wire import Payment
from tests.client.conftest import Canned, Command, Shop, configured, listed

CAPS = Caps(per_call=Decimal(1), per_day=Decimal(1), total=Decimal(1), per_endpoint={})


def dear(shop: Shop, price: str = "0.04") -> None:
    shop.unpaid = [lambda seen: shop.demand(shop.challenge(seen.path, price=price))]


def lists_in_its_catalogue(shop: Shop) -> None:
    items = [{"resource": f"{shop.base_url}/v1/cdp/echo", "accepts": shop.challenge()["accepts"]}]
    shop.documents = {"/bazaar.json": Canned(200, json.dumps({"items": items}).encode())}


def redirects(shop: Shop) -> None:
    shop.documents = {"/openapi.json": Canned(307, headers={"location": "/elsewhere"})}


def answers_for_ever(shop: Shop) -> None:
    shop.documents = {"/openapi.json": Canned(200, b" " * 1000, {"content-length": "100000"}, pause_s=0.2)}


def says_nonsense(shop: Shop) -> None:
    shop.documents = {"/openapi.json": listed("-1")}


@pytest.mark.parametrize(
    ("lists", "code"),
    [
        (lambda _: None, 3),
        (lists_in_its_catalogue, 3),
        (redirects, 5),
        (says_nonsense, 5),
        (answers_for_ever, 6),
    ],
)
def test_the_command_signs_nothing_above_the_list(
    lists: Callable[[Shop], None], code: int, command: Command, shop: Shop, sandbox: Path
) -> None:
    """Although the limit would allow it. Where there may be a list that cannot be read, nothing is signed either."""
    dear(shop)
    lists(shop)
    run = command("call", "echo", "--max-price", "1", "--timeout", "0.5", "--json")
    assert (run.code, run.json["charged"], shop.payments) == (code, False, [])


def test_what_is_in_no_list_has_the_limit_alone(command: Command, shop: Shop, sandbox: Path) -> None:
    """And the command says that nothing else does."""
    another = Canned(200, shop.documents["/openapi.json"].body.replace(b"echo", b"another"))
    for documents in ({}, {"/openapi.json": another}):
        shop.documents = documents
        assert "lists no price for this call" in command("call", "echo").err
    assert len(shop.payments) == 2


def test_tools_sign_nothing_above_the_list(shop: Shop, tmp_path: Path) -> None:
    """A first challenge has no pin. The list is read again before a price is refused: the shop may have changed both."""

    async def buy() -> None:
        buyer = CappedBuyer(configured(shop.base_url, tmp_path), CAPS, timeout_s=5)
        try:
            dear(shop)
            with pytest.raises(PriceAboveList, match=r"asks for 0\.04 dollars for echo, and lists it at 0\.001"):
                await buyer.call("echo", {})
            assert shop.payments == []
            dear(shop, "0.001")
            await buyer.call("echo", {})
            shop.documents = {}  # what was listed once counts until another price is
            dear(shop)
            with pytest.raises(PriceAboveList):
                await buyer.call("echo", {})
            assert len(shop.payments) == 1
        finally:
            await buyer.aclose()

    anyio.run(buy)


def moves_the_call(shop: Shop) -> None:
    shop.unpaid = [Canned(307, headers={"location": "/v1/cdp/chain/chain-id"})]


def moves_the_payment(shop: Shop) -> None:
    shop.paid = [Canned(308, headers={"location": "/v1/cdp/chain/chain-id"})]


def asks_for_ever(shop: Shop) -> None:
    shop.unpaid = [Canned(402, b" " * 1000, {"content-length": "100000"}, pause_s=0.2)]


def answers_the_payment_for_ever(shop: Shop) -> None:
    shop.paid = [Canned(200, b" " * 1000, {"content-length": "100000"}, pause_s=0.2)]


def says_that_nothing_was_charged(shop: Shop) -> None:
    shop.paid = [shop.problem(500, charged=False, retryable=True)]


def asks_again_for_more(shop: Shop) -> None:
    shop.paid = [lambda seen: shop.demand(shop.challenge(seen.path, price="0.04"))]


@pytest.mark.parametrize(
    "acts",
    [
        dear,
        lists_in_its_catalogue,
        redirects,
        answers_for_ever,
        says_nonsense,
        moves_the_call,
        moves_the_payment,
        asks_for_ever,
        answers_the_payment_for_ever,
        says_that_nothing_was_charged,
        asks_again_for_more,
    ],
)
@pytest.mark.parametrize("buys", ["call", "mcp"])
def test_a_hostile_shop_gets_the_listed_price_at_most(
    buys: str,
    acts: Callable[[Shop], None],
    command: Command,
    shop: Shop,
    sandbox: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One payment of it for one call, however the shop answers: what was signed it can settle, whatever it says of it."""
    for module in ("buyer", "capped_buyer"):
        monkeypatch.setattr(f"coinslot.{module}.RetryPolicy", lambda: RetryPolicy(budget_s=0.5, first_pause_s=0.1))
    if acts in (lists_in_its_catalogue, redirects, answers_for_ever, says_nonsense):
        dear(shop)
    acts(shop)

    async def buy() -> None:
        buyer = CappedBuyer(configured(shop.base_url, tmp_path), CAPS, timeout_s=1.5)
        try:
            with pytest.raises(CoinslotError):
                await buyer.call("echo", {})
        finally:
            await buyer.aclose()

    if buys == "call":
        assert command("call", "echo", "--max-price", "1", "--timeout", "1.5").code != 0
    else:
        anyio.run(buy)
    signed = [msgspec.json.decode(base64.b64decode(header), type=Payment) for header in set(shop.payments)]
    assert sum(int(payment.accepted.amount) for payment in signed) <= 1000
    assert len(signed) == (
        acts in (moves_the_payment, answers_the_payment_for_ever, says_that_nothing_was_charged, asks_again_for_more)
    )
