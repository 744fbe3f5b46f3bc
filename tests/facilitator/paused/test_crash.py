"""The facilitator is killed at the worst moments, and started again knows of every payment what became of it."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from shared.settings.service import Settings
from tests.facilitator.bench import FaultyNode
from tests.facilitator.paused_chain import PausedChain
from tests.facilitator.served import Served, serve
from tests.time_limits import patience


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    """Whoever asks waits in a thread."""
    with ThreadPoolExecutor(20) as callers:
        yield callers


@pytest.fixture
def start(chain: PausedChain, settings: Settings) -> Iterator[Callable[[], Served]]:
    """Starts the process; the last one is stopped at the end."""
    started: list[Served] = []

    def start() -> Served:
        started.append(serve(settings))
        return started[-1]

    yield start
    chain.flow()
    started[-1].stop()


def until(true: Callable[[], object], within_s: float = patience(10.0)) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, "it does not become true"
        time.sleep(0.02)


def test_killed_between_sending_and_the_receipt(
    chain: PausedChain, node: FaultyNode, start: Callable[[], Served], callers: ThreadPoolExecutor, pay_to: str
) -> None:
    """Twenty copies of the payment afterwards hear of the transaction that was sent before, and no other is sent."""
    payer, before = chain.payer(), chain.confirmed
    call = payer.call(pay_to)
    first = start()
    chain.hold()
    lost = callers.submit(first.settle, call)
    until(lambda: chain.waiting)
    first.kill()
    sent = chain.waiting[before]["hash"]
    second = start()
    node.seen.clear()

    copies = [callers.submit(second.settle, call) for _ in range(20)]
    until(lambda: node.seen.count("eth_getBlockByNumber") > 4)  # it looks whether that one is in a block
    assert not any(copy.done() for copy in copies)
    chain.flow()

    assert lost.result() is None
    settlements = [copy.result() for copy in copies]
    assert [one["transaction"] for one in settlements] == [sent] * 20
    assert all(one["success"] for one in settlements)
    assert (chain.transfers(pay_to), chain.confirmed) == ([sent], before + 1)
    assert "eth_sendRawTransaction" not in node.seen
    after = second.settle(payer.call(pay_to))
    assert chain.number_of(after["transaction"]) == before + 1


def test_killed_between_two_sends(
    chain: PausedChain, node: FaultyNode, start: Callable[[], Served], callers: ThreadPoolExecutor, pay_to: str
) -> None:
    """Given three payments of which one is in the pool and one was never sent, then each pays once, without a gap."""
    payer, before = chain.payer(), chain.confirmed
    settled, waiting, unsent = (payer.call(pay_to) for _ in range(3))
    first = start()
    old = first.settle(settled)
    chain.hold()
    lost = [callers.submit(first.settle, waiting)]
    until(lambda: chain.waiting)

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
    chain.flow()

    settlements = [one.result() for one in again]
    assert all(one["success"] for one in settlements)
    assert settlements[2] == old
    assert [chain.number_of(one["transaction"]) for one in settlements] == [before + 2, before + 1, before]
    assert sorted(chain.transfers(pay_to)) == sorted(one["transaction"] for one in settlements)


def test_killed_and_the_node_forgets_too(
    chain: PausedChain, start: Callable[[], Served], callers: ThreadPoolExecutor, pay_to: str
) -> None:
    """When nobody knows of the transaction any more, the payment is sent anew, under the number that is free again."""
    call, before = chain.payer().call(pay_to), chain.confirmed
    first = start()
    chain.hold()
    lost = callers.submit(first.settle, call)
    until(lambda: chain.waiting)
    first.kill()
    chain.lose_the_pool()
    second = start()

    again = callers.submit(second.settle, call)
    until(lambda: chain.waiting)
    chain.flow()

    assert lost.result() is None
    settlement = again.result()
    assert (settlement["success"], chain.number_of(settlement["transaction"])) == (True, before)
    assert (chain.transfers(pay_to), chain.confirmed) == ([settlement["transaction"]], before + 1)


def test_killed_with_a_group_under_way(
    chain: PausedChain, node: FaultyNode, start: Callable[[], Served], callers: ThreadPoolExecutor, pay_to: str
) -> None:
    """Given ten payments in one transaction, then all get it afterwards, though the node forgot it and sends none."""
    payers, before = [chain.payer() for _ in range(10)], chain.confirmed
    calls = [payer.call(pay_to) for payer in payers]
    first = start()
    chain.hold()
    node.seen.clear()

    def hold_until_all_were_checked(_: Any) -> None:
        until(lambda: node.seen.count("eth_getCode") == 10)
        time.sleep(0.2)  # the last answer is on its way

    node.faults["eth_sendRawTransaction"] = hold_until_all_were_checked
    lost = [callers.submit(first.settle, calls[0])]
    until(lambda: "eth_sendRawTransaction" in node.seen)
    lost += [callers.submit(first.settle, call) for call in calls[1:]]
    until(lambda: len(chain.waiting) == 2)
    sent = {one["hash"] for one in chain.waiting.values()}
    first.kill()
    node.faults.clear()
    chain.lose_the_pool()
    second = start()
    until(lambda: len(chain.waiting) == 2)

    again = [callers.submit(second.settle, call) for call in calls]
    chain.flow()

    assert [one.result() for one in lost] == [None] * 10
    settlements = [one.result() for one in again]
    assert all(one["success"] for one in settlements)
    assert {one["transaction"] for one in settlements} == sent
    assert (len(chain.transfers(pay_to)), chain.confirmed) == (10, before + 2)
