"""A payer who puts code on his account while a group is under way burns its gas once, and is in no group afterwards."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from eth_account import Account

from facilitator.rails.evm.groups import GROUPS_OF_PAYER
from shared.settings.service import Settings
from tests.facilitator.bench import TOKEN, Payer, settle, until, with_evm
from tests.facilitator.conftest import Build, running
from tests.facilitator.paused_chain import PausedChain
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

NOBODY = "0x" + "00" * 20
TRANSFER = "e3ee160e"
"""Selector of transferWithAuthorization."""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A facilitator that has time to put together what arrives within 0.4 s, eight payments at most."""
    return with_evm(settings, batch=8, spacing_ms=400)


@pytest.fixture
async def facilitator(
    build: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx.AsyncClient]:
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", patience(20))
    monkeypatch.setattr("facilitator.rails.evm.account.STUCK_AFTER_S", patience(20))
    async with running(build(settings)) as client:
        yield client


@pytest.fixture(scope="module")
def burner(bench: PausedChain) -> str:
    """A contract that takes all the gas it is given."""
    bench.rpc("anvil_setCode", "0x" + "fe" * 20, "0xfe")
    return "0x" + "fe" * 20


def delegate(chain: PausedChain, payer: Payer, code: str, number: int, max_fee: int) -> None:
    """Let an account take on code, or take it off again. The stranger pays for it; the account's own nonce goes up by one."""
    account, own = Account.from_key(payer.key.to_hex()), Account.from_key(chain.stranger_key)
    nonce = int(chain.rpc("eth_getTransactionCount", payer.address, "latest"), 16) + number
    signed = account.sign_authorization({"chainId": TOKEN.chain_id, "address": code, "nonce": nonce})
    transaction = {
        "type": 4,
        "chainId": TOKEN.chain_id,
        "nonce": int(chain.rpc("eth_getTransactionCount", own.address, "latest"), 16) + number,
        "to": own.address,
        "value": 0,
        "data": b"",
        "gas": 200_000,
        "maxFeePerGas": max_fee,
        "maxPriorityFeePerGas": max_fee // 2,
        "authorizationList": [signed],
    }
    chain.rpc("eth_sendRawTransaction", own.sign_transaction(transaction).raw_transaction.to_0x_hex())


async def waiting(chain: PausedChain, count: int) -> list[Any]:
    """The settler's transactions in the pool, as soon as there are so many."""
    await until(lambda: len(chain.waiting) >= count)
    return [chain.waiting[number] for number in sorted(chain.waiting)]


async def sent_together(
    facilitator: httpx.AsyncClient, chain: PausedChain, payers: list[Payer], pay_to: str
) -> list[asyncio.Task[Any]]:
    """Settlements of a payment of each. They are in the pool; the first one is sent at once, the others are grouped."""
    chain.hold()
    settling = [asyncio.create_task(settle(facilitator, payers[0].call(pay_to)))]
    await waiting(chain, 1)
    settling += [asyncio.create_task(settle(facilitator, payer.call(pay_to))) for payer in payers[1:]]
    await waiting(chain, 2)
    return settling


def members(transaction: Any) -> list[str]:
    """The payers of a transaction."""
    _, *calls = transaction["input"].split(TRANSFER)
    return ["0x" + call[24:64] for call in calls]


