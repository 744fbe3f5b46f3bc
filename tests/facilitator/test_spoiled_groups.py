"""A payer who puts code on his account while a group is under way burns its gas once, and is in no group afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from eth_account import Account

from facilitator.rails.evm.groups import GROUPS_OF_PAYER
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from tests.facilitator.bench import TOKEN, Payer
from tests.facilitator.conftest import Build, running
from tests.facilitator.paused_chain import StillChain
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

NOBODY = "0x" + "00" * 20
TRANSFER = "e3ee160e"
"""Selector of transferWithAuthorization."""


@pytest.fixture
def settings(still: StillChain, tmp_path: Path) -> Iterator[Settings]:
    """A facilitator that has time to put together what arrives within 0.4 s, eight payments at most."""
    key = tmp_path / "settler.key"
    key.write_text(still.sandbox.settler_key)
    yield Settings(evm=EvmRailSettings(rpc_url=still.sandbox.rpc_url, settler_key_file=key, batch=8, spacing_ms=400))
    still.flow()


@pytest.fixture
async def facilitator(
    build: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx.AsyncClient]:
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", patience(20))
    monkeypatch.setattr("facilitator.rails.evm.account.STUCK_AFTER_S", patience(20))
    async with running(build(settings)) as client:
        yield client


@pytest.fixture(scope="module")
def burner(still: StillChain) -> str:
    """A contract that takes all the gas it is given."""
    still.rpc("anvil_setCode", "0x" + "fe" * 20, "0xfe")
    return "0x" + "fe" * 20


async def settle(facilitator: httpx.AsyncClient, call: Any) -> Any:
    answer = await facilitator.post("/settle", json=call)
    assert answer.status_code == 200
    return answer.json()


async def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + patience(20)
    while not true():
        assert time.monotonic() < deadline, "it does not become true"
        await asyncio.sleep(0.02)


def delegate(still: StillChain, payer: Payer, code: str, number: int, max_fee: int) -> None:
    """Let an account take on code, or take it off again. The stranger pays for it; the account's own nonce goes up by one."""
    account, own = Account.from_key(payer.key.to_hex()), Account.from_key(still.stranger_key)
    nonce = int(still.rpc("eth_getTransactionCount", payer.address, "latest"), 16) + number
    signed = account.sign_authorization({"chainId": TOKEN.chain_id, "address": code, "nonce": nonce})
    transaction = {
        "type": 4,
        "chainId": TOKEN.chain_id,
        "nonce": int(still.rpc("eth_getTransactionCount", own.address, "latest"), 16) + number,
        "to": own.address,
        "value": 0,
        "data": b"",
        "gas": 200_000,
        "maxFeePerGas": max_fee,
        "maxPriorityFeePerGas": max_fee // 2,
        "authorizationList": [signed],
    }
    still.rpc("eth_sendRawTransaction", own.sign_transaction(transaction).raw_transaction.to_0x_hex())


async def waiting(still: StillChain, count: int) -> list[Any]:
    """The settler's transactions in the pool, as soon as there are so many."""
    await until(lambda: len(still.waiting) >= count)
    return [still.waiting[number] for number in sorted(still.waiting)]


async def sent_together(
    facilitator: httpx.AsyncClient, still: StillChain, payers: list[Payer], pay_to: str
) -> list[asyncio.Task[Any]]:
    """Settlements of a payment of each. They are in the pool; the first one is sent at once, the others are grouped."""
    still.hold()
    settling = [asyncio.create_task(settle(facilitator, payers[0].call(pay_to)))]
    await waiting(still, 1)
    settling += [asyncio.create_task(settle(facilitator, payer.call(pay_to))) for payer in payers[1:]]
    await waiting(still, 2)
    return settling


def members(transaction: Any) -> list[str]:
    """The payers of a transaction."""
    _, *calls = transaction["input"].split(TRANSFER)
    return ["0x" + call[24:64] for call in calls]


