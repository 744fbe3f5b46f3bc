"""Recorded blocks through nodes that lag, lie and break: every answer is right, or a failure with a reason."""

import contextlib
import random
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from jobs.ports.chains import CHAIN_IDS, FAILURES, Balance, ChainId, ChainRead, Code, TransactionByHash, Unavailable
from shared.outcome import UpstreamFailed
from tests.each import each
from tests.workers.chains.fake_node import LAG, MOODS, SECRET, FakeNode
from tests.workers.chains.recording import ACCOUNT, BLOCKS, HEAD, STEP_S, number_of
from workers.adapters.chains import NodeChains

HARMLESS = ("well", "reorders", "lags")


@pytest.fixture
def nodes() -> Iterator[tuple[FakeNode, FakeNode]]:
    """Two of Base."""
    with FakeNode(8453).serving() as first, FakeNode(8453).serving() as second:
        yield first, second


def _read(chains: NodeChains, index: int, within_s: float = 10.0) -> ChainRead:
    calls = [question.call for question in BLOCKS[index]]
    return chains.read("base", calls, block=number_of(index), deadline=time.monotonic() + within_s)


def _right(index: int) -> tuple[object, ...]:
    return tuple(question.right for question in BLOCKS[index])


def _failure(chains: NodeChains, **how: float) -> UpstreamFailed:
    with pytest.raises(UpstreamFailed) as caught:
        _read(chains, 0, **how)
    return caught.value


@each("index", range(len(BLOCKS)))
def test_each_block_is_read_as_it_was_recorded(index: int, nodes: tuple[FakeNode, FakeNode]) -> None:
    """Values, reverts and gaps, as the port promises them; the block is the one that was asked for."""
    nodes[0].head = HEAD + LAG  # old enough for its state to be pruned
    chains = NodeChains({"base": [nodes[0].url]})

    read = _read(chains, index)

    assert read.block == number_of(index)
    assert read.results == _right(index)
    assert read.timestamp == pytest.approx(time.time() - (HEAD + LAG - read.block) * STEP_S, abs=5)


@each("mood", MOODS)
def test_the_next_node_answers_for_one_that_does_not(mood: str, nodes: tuple[FakeNode, FakeNode]) -> None:
    """Whatever the first one does, the answer is right."""
    nodes[0].mood = mood
    chains = NodeChains({"base": [node.url for node in nodes]})

    for index in (10, 11, 12, 13):
        assert _read(chains, index).results == _right(index)


@pytest.mark.parametrize("mood", [mood for mood in MOODS if mood not in HARMLESS])
def test_without_another_node_it_is_a_failure_with_its_reason(mood: str, nodes: tuple[FakeNode, FakeNode]) -> None:
    """And nothing of what the node said or where it is."""
    nodes[0].mood = mood
    chains = NodeChains({"base": [nodes[0].url]})

    failure = _failure(chains)

    wanted = MOODS[mood][1]
    assert failure.reason == wanted
    assert failure.reason in FAILURES
    assert SECRET not in failure.detail
    assert "127.0.0.1" not in failure.detail


@pytest.mark.parametrize("seed", range(4))
def test_among_moody_nodes_no_answer_is_wrong(seed: int, nodes: tuple[FakeNode, FakeNode]) -> None:
    """Given nodes whose mood changes all the time, also in the middle of reads, and six readers, then each answer is that of
    the recording, or a failure with a documented reason; and there are answers."""
    chance = random.Random(seed)
    for node in nodes:
        node.head = HEAD + LAG
    moods = [mood for mood in MOODS if mood != "says too much"]

    def read(chains: NodeChains, index: int) -> str | None:
        chance.choice(nodes).mood = chance.choice([*moods, *HARMLESS * 5])
        try:
            answer = _read(chains, index, within_s=5.0)
        except UpstreamFailed as failure:
            return failure.reason
        assert (answer.block, answer.results) == (number_of(index), _right(index))
        return "answered"

    ended: list[str | None] = []
    with ThreadPoolExecutor(6) as readers:
        for _ in range(25):  # each with closed circuits
            chains = NodeChains({"base": [node.url for node in nodes]}, hedge=bool(seed % 2))
            ended += readers.map(partial(read, chains), chance.choices(range(len(BLOCKS)), k=6))

    assert set(ended) <= {"answered", *FAILURES}
    assert ended.count("answered") > 10