async def test_who_took_on_code_in_between_is_in_no_group_any_more(
    facilitator: httpx.AsyncClient, chain: PausedChain, burner: str, pay_to: str
) -> None:
    """Given a payer whose code burned the gas of a group, and who took it off again in the same block, then all others are
    paid, his payments have transactions of their own, groups are smaller, and /healthz has the gas that paid nobody."""
    others, griefer = [chain.payer() for _ in range(8)], chain.payer()
    settling = await sent_together(facilitator, chain, [others[0], griefer, *others[1:6]], pay_to)
    (_, spoiled) = await waiting(chain, 2)
    assert len(members(spoiled)) == 6
    offered = int(spoiled["maxFeePerGas"], 16)
    delegate(chain, griefer, burner, 0, 2 * offered)  # for a place before the group
    delegate(chain, griefer, NOBODY, 1, offered * 3 // 4)  # and behind it

    chain.mine()
    again = await waiting(chain, 1)
    chain.flow()
    settlements = await asyncio.gather(*settling)

    burnt = chain.receipt(spoiled["hash"])
    assert (burnt["status"], chain.rpc("eth_getCode", griefer.address, "latest")) == ("0x0", "0x")
    assert [one["success"] for one in settlements] == [True] * 7
    assert [one for one in again if griefer.address in members(one) and len(members(one)) > 1] == []
    counts = (await facilitator.get("/healthz")).json()["rails"][TOKEN.network]["counts"]
    assert counts["burnt_gas"] == int(burnt["gasUsed"], 16)
    paid = {one["transaction"] for one in settlements}
    assert counts["paid_gas"] == sum(int(chain.receipt(one)["gasUsed"], 16) for one in paid)

    settling = await sent_together(facilitator, chain, [*others, griefer], pay_to)
    _, group, *_ = await waiting(chain, 2)
    chain.flow()
    settlements = await asyncio.gather(*settling)
    assert [one["success"] for one in settlements] == [True] * 9
    assert griefer.address not in members(group)
    assert 1 < len(members(group)) < 8
    assert len(members(chain.rpc("eth_getTransactionByHash", settlements[-1]["transaction"]))) == 1


async def test_no_group_is_one_payers(
    facilitator: httpx.AsyncClient, chain: PausedChain, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever spoils a group burns little with payments of his own alone; others take the places that are left."""
    monkeypatch.setattr("facilitator.rails.evm.groups.MOST_OF_PAYER", 3)
    many, other = chain.payer(), chain.payer()

    settling = await sent_together(facilitator, chain, [*[many] * 6, other], pay_to)
    _, group, *_ = await waiting(chain, 2)
    chain.flow()
    settlements = await asyncio.gather(*settling)

    assert sorted(members(group)) == sorted([many.address] * 3 + [other.address])
    assert [one["success"] for one in settlements] == [True] * 7


async def test_a_payer_is_in_few_groups_at_a_time(
    facilitator: httpx.AsyncClient, chain: PausedChain, pay_to: str
) -> None:
    """While the chain has no block, his further payments wait: code on one account spoils no more than these groups."""
    payer, others = chain.payer(), [chain.payer() for _ in range(4)]
    chain.hold()
    settling = []
    for count, other in enumerate(others, 1):
        settling += [asyncio.create_task(settle(facilitator, payer.call(pay_to))) for _ in range(2)]
        settling += [asyncio.create_task(settle(facilitator, other.call(pay_to)))]
        await waiting(chain, count)
    groups = [one for one in await waiting(chain, 4) if len(members(one)) > 1 and payer.address in members(one)]
    chain.flow()
    settlements = await asyncio.gather(*settling)

    assert 0 < len(groups) <= GROUPS_OF_PAYER
    assert [one["success"] for one in settlements] == [True] * 12


async def test_a_payer_whose_money_is_for_one_payment_burns_no_gas(
    facilitator: httpx.AsyncClient, chain: PausedChain, pay_to: str
) -> None:
    """Each of his payments would settle by itself. The second is sent when the first has an end, and is refused by then."""
    poor = chain.payer(1000)
    settling = await sent_together(facilitator, chain, [chain.payer(), *[poor] * 8], pay_to)
    chain.flow()
    settlements = await asyncio.gather(*settling)

    assert sum(one["success"] for one in settlements) == 2
    assert {one.get("errorReason") for one in settlements if not one["success"]} == {"insufficient_funds"}
    counts = (await facilitator.get("/healthz")).json()["rails"][TOKEN.network]["counts"]
    assert counts["burnt_gas"] == 0