async def test_who_took_on_code_in_between_is_in_no_group_any_more(
    facilitator: httpx.AsyncClient, still: StillChain, burner: str, pay_to: str
) -> None:
    """Given a payer whose code burned the gas of a group, and who took it off again in the same block, then all others are
    paid, his payments have transactions of their own, groups are smaller, and /healthz has the gas that paid nobody."""
    others, griefer = [still.payer() for _ in range(8)], still.payer()
    settling = await sent_together(facilitator, still, [others[0], griefer, *others[1:6]], pay_to)
    (_, spoiled) = await waiting(still, 2)
    assert len(members(spoiled)) == 6
    offered = int(spoiled["maxFeePerGas"], 16)
    delegate(still, griefer, burner, 0, 2 * offered)  # for a place before the group
    delegate(still, griefer, NOBODY, 1, offered * 3 // 4)  # and behind it

    still.mine()
    again = await waiting(still, 1)
    still.flow()
    settlements = await asyncio.gather(*settling)

    burnt = still.receipt(spoiled["hash"])
    assert (burnt["status"], still.rpc("eth_getCode", griefer.address, "latest")) == ("0x0", "0x")
    assert [one["success"] for one in settlements] == [True] * 7
    assert [one for one in again if griefer.address in members(one) and len(members(one)) > 1] == []
    counts = (await facilitator.get("/healthz")).json()["rails"][TOKEN.network]["counts"]
    assert counts["burnt_gas"] == int(burnt["gasUsed"], 16)
    paid = {one["transaction"] for one in settlements}
    assert counts["paid_gas"] == sum(int(still.receipt(one)["gasUsed"], 16) for one in paid)

    settling = await sent_together(facilitator, still, [*others, griefer], pay_to)
    _, group, *_ = await waiting(still, 2)
    still.flow()
    settlements = await asyncio.gather(*settling)
    assert [one["success"] for one in settlements] == [True] * 9
    assert griefer.address not in members(group)
    assert 1 < len(members(group)) < 8
    assert len(members(still.rpc("eth_getTransactionByHash", settlements[-1]["transaction"]))) == 1


async def test_no_group_is_one_payers(
    facilitator: httpx.AsyncClient, still: StillChain, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever spoils a group burns little with payments of his own alone; others take the places that are left."""
    monkeypatch.setattr("facilitator.rails.evm.groups.MOST_OF_PAYER", 3)
    many, other = still.payer(), still.payer()

    settling = await sent_together(facilitator, still, [*[many] * 6, other], pay_to)
    _, group, *_ = await waiting(still, 2)
    still.flow()
    settlements = await asyncio.gather(*settling)

    assert sorted(members(group)) == sorted([many.address] * 3 + [other.address])
    assert [one["success"] for one in settlements] == [True] * 7


async def test_a_payer_is_in_few_groups_at_a_time(
    facilitator: httpx.AsyncClient, still: StillChain, pay_to: str
) -> None:
    """While the chain has no block, his further payments wait: code on one account spoils no more than these groups."""
    payer, others = still.payer(), [still.payer() for _ in range(4)]
    still.hold()
    settling = []
    for count, other in enumerate(others, 1):
        settling += [asyncio.create_task(settle(facilitator, payer.call(pay_to))) for _ in range(2)]
        settling += [asyncio.create_task(settle(facilitator, other.call(pay_to)))]
        await waiting(still, count)
    groups = [one for one in await waiting(still, 4) if len(members(one)) > 1 and payer.address in members(one)]
    still.flow()
    settlements = await asyncio.gather(*settling)

    assert 0 < len(groups) <= GROUPS_OF_PAYER
    assert [one["success"] for one in settlements] == [True] * 12


async def test_a_payer_whose_money_is_for_one_payment_burns_no_gas(
    facilitator: httpx.AsyncClient, still: StillChain, pay_to: str
) -> None:
    """Each of his payments would settle by itself. The second is sent when the first has an end, and is refused by then."""
    poor = still.payer(1000)
    settling = await sent_together(facilitator, still, [still.payer(), *[poor] * 8], pay_to)
    still.flow()
    settlements = await asyncio.gather(*settling)

    assert sum(one["success"] for one in settlements) == 2
    assert {one.get("errorReason") for one in settlements if not one["success"]} == {"insufficient_funds"}
    counts = (await facilitator.get("/healthz")).json()["rails"][TOKEN.network]["counts"]
    assert counts["burnt_gas"] == 0
