"""Five hundred contracts and calls by chance: each chain endpoint, through the real nodes' port, says what web3.py says.

And 150 transactions: tx-explain tells the transfers that eth_getLogs has.
"""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from compose.sandbox import fixtures
from tests.workers.differential.cases import MAKERS, Case, cases
from tests.workers.differential.checks import CHECKS
from tests.workers.differential.readers import DeployedChain, deployed
from tests.workers.differential.transactions import Moved, moved, send

CASES, TRANSACTIONS, SEED = 500, 150, 17


@pytest.fixture(scope="module")
def asked() -> list[Case]:
    """The questions."""
    return cases(CASES, SEED)


@pytest.fixture(scope="module")
def chain(asked: list[Case], tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeployedChain]:
    """The chain and its readers."""
    with deployed(tmp_path_factory.mktemp("var"), asked) as made:
        yield made


def test_endpoints_say_what_web3_says(chain: DeployedChain, asked: list[Case]) -> None:
    """Of each contract, at the same block."""
    ways: Counter[str] = Counter()
    for number, case in enumerate(asked):
        ours = chain.ask(case.name, case.body)
        try:
            ways[f"{case.name} {CHECKS[case.name](chain.reader, case, ours)}"] += 1
            if isinstance(ours, dict):
                assert ours["blockNumber"] == str(chain.reader.block)
                at = datetime.strptime(ours["blockTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
                assert at.timestamp() == chain.timestamp
        except AssertionError as error:
            raise AssertionError(f"case {number} of seed {SEED}: {case}\nours: {ours}") from error
    # Every endpoint was answered, and those that run strangers' code were refused in both ways.
    assert {way.split()[0] for way in ways} == set(MAKERS)
    for name in ("chain/call", "chain/erc20-balance", "chain/allowance", "chain/nft-owner", "chain/erc1155-balance"):
        assert min(ways[f"{name} {way}"] for way in ("answered", "undone", "not_a_contract")) > 0, ways


def test_tx_explain_tells_the_transfers_that_are_in_the_logs(chain: DeployedChain) -> None:
    """Of each transaction, in their order; the first 200 are shown, and all are counted."""
    source = random.Random(SEED)
    for party in (fixtures.HOLDER, fixtures.FRIEND):
        chain.rpc("anvil_impersonateAccount", party)
        chain.rpc("anvil_setBalance", party, hex(10**21))
    ways: Counter[str] = Counter()
    for number in range(TRANSACTIONS):
        tx_hash = send(chain.rpc, source)
        wanted = moved(chain.reader.web3, tx_hash)
        ours = chain.ask("tx-explain", {"chain": "base", "txHash": tx_hash})
        assert isinstance(ours, dict), (number, ours)
        told = [
            Moved(
                *(each[name] for name in ("standard", "token", "from", "to")),
                int(each["amount"]),
                None if each["tokenId"] is None else int(each["tokenId"]),
                each["logIndex"],
            )
            for each in ours["transfers"]
        ]
        assert told == wanted[:200], (number, tx_hash)
        assert ours["transferCount"] == len(wanted), (number, tx_hash)
        assert ours["status"] == ("success" if chain.succeeded(tx_hash) else "reverted")
        ways.update({each.standard for each in wanted} or {ours["status"]})
    assert min(ways[way] for way in ("erc20", "erc721", "erc1155", "success", "reverted")) > 5, ways