def test_the_newest_block_is_asked_first_and_everything_is_of_it(nodes: tuple[FakeNode, FakeNode]) -> None:
    """One batch for the head, one for the rest, on one connection; each says which chain it is of."""
    first = nodes[0]
    chains = NodeChains({"base": [first.url]})
    calls = [question.call for question in BLOCKS[-1]]

    read = chains.read("base", calls, deadline=time.monotonic() + 10)

    assert (read.block, read.results) == (HEAD, _right(len(BLOCKS) - 1))
    assert first.requests[0] == ["eth_chainId", "eth_getBlockByNumber"]
    assert first.requests[1] == ["eth_chainId", *(question.method for question in BLOCKS[-1])]
    assert (len(first.requests), first.connections) == (2, 1)


def test_what_is_of_no_block_takes_one_batch(nodes: tuple[FakeNode, FakeNode]) -> None:
    """The head comes with it. The chain's id is the node's own word."""
    chains = NodeChains({"base": [nodes[0].url]})

    read = chains.read("base", [ChainId()], deadline=time.monotonic() + 10)

    assert (read.block, read.results) == (HEAD, (8453,))
    assert nodes[0].requests == [["eth_chainId", "eth_getBlockByNumber", "eth_chainId"]]
    assert chains.read("base", [], deadline=time.monotonic() + 10).block == HEAD


def test_a_head_that_lags_is_passed_over(nodes: tuple[FakeNode, FakeNode]) -> None:
    """Once another node has shown a newer one; when that node is gone, an old head is better than none."""
    first, second = nodes
    chains = NodeChains({"base": [first.url, second.url]})
    assert chains.read("base", [ChainId()], deadline=time.monotonic() + 10).block == HEAD
    first.mood = "lags"

    assert chains.read("base", [ChainId()], deadline=time.monotonic() + 10).block == HEAD
    second.mood = "says 503"
    assert chains.read("base", [ChainId()], deadline=time.monotonic() + 10).block == HEAD - LAG


def test_a_block_that_a_node_does_not_have_yet_is_asked_of_others_and_again(nodes: tuple[FakeNode, FakeNode]) -> None:
    """Given that no node has it, the failure says so."""
    first, second = nodes
    first.head = HEAD - 1
    chains = NodeChains({"base": [first.url, second.url]})
    assert _read(chains, len(BLOCKS) - 1).results == _right(len(BLOCKS) - 1)

    second.head = HEAD - 1
    with pytest.raises(UpstreamFailed) as caught:
        _read(chains, len(BLOCKS) - 1)
    assert caught.value.reason == "block_not_found"
    assert len(first.requests) == 3  # once before, and twice now


def test_a_gap_is_said_only_when_every_node_has_it(nodes: tuple[FakeNode, FakeNode]) -> None:
    """A pruned state, and a transaction that only one node knows of."""
    first, second = nodes
    chains = NodeChains({"base": [first.url, second.url]})
    hash_ = "0x" + "b7" * 32
    for node in nodes:
        node.head = HEAD + LAG
    first.replies = {
        "eth_getCode": {"error": {"code": -32000, "message": "missing trie node"}},
        "eth_getTransactionByHash": {"result": None},
    }
    second.replies = {"eth_getCode": {"result": "0x6001"}, "eth_getTransactionByHash": {"result": {"hash": hash_}}}

    def read() -> tuple[object, ...]:
        calls = [Code(ACCOUNT), TransactionByHash(hash_)]
        return chains.read("base", calls, block=number_of(0), deadline=time.monotonic() + 10).results

    assert read() == (b"\x60\x01", {"hash": hash_})
    second.mood = "says 503"
    assert read() == (Unavailable(), None)


