"""The settler's ETH is watched: a warning before it is gone, no settlement when it is, and all goes on once there is more."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from facilitator.rails.evm import prices
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from shared.x402.evm import keccak256
from tests.facilitator.bench import FaultyNode
from tests.facilitator.conftest import Build, running
from tests.facilitator.paused_chain import StillChain
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

ETHER = 10**18
PENNILESS = 10**9
BASE = "eip155:8453"


@pytest.fixture
def funds(still: StillChain) -> Iterator[Callable[[int], None]]:
    """Sets what the settler has, in wei; at the end it is rich again."""

    def has(wei: int) -> None:
        still.rpc("anvil_setBalance", still.sandbox.settler, hex(wei))

    yield has
    has(10_000 * ETHER)


@pytest.fixture
def node(still: StillChain) -> Iterator[FaultyNode]:
    """It says what it was asked."""
    node = FaultyNode(still.sandbox.rpc_url)
    node.start()
    yield node
    node.stop()


@pytest.fixture
def settings(still: StillChain, node: FaultyNode, tmp_path: Path) -> Settings:
    key = tmp_path / "settler.key"
    key.write_text(still.sandbox.settler_key)
    return Settings(
        evm=EvmRailSettings(rpc_url=node.url, settler_key_file=key, max_fee_gwei=1_000, low_balance_eth=2, spacing_ms=0)
    )


@pytest.fixture(autouse=True)
def _watchful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A facilitator that looks all the time."""
    for name in ("evm.rail.WATCH_EVERY_S", "evm.balance.READ_EVERY_S", "evm.balance.READ_SOON_S"):
        monkeypatch.setattr(f"facilitator.rails.{name}", 0.05)


