"""Lines of the journal that cannot be read cost no payment and no rail: the chain has what they said."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.settings.service import Settings
from tests.facilitator.bench import TOKEN, FaultyNode, settle, until, with_evm
from tests.facilitator.conftest import Build, running
from tests.facilitator.paused_chain import PausedChain
from tests.time_limits import patience

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A facilitator that settles one by one and waits for a moment only."""
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", patience(0.5))
    return with_evm(settings, batch=1)


def spoil(journal: Path, transaction: str) -> None:
    """Two bytes that are no text, in place of the transaction's hash."""
    journal.write_bytes(journal.read_bytes().replace(transaction.encode(), b"\xff\x00"))


def hide_the_pool(node: FaultyNode, chain: PausedChain) -> None:
    """As the nodes of Base do: `pending` counts no transaction that only the pool has."""

    def count(params: list[str]) -> dict[str, str]:
        return {"result": chain.rpc("eth_getTransactionCount", params[0], "latest")}

    node.faults["eth_getTransactionCount"] = count


@pytest.mark.parametrize("hide", [lambda *_: None, hide_the_pool], ids=["a pool that is counted", "a hidden pool"])
async def test_a_payment_whose_line_is_lost_is_made_once(
    build: Build,
    settings: Settings,
    node: FaultyNode,
    chain: PausedChain,
    pay_to: str,
    hide: Callable[[FaultyNode, PausedChain], None],
) -> None:
    """Given three transactions in no block, when the line of the second one is spoiled and the facilitator is started again,
    then it settles, each of the three payments is made once, by the transaction that was sent first, and no number is lost."""
    hide(node, chain)
    calls, other, before = [chain.payer().call(pay_to) for _ in range(3)], chain.payer().call(pay_to), chain.confirmed
    chain.hold()
    async with running(build(settings)) as first:
        settling = []
        for count, call in enumerate(calls, 1):
            settling.append(asyncio.create_task(settle(first, call)))
            await until(lambda count=count: len(chain.waiting) == count)
        pending = await asyncio.gather(*settling)
    sent = [one["transaction"] for one in pending]
    spoil(Path(f"{settings.evm.settler_key_file}.8453.journal"), sent[1])

    async with running(build(settings)) as second:
        health = (await second.get("/healthz")).json()
        meanwhile = await asyncio.gather(*(settle(second, call) for call in (*calls, other)))
        chain.flow()
        settlements = [await settle(second, call) for call in calls]
        later = await settle(second, other)

    assert [one["errorReason"] for one in pending] == ["settlement_pending"] * 3
    assert (health["ok"], health["rails"][TOKEN.network]["counts"]["dropped_journal_lines"]) == (True, 1)
    assert {one["errorReason"] for one in meanwhile} <= {"settlement_pending", "unexpected_settle_error"}
    assert [one["transaction"] for one in settlements] == sent
    assert (later["success"], chain.number_of(later["transaction"])) == (True, before + 3)
    assert (len(chain.transfers(pay_to)), chain.confirmed) == (4, before + 4)


async def test_a_journal_that_cannot_be_opened_is_no_fault_of_the_node(
    build: Build, settings: Settings, tmp_path: Path
) -> None:
    """Nothing is settled without it, and /healthz says what is wrong."""
    journal = tmp_path / "settler.key.8453.journal"
    app = build(settings)
    journal.unlink()
    journal.mkdir()

    async with running(app) as facilitator:
        health = (await facilitator.get("/healthz")).json()

    assert health["rails"][TOKEN.network]["reason"] == f"{journal} cannot be opened: Is a directory"
