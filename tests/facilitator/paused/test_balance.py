"""The settler's ETH is watched: a warning before it is gone, no settlement when it is, and settlements once there is more."""

import asyncio
import collections
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from facilitator.rails.evm import prices
from shared.settings.service import Settings
from shared.x402.evm import keccak256
from tests.facilitator.bench import FaultyNode, settle, with_evm
from tests.facilitator.conftest import Build, running
from tests.facilitator.paused_chain import PausedChain
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

ETHER = 10**18
PENNILESS = 10**9
BASE = "eip155:8453"


@pytest.fixture
def funds(chain: PausedChain) -> Iterator[Callable[[int], None]]:
    """Sets what the settler has, in wei; at the end it is rich again."""

    def has(wei: int) -> None:
        chain.rpc("anvil_setBalance", chain.sandbox.settler, hex(wei))

    yield has
    has(10_000 * ETHER)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return with_evm(settings, max_fee_gwei=1_000, low_balance_eth=2)


@pytest.fixture(autouse=True)
def _watchful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A facilitator that looks all the time."""
    for name in ("evm.rail.WATCH_EVERY_S", "evm.rail.READ_EVERY_S", "evm.rail.READ_SOON_S"):
        monkeypatch.setattr(f"facilitator.rails.{name}", 0.05)


async def health_becomes(facilitator: httpx.AsyncClient, status: int, balance: str = "") -> Any:
    deadline = time.monotonic() + patience(10)
    while True:
        answer = await facilitator.get("/healthz")
        if answer.status_code == status and answer.json()["rails"][BASE]["balance"].startswith(balance):
            return answer.json()
        assert time.monotonic() < deadline, answer.text
        await asyncio.sleep(0.02)


async def test_an_empty_account_settles_nothing_until_it_is_filled(
    facilitator: httpx.AsyncClient,
    node: FaultyNode,
    chain: PausedChain,
    funds: Callable[[int], None],
    pay_to: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Refused at once and openly, with nothing sent; what was settled stays settled; topped up, it continues by itself."""
    payer = chain.payer()
    settled, refused = payer.call(pay_to), payer.call(pay_to)
    first = await settle(facilitator, settled)
    before = chain.confirmed
    funds(PENNILESS)
    health = await health_becomes(facilitator, 503)
    node.seen.clear()

    answers = await asyncio.gather(*(settle(facilitator, refused) for _ in range(3)))
    again = await settle(facilitator, settled)
    supported = await facilitator.get("/supported")

    assert {(one["success"], one["errorReason"], one["transaction"]) for one in answers} == {
        (False, "unexpected_settle_error", "")
    }
    assert all("not enough for the gas" in one["errorMessage"] for one in answers)
    assert again == first
    assert "eth_sendRawTransaction" not in node.seen
    why = f"the settler account {chain.sandbox.settler} has 0.000000001000000000 ETH: "
    why += "not enough for the gas of a settlement"
    shown = health["rails"][BASE]
    assert (health["ok"], shown["balance"], shown["reason"]) == (False, "0.000000001000000000 ETH", why)
    assert supported.json()["kinds"] == []

    funds(5 * ETHER)
    await health_becomes(facilitator, 200, balance="5.0")
    after = await settle(facilitator, refused)

    assert (after["success"], chain.number_of(after["transaction"])) == (True, before)
    levels = [one.levelno for one in caplog.records if one.name == "facilitator.balance"]
    assert levels == [logging.ERROR, logging.WARNING]


