"""What a settlement costs is known before it is sent, and one that costs too much of its payment is not sent."""

import dataclasses
import time
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from compose.sandbox.evm import ETHER_PRICE
from facilitator.rails.evm import costs as module
from facilitator.rails.evm.costs import LONE_GAS, MOST_GAS, RECENT_S, Costs
from facilitator.rails.evm.transaction import Payment, Quote
from shared.settings.service import Settings
from shared.x402.refusal import PaymentRefused
from shared.x402.settlement_cost import TOO_COSTLY
from tests.facilitator.bench import OPEN, Bench, FaultyNode, Payer, settle, with_evm
from tests.facilitator.conftest import Build, running
from tests.facilitator.test_contract_wallets import wallet, wrap

__all__ = ["wallet"]

pytestmark = pytest.mark.anyio

GWEI = 10**9
SLOW_AND_VALID = "0x6201b580600020507f1626ba7e" + 56 * "0" + "60005260206000f3"
"""Code that hashes 112 KB of memory, 55,000 gas, and says that every signature is valid (ERC-1271)."""
KIND = {"x402Version": 2, "scheme": "exact", "network": "eip155:8453"}


@pytest.fixture
def settings(settings: Settings, node: FaultyNode, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A facilitator that reads the price of every moment, through a node that may name another one."""
    monkeypatch.setattr("facilitator.rails.evm.prices.PRICE_AGE_S", 0.0)
    return with_evm(settings, rpc_url=node.url)


def base_fee(node: FaultyNode, wei: int) -> None:
    """What the newest block is said to have cost."""
    node.edits["eth_getBlockByNumber"] = lambda block: {**block, "baseFeePerGas": hex(wei)}


async def cost(facilitator: httpx.AsyncClient) -> int:
    """What it says that a settlement costs."""
    (kind,) = (await facilitator.get("/supported")).json()["kinds"]
    return int(kind["extra"]["settlementCost"])


async def test_gas_that_eats_the_price_is_refused_for_good_and_a_dearer_call_is_settled(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Given a base fee of 1 gwei, then a payment of a tenth of a cent is refused and nothing of it sent, one of eight cents
    is settled, and the cost is the gas of the last settlement. Back to normal, the same payment is settled."""
    payer = bench.payer()
    small, large = payer.call(pay_to), payer.call(pay_to, price="0.08")
    base_fee(node, GWEI)

    verified = (await facilitator.post("/verify", json=small)).json()
    refused = await settle(facilitator, small)

    assert (verified["isValid"], verified["invalidReason"]) == (False, TOO_COSTLY)
    assert (refused["success"], refused["errorReason"], refused["transaction"]) == (False, TOO_COSTLY, "")
    assert TOO_COSTLY not in OPEN
    assert "eth_sendRawTransaction" not in node.seen
    settled = await settle(facilitator, large)
    assert settled["success"]
    gas = int(bench.receipt(settled["transaction"])["gasUsed"], 16)
    assert await cost(facilitator) == -(-gas * 2 * GWEI * int(ETHER_PRICE) * 10**6 // 10**18) > 500
    del node.edits["eth_getBlockByNumber"]
    assert (await settle(facilitator, small))["success"]
    assert await cost(facilitator) <= 500
    assert bench.balance(pay_to) == 81_000


async def test_off_settles_at_any_cost(
    build: Build, settings: Settings, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Up to the highest fee."""
    base_fee(node, GWEI)
    async with running(build(dataclasses.replace(settings, max_cost_share="off"))) as facilitator:
        assert (await settle(facilitator, bench.payer().call(pay_to)))["success"]
        assert await cost(facilitator) > 500


async def test_a_wallet_whose_code_takes_more_gas_has_to_pay_more(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, wallet: Payer, pay_to: str
) -> None:
    """Given a wallet that takes 400,000 gas, then a price that is worth an account's transfer is not worth its own."""
    node.edits["eth_estimateGas"] = lambda _: hex(400_000)

    refused = await settle(facilitator, wallet.call(pay_to, wrap=wrap))

    assert (refused["success"], refused["errorReason"], refused["transaction"]) == (False, TOO_COSTLY, "")
    assert (await settle(facilitator, bench.payer().call(pay_to)))["success"]
    assert (await settle(facilitator, wallet.call(pay_to, price="0.01", wrap=wrap)))["success"]
    assert await cost(facilitator) < 400


async def test_a_payer_whose_account_gets_code_on_the_way_does_not_make_settlements_look_dear(
    facilitator: httpx.AsyncClient, node: FaultyNode, bench: Bench, pay_to: str
) -> None:
    """Given an account that gets code after it was checked (EIP-7702), which takes most of the gas that there is, then the cost
    hardly rises: or who pays a tenth of a cent could have cheap calls refused to everybody."""
    payer = bench.payer()
    assert (await settle(facilitator, bench.payer().call(pay_to)))["success"]
    before = await cost(facilitator)
    node.faults["eth_sendRawTransaction"] = lambda _: bench.rpc("anvil_setCode", payer.address, SLOW_AND_VALID)

    settled = await settle(facilitator, payer.call(pay_to))

    assert settled["success"]
    assert int(bench.receipt(settled["transaction"])["gasUsed"], 16) > 120_000
    assert await cost(facilitator) <= before * MOST_GAS / LONE_GAS


def payment(value: int, **said: Any) -> Payment:
    authorization: Any = SimpleNamespace(value=value)
    made: Any = SimpleNamespace(authorization=authorization, estimated=0, was_sent=False)
    return SimpleNamespace(**{**vars(made), **said})  # type: ignore[return-value]


def priced(share: Fraction | None, *, l1_wei: int = 0) -> Costs:
    """At 1 gwei and 1 atomic unit for a gas-gwei."""
    prices: Any = SimpleNamespace(last=Quote(GWEI - 1, 1), l1_fee=SimpleNamespace(wei=l1_wei), age_s=0.0)
    return Costs(prices, Fraction(10**18, GWEI), share)


def test_gas_is_that_of_the_groups_of_the_last_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a lone payment's when it is quiet: the last one that was measured, or what is known of one."""
    now = time.monotonic()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    costs = priced(None)
    assert costs.gas == LONE_GAS
    costs.count(70_000, 1)
    costs.count(1_000_001, 20)
    assert costs.gas == -(-1_070_001 // 21)
    now += RECENT_S + 1
    assert costs.gas == 70_000
    for _ in range(module.MOST_RECENT + 5):
        costs.count(60_000, 1)
    assert (costs.gas, len(costs._recent)) == (60_000, module.MOST_RECENT)


@pytest.mark.parametrize("l1_wei", [0, 7 * GWEI])
def test_the_share_is_kept_to_the_unit(l1_wei: int) -> None:
    """With the fee for data on L1; by what the node says of a wallet; and what was sent before is not refused."""
    costs = priced(Fraction(1, 2), l1_wei=l1_wei)
    least = 2 * (LONE_GAS + l1_wei // GWEI)
    assert costs.of_one == least // 2
    costs.check(payment(least))
    costs.check(payment(1, was_sent=True))
    for refused in (payment(least - 1), payment(least, estimated=LONE_GAS + 1)):
        with pytest.raises(PaymentRefused, match=TOO_COSTLY):
            costs.check(refused)
    priced(None).check(payment(1))
