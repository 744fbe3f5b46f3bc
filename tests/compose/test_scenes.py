"""Both chains carry the scenes, at their addresses and of their age."""

import csv
import time
from collections.abc import Iterator
from typing import Any

import pytest
from eth_utils import is_checksum_address

from compose.sandbox import fixtures
from compose.sandbox.child import ROOT
from compose.sandbox.evm import Chain, start_chains
from compose.sandbox.fixture_transactions import transactions
from shared.nodes.json_rpc import JsonRpc

CHAIN_IDS = (fixtures.BASE, fixtures.ETHEREUM)
ADDRESSES = {
    name: value
    for name, value in vars(fixtures).items()
    if isinstance(value, str) and value.startswith("0x") and name.isupper()
}


@pytest.fixture(scope="module")
def chains(make_var: Any) -> Iterator[tuple[Chain, Chain]]:
    """Base and Ethereum."""
    started = start_chains(make_var())
    yield started
    for chain in started:
        chain.stop()


@pytest.fixture(params=CHAIN_IDS)
def node(request: pytest.FixtureRequest, chains: tuple[Chain, Chain]) -> JsonRpc:
    """One of them."""
    return next(JsonRpc(chain.rpc_url) for chain in chains if chain.chain_id == request.param)


def test_addresses_are_written_with_their_checksum() -> None:
    """So that an example may be copied out of the list."""
    assert len(ADDRESSES) > 20
    assert [name for name, address in ADDRESSES.items() if not is_checksum_address(address)] == []


def test_hashes_are_those_that_are_written_down() -> None:
    """The transactions are the same at every start: the examples of endpoints name them."""
    made = {chain_id: {one.name: one.hash for one in transactions(chain_id)} for chain_id in CHAIN_IDS}

    assert made == fixtures.TRANSACTIONS


def test_one_is_known_to_be_malicious() -> None:
    """On both chains, by the list that the product is made with."""
    listed = ROOT / "compose" / "data" / "malicious_addresses.csv"
    with listed.open(newline="") as file:
        known = {row["chain_id"] for row in csv.DictReader(file) if row["address"] == fixtures.MALICIOUS.lower()}
    assert known == {"1", "8453"}


def test_the_chain_is_thirty_days_old_and_its_head_is_new(node: JsonRpc) -> None:
    """A block for each transaction, at its time, and the clock is the real one again."""
    now = time.time()
    first, head = (node("eth_getBlockByNumber", block, False) for block in ("0x0", "latest"))

    assert now - int(first["timestamp"], 16) == pytest.approx(30 * fixtures.DAY_S, abs=600)
    assert now - int(head["timestamp"], 16) < 30
    for transaction in transactions(int(node("eth_chainId"), 16)):
        receipt = node("eth_getTransactionReceipt", transaction.hash)
        if transaction.days_ago is None:
            assert receipt is None
            assert node("eth_getTransactionByHash", transaction.hash)["blockNumber"] is None
            continue
        mined = node("eth_getBlockByNumber", receipt["blockNumber"], False)
        assert now - int(mined["timestamp"], 16) == pytest.approx(transaction.days_ago * fixtures.DAY_S, abs=600)
        assert receipt["status"] == ("0x0" if transaction.name == "refused" else "0x1")