async def test_the_data_on_l1_is_part_of_a_settlements_price(
    facilitator: httpx.AsyncClient,
    node: FaultyNode,
    chain: PausedChain,
    funds: Callable[[int], None],
    pay_to: str,
) -> None:
    """On a chain with the OP Stack's oracle. One that does not know the question, as before Fjord, takes no such fee."""
    call = chain.payer().call(pay_to)
    funds(ETHER)
    try:
        chain.rpc("anvil_setCode", prices.ORACLE, oracle(ETHER))
        health = await health_becomes(facilitator, 503)
        node.seen.clear()
        refused = await settle(facilitator, call)
        assert (refused["success"], "eth_sendRawTransaction" in node.seen) == (False, False)
        assert "1.000000000000000000 ETH: not enough" in health["rails"][BASE]["reason"]

        chain.rpc("anvil_setCode", prices.ORACLE, oracle(ETHER // 2))
        await health_becomes(facilitator, 200)
        assert (await settle(facilitator, call))["success"]

        chain.rpc("anvil_setCode", prices.ORACLE, oracle(ETHER))
        await health_becomes(facilitator, 503)
        chain.rpc("anvil_setCode", prices.ORACLE, "0x60006000fd")  # revert
        await health_becomes(facilitator, 200)
    finally:
        chain.rpc("anvil_setCode", prices.ORACLE, "0x")


async def test_no_more_is_sent_at_once_than_the_data_on_l1_can_be_paid_for(
    build: Build, settings: Settings, chain: PausedChain, funds: Callable[[int], None], pay_to: str
) -> None:
    """Given ETH for three settlements and eight payments, three at most are in one transaction."""
    payer = chain.payer()
    funds(3 * ETHER + ETHER // 2)
    chain.rpc("anvil_setCode", prices.ORACLE, oracle(ETHER))
    try:
        async with running(build(settings)) as facilitator:
            settlements = await asyncio.gather(*(settle(facilitator, payer.call(pay_to)) for _ in range(8)))
    finally:
        chain.rpc("anvil_setCode", prices.ORACLE, "0x")
    together = collections.Counter(one["transaction"] for one in settlements if one["success"])
    assert 1 <= max(together.values()) <= 3


def oracle(wei: int) -> str:
    """The code of an oracle that gives one answer to the upper bound's question, and reverts at any other."""
    asked = "60003560e01c63" + keccak256(b"getL1FeeUpperBound(uint256)")[:4].hex() + "14"
    return "0x" + asked + "601357600080fd5b7f" + f"{wei:064x}" + "60005260206000f3"


async def test_what_waits_is_counted(
    build: Build,
    settings: Settings,
    node: FaultyNode,
    chain: PausedChain,
    funds: Callable[[int], None],
    pay_to: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given ETH for one transaction and another on its way, then a second one is not tried: the node would refuse it."""
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", 1.0)
    payer = chain.payer()
    base_fee = int(chain.rpc("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
    funds(150_000 * (2 * base_fee + 10**9))
    chain.hold()
    try:
        async with running(build(with_evm(settings, low_balance_eth=0))) as facilitator:
            settlements = await asyncio.gather(*(settle(facilitator, payer.call(pay_to)) for _ in range(2)))
            sent = len(chain.waiting)
    finally:
        chain.flow()

    assert (sent, node.seen.count("eth_sendRawTransaction")) == (1, 1)
    assert {one["errorReason"] for one in settlements} == {"settlement_pending", "unexpected_settle_error"}


async def test_a_normal_settlement_makes_three_requests(
    build: Build, settings: Settings, node: FaultyNode, chain: PausedChain, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulated, sent, and its receipt read: what is watched is watched beside it."""
    for name in ("evm.rail.WATCH_EVERY_S", "evm.rail.READ_SOON_S", "evm.prices.PRICE_AGE_S"):
        monkeypatch.setattr(f"facilitator.rails.{name}", 60.0)
    payer = chain.payer()
    async with running(build(settings)) as facilitator:
        node.requests.clear()
        for _ in range(3):
            assert (await settle(facilitator, payer.call(pay_to)))["success"]

    checked = node.requests.count(["eth_getCode", "eth_call", "eth_call"])
    assert checked == node.requests.count(["eth_sendRawTransaction"]) == 3
    rest = [
        one for one in node.requests if one not in (["eth_getCode", "eth_call", "eth_call"], ["eth_sendRawTransaction"])
    ]
    assert {one[0] for one in rest} <= {"eth_getTransactionReceipt", "eth_getBlockByNumber"}