def test_a_revert_is_no_reason_to_ask_another_node(nodes: tuple[FakeNode, FakeNode]) -> None:
    """It is the chain's answer."""
    chains = NodeChains({"base": [node.url for node in nodes]})

    assert _read(chains, 2).results == _right(2)
    assert nodes[1].requests == []


def test_constants_are_kept_and_balances_are_not(nodes: tuple[FakeNode, FakeNode]) -> None:
    """A token's symbol is asked for once; a delegation and a balance each time."""
    chains = NodeChains({"base": [nodes[0].url]})
    _read(chains, 9)
    del nodes[0].requests[:]

    assert _read(chains, 9).results == _right(9)

    assert nodes[0].requests == [["eth_chainId", "eth_getBlockByNumber", "eth_call", "eth_getCode"]]


def test_a_node_that_fails_again_and_again_is_left_alone(nodes: tuple[FakeNode, FakeNode]) -> None:
    """A circuit for each URL: three failures in a row open it; one "too many calls" does at once."""
    first, second = nodes
    chains = NodeChains({"base": [first.url, second.url]})
    first.mood = "says 503"
    for _ in range(6):
        assert _read(chains, 10).results == _right(10)
    assert len(first.requests) == 3

    alone = NodeChains({"base": [second.url]})
    second.mood = "says 429"
    assert [_failure(alone).reason for _ in range(3)] == ["rate_limited"] * 3
    second.mood = "well"
    assert _failure(alone).reason == "rate_limited"


def test_what_a_caller_may_cause_opens_no_circuit(nodes: tuple[FakeNode, FakeNode]) -> None:
    """Answers that are too large, and errors that nobody knows, say nothing of the node."""
    chains = NodeChains({"base": [nodes[0].url]})
    nodes[0].mood = "is broken"
    for _ in range(5):
        assert _failure(chains).reason == "bad_content"
    nodes[0].mood = "well"

    assert _read(chains, 0).results == _right(0)


def test_a_chain_without_nodes_is_not_configured() -> None:
    """Whatever the other chain has."""
    chains = NodeChains({"base": ["http://127.0.0.1:9"], "ethereum": []})

    with pytest.raises(UpstreamFailed) as caught:
        chains.read("ethereum", [Balance(ACCOUNT)], deadline=time.monotonic() + 1)
    assert caught.value.reason == "not_configured"
    assert _failure(chains).reason == "connection_refused"
    assert CHAIN_IDS["ethereum"] == 1


def test_a_node_that_says_nothing_leaves_time_for_the_next(nodes: tuple[FakeNode, FakeNode]) -> None:
    """It gets its share of the time; alone, the failure is a timeout."""
    with _silent() as url:
        chains = NodeChains({"base": [url, nodes[0].url]})
        assert _read(chains, 10, within_s=4.0).results == _right(10)
        assert _failure(NodeChains({"base": [url]}), within_s=0.3).reason == "timeout"


def test_a_slow_node_gets_company(nodes: tuple[FakeNode, FakeNode], monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a minute of quick answers and hedging, when the first node hangs, then the second answers long before the first
    one's share of the time is over."""
    first, second = nodes
    chains = NodeChains({"base": [first.url, second.url]}, hedge=True)
    for _ in range(20):  # fewer say nothing of what is slow
        _read(chains, 10)
    assert second.requests == []
    released = threading.Event()
    monkeypatch.setattr(first, "replies_to", lambda batch: released.wait(30) and [])

    read = _read(chains, 10, within_s=20.0)

    assert read.results == _right(10)
    assert not released.is_set()
    assert len(second.requests) == 1
    released.set()


@contextlib.contextmanager
def _silent() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
