"""Five hundred contracts and calls by chance: each chain endpoint, through the real nodes' port, says what web3.py says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.compose.conftest import KINDS
from tests.workers.differential.cases import MAKERS, Case, cases
from tests.workers.differential.checks import CHECKS
from tests.workers.differential.stand import Stand, standing

pytestmark = pytest.mark.skipif("anvil" not in KINDS, reason="anvil alone lets contracts be put anywhere")
CASES, SEED = 500, 17


@pytest.fixture(scope="module")
def asked() -> list[Case]:
    """The questions."""
    return cases(CASES, SEED)


@pytest.fixture(scope="module")
def stand(asked: list[Case], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """The chain and its readers."""
    with standing(tmp_path_factory.mktemp("var"), asked) as made:
        yield made


def test_endpoints_say_what_web3_says(stand: Stand, asked: list[Case]) -> None:
    """Of each contract, at the same block."""
    ways: Counter[str] = Counter()
    for number, case in enumerate(asked):
        ours = stand.ask(case.name, case.body)
        try:
            ways[f"{case.name} {CHECKS[case.name](stand.reader, case, ours)}"] += 1
            if isinstance(ours, dict):
                assert ours["blockNumber"] == str(stand.reader.block)
                at = datetime.strptime(ours["blockTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
                assert at.timestamp() == stand.timestamp
        except AssertionError as error:
            raise AssertionError(f"case {number} of seed {SEED}: {case}\nours: {ours}") from error
    # Every endpoint was answered, and those that run strangers' code were refused in both ways.
    assert {way.split()[0] for way in ways} == set(MAKERS)
    for name in ("chain/call", "chain/erc20-balance", "chain/allowance", "chain/nft-owner", "chain/erc1155-balance"):
        assert min(ways[f"{name} {way}"] for way in ("answered", "undone", "not_a_contract")) > 0, ways
