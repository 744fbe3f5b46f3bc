"""The facilitator is killed at the worst moments, and started again knows of every payment what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from tests.facilitator.bench import FaultyNode
from tests.facilitator.paused_chain import StillChain, until
from tests.facilitator.served import Served, serve


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    """Whoever asks waits in a thread."""
    with ThreadPoolExecutor(20) as callers:
        yield callers


@pytest.fixture
def node(still: StillChain) -> Iterator[FaultyNode]:
    """In front of the chain that waits."""
    node = FaultyNode(still.sandbox.rpc_url)
    node.start()
    yield node
    node.stop()


@pytest.fixture
def start(still: StillChain, node: FaultyNode, tmp_path: Path) -> Iterator[Callable[[], Served]]:
    """Starts the process; the last one is stopped at the end."""
    key = tmp_path / "settler.key"
    key.write_text(still.sandbox.settler_key)
    started: list[Served] = []

    def start() -> Served:
        started.append(serve(Settings(evm=EvmRailSettings(rpc_url=node.url, settler_key_file=key, spacing_ms=0))))
        return started[-1]

    yield start
    still.flow()
    started[-1].stop()


def test_killed_between_sending_and_the_receipt(
    still: StillChain, node: FaultyNode, start: Callable[[], Served], callers: ThreadPoolExecutor, pay_to: str
) -> None:
    """Twenty copies of the payment afterwards hear of the transaction that was sent before, and no other is sent."""
    payer, before = still.payer(), still.confirmed
    call = payer.call(pay_to)
    first = start()
    still.hold()
    lost = callers.submit(first.settle, call)
    until(lambda: still.waiting)
    first.kill()
    sent = still.waiting[before]["hash"]
    second = start()
    node.seen.clear()

    copies = [callers.submit(second.settle, call) for _ in range(20)]
    until(lambda: node.seen.count("eth_getBlockByNumber") > 4)  # it looks whether that one is in a block
    assert not any(copy.done() for copy in copies)
    still.flow()

    assert lost.result() is None
    settlements = [copy.result() for copy in copies]
    assert [one["transaction"] for one in settlements] == [sent] * 20
    assert all(one["success"] for one in settlements)
    assert (still.transfers(pay_to), still.confirmed) == ([sent], before + 1)
    assert "eth_sendRawTransaction" not in node.seen
    after = second.settle(payer.call(pay_to))
    assert still.number_of(after["transaction"]) == before + 1


def test_killed_between_two_sends(
    still: StillChain, node: FaultyNode, start: Callable[[], Served], callers: ThreadPoolExecutor, pay_to: str
) -> None:
    """Given three payments of which one is in the pool and one was never sent, then each pays once, without a gap."""
    payer, before = still.payer(), still.confirmed
    settled, waiting, unsent = (payer.call(pay_to) for _ in range(3))
    first = start()
    old = first.settle(settled)
    still.hold()
    lost = [callers.submit(first.settle, waiting)]
    until(lambda: still.waiting)

    def kill(_: Any) -> str:
        first.kill()
        return "reset"

    node.faults["eth_sendRawTransaction"] = kill
    lost.append(callers.submit(first.settle, unsent))
    assert [one.result() for one in lost] == [None, None]
    node.faults.clear()
    second = start()
    node.seen.clear()

    again: list[Future[Any]] = [callers.submit(second.settle, call) for call in (unsent, waiting, settled)]
    until(lambda: node.seen.count("eth_getBlockByNumber") > 4)
    still.flow()

    settlements = [one.result() for one in again]
    assert all(one["success"] for one in settlements)
    assert settlements[2] == old
    assert [still.number_of(one["transaction"]) for one in settlements] == [before + 2, before + 1, before]
    assert sorted(still.transfers(pay_to)) == sorted(one["transaction"] for one in settlements)


def test_killed_and_the_node_forgets_too(
    still: StillChain, start: Callable[[], Served], callers: ThreadPoolExecutor, pay_to: str
) -> None:
    """When nobody knows of the transaction any more, the payment is sent anew, under the number that is free again."""
    call, before = still.payer().call(pay_to), still.confirmed
    first = start()
    still.hold()
    lost = callers.submit(first.settle, call)
    until(lambda: still.waiting)
    first.kill()
    still.lose_the_pool()
    second = start()

    again = callers.submit(second.settle, call)
    until(lambda: still.waiting)
    still.flow()

    assert lost.result() is None
    settlement = again.result()
    assert (settlement["success"], still.number_of(settlement["transaction"])) == (True, before)
    assert (still.transfers(pay_to), still.confirmed) == ([settlement["transaction"]], before + 1)


def test_killed_with_a_group_under_way(
    still: StillChain, node: FaultyNode, start: Callable[[], Served], callers: ThreadPoolExecutor, pay_to: str
) -> None:
    """Given ten payments in one transaction, then all are told of it afterwards, though the node forgot it and sends none."""
    payers, before = [still.payer() for _ in range(10)], still.confirmed
    calls = [payer.call(pay_to) for payer in payers]
    first = start()
    still.hold()
    node.seen.clear()

    def hold_until_all_were_checked(_: Any) -> None:
        until(lambda: node.seen.count("eth_getCode") == 10)
        time.sleep(0.2)  # the last answer is on its way

    node.faults["eth_sendRawTransaction"] = hold_until_all_were_checked
    lost = [callers.submit(first.settle, calls[0])]
    until(lambda: "eth_sendRawTransaction" in node.seen)
    lost += [callers.submit(first.settle, call) for call in calls[1:]]
    until(lambda: len(still.waiting) == 2)
    sent = {one["hash"] for one in still.waiting.values()}
    first.kill()
    node.faults.clear()
    still.lose_the_pool()
    second = start()
    until(lambda: len(still.waiting) == 2)

    again = [callers.submit(second.settle, call) for call in calls]
    still.flow()

    assert [one.result() for one in lost] == [None] * 10
    settlements = [one.result() for one in again]
    assert all(one["success"] for one in settlements)
    assert {one["transaction"] for one in settlements} == sent
    assert (len(still.transfers(pay_to)), still.confirmed) == (10, before + 2)