@pytest.fixture
async def facilitator(build: Build, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with running(build(settings)) as client:
        yield client


async def settle(facilitator: httpx.AsyncClient, call: Any) -> Any:
    answer = await facilitator.post("/settle", json=call)
    assert answer.status_code == 200
    return answer.json()


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
    still: StillChain,
    funds: Callable[[int], None],
    pay_to: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Refused at once and openly, with nothing sent; what was settled stays settled; topped up, it goes on by itself."""
    payer = still.payer()
    settled, refused = payer.call(pay_to), payer.call(pay_to)
    first = await settle(facilitator, settled)
    before = still.confirmed
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
    why = f"the settler account {still.sandbox.settler} has 0.000000001000000000 ETH: "
    why += "not enough for the gas of a settlement"
    told = health["rails"][BASE]
    assert (health["ok"], told["balance"], told["reason"]) == (False, "0.000000001000000000 ETH", why)
    assert supported.json()["kinds"] == []

    funds(5 * ETHER)
    await health_becomes(facilitator, 200, balance="5.0")
    after = await settle(facilitator, refused)

    assert (after["success"], still.number_of(after["transaction"])) == (True, before)
    levels = [one.levelno for one in caplog.records if one.name == "facilitator.balance"]
    assert levels == [logging.ERROR, logging.WARNING]


async def test_the_data_on_l1_is_part_of_a_settlements_price(
    facilitator: httpx.AsyncClient,
    node: FaultyNode,
    still: StillChain,
    funds: Callable[[int], None],
    pay_to: str,
) -> None:
    """On a chain with the OP Stack's oracle. One that does not know the question, as before Fjord, takes no such fee."""
    call = still.payer().call(pay_to)
    funds(ETHER)
    try:
        still.rpc("anvil_setCode", prices.ORACLE, oracle(ETHER))
        health = await health_becomes(facilitator, 503)
        node.seen.clear()
        refused = await settle(facilitator, call)
        assert (refused["success"], "eth_sendRawTransaction" in node.seen) == (False, False)
        assert "1.000000000000000000 ETH: not enough" in health["rails"][BASE]["reason"]

        still.rpc("anvil_setCode", prices.ORACLE, oracle(ETHER // 2))
        await health_becomes(facilitator, 200)
        assert (await settle(facilitator, call))["success"]

        still.rpc("anvil_setCode", prices.ORACLE, oracle(ETHER))
        await health_becomes(facilitator, 503)
        still.rpc("anvil_setCode", prices.ORACLE, "0x60006000fd")  # revert
        await health_becomes(facilitator, 200)
    finally:
        still.rpc("anvil_setCode", prices.ORACLE, "0x")


async def test_no_more_is_sent_at_once_than_the_data_on_l1_can_be_paid_for(
    build: Build, settings: Settings, still: StillChain, funds: Callable[[int], None], pay_to: str
) -> None:
    """Given ETH for three settlements and eight payments, three at most are in one transaction."""
    payer = still.payer()
    funds(3 * ETHER + ETHER // 2)
    still.rpc("anvil_setCode", prices.ORACLE, oracle(ETHER))
    try:
        async with running(build(settings)) as facilitator:
            settlements = await asyncio.gather(*(settle(facilitator, payer.call(pay_to)) for _ in range(8)))
    finally:
        still.rpc("anvil_setCode", prices.ORACLE, "0x")
    together = collections.Counter(one["transaction"] for one in settlements if one["success"])
    assert 1 <= max(together.values()) <= 3


def oracle(wei: int) -> str:
    """The code of an oracle that gives one answer to the upper bound's question, and reverts at any other."""
    asked = "60003560e01c63" + keccak256(b"getL1FeeUpperBound(uint256)")[:4].hex() + "14"
    return "0x" + asked + "601357600080fd5b7f" + f"{wei:064x}" + "60005260206000f3"


async def test_a_low_balance_is_told_once(
    facilitator: httpx.AsyncClient,
    still: StillChain,
    funds: Callable[[int], None],
    pay_to: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Below the mark it still settles, and the log warns once each time the mark is crossed."""
    said: list[str] = []
    for wei in (ETHER, 3 * ETHER, ETHER):
        funds(wei)
        await health_becomes(facilitator, 200, balance=f"{wei // ETHER}.")
        await asyncio.sleep(0.2)  # some more readings
        last = [one.getMessage() for one in caplog.records if one.name == "facilitator.balance"][-1]
        said.append("low" if "down to" in last else "well")

    assert said == ["low", "well", "low"]
    assert len([one for one in caplog.records if one.name == "facilitator.balance"]) == 3
    assert (await settle(facilitator, still.payer().call(pay_to)))["success"]
    assert (await facilitator.get("/healthz")).status_code == 200


async def test_what_waits_is_counted(
    build: Build,
    settings: Settings,
    node: FaultyNode,
    still: StillChain,
    funds: Callable[[int], None],
    pay_to: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given ETH for one transaction and another on its way, then a second one is not tried: the node would refuse it."""
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", 1.0)
    payer = still.payer()
    base_fee = int(still.rpc("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
    funds(150_000 * (2 * base_fee + 10**9))
    still.hold()
    try:
        async with running(
            build(dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, low_balance_eth=0)))
        ) as facilitator:
            settlements = await asyncio.gather(*(settle(facilitator, payer.call(pay_to)) for _ in range(2)))
            sent = len(still.waiting)
    finally:
        still.flow()

    assert (sent, node.seen.count("eth_sendRawTransaction")) == (1, 1)
    assert {one["errorReason"] for one in settlements} == {"settlement_pending", "unexpected_settle_error"}


async def test_a_normal_settlement_makes_three_requests(
    build: Build, settings: Settings, node: FaultyNode, still: StillChain, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulated, sent, and its receipt read: what is watched is watched beside it."""
    for name in ("evm.rail.WATCH_EVERY_S", "evm.balance.READ_SOON_S", "evm.prices.PRICE_AGE_S"):
        monkeypatch.setattr(f"facilitator.rails.{name}", 60.0)
    payer = still.payer()
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
