"""What is kept in mind of payments is bounded, and what was let go is found on the chain."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from facilitator.rails.evm.rail import EvmRail
from shared.x402.networks import EVM_USDC
from shared.x402.wire import FacilitatorCall
from tests.facilitator.bench import Bench, FaultyNode

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rail(impatient: None, bench: Bench, node: FaultyNode) -> AsyncIterator[EvmRail]:
    key = bytes.fromhex(bench.sandbox.settler_key[2:])
    rail = EvmRail(EVM_USDC["eip155:8453"], node.url, key, most_for_gas=10**11, low_balance=0, spacing_s=0)
    await rail.start()
    yield rail
    await rail.stop()


async def test_receipts_that_nobody_sees(
    rail: EvmRail, bench: Bench, node: FaultyNode, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given ten payments whose receipts do not come, then few of them are kept, and all are found when asked for again."""
    monkeypatch.setattr("facilitator.rails.evm.settlements.MOST_REMEMBERED", 4)
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", 0.3)
    payer = bench.payer()
    calls = [msgspec.convert(payer.call(pay_to), FacilitatorCall) for _ in range(10)]
    node.faults["eth_getTransactionReceipt"] = "null"
    pending = [await rail.settle(call) for call in calls]
    kept = len(rail._settlements._payments)
    node.faults.clear()
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", 5.0)

    settlements = [await rail.settle(call) for call in calls]

    assert {one.error_reason for one in pending} == {"settlement_pending"}
    assert kept <= 4
    assert [one.transaction for one in settlements] == [one.transaction for one in pending]
    assert bench.transfers(pay_to) == [one.transaction for one in pending]
    assert rail._settlements._payments == {}
