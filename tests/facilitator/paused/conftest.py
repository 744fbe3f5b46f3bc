"""The facilitator on a chain that makes a block on demand only, through a node that fails on demand."""

import dataclasses
from collections.abc import Iterator

import pytest
import pytest_socket

from shared.settings.service import Settings
from tests.facilitator.bench import FaultyNode, with_evm
from tests.facilitator.paused_chain import PausedChain


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PausedChain]:
    """The chain, in place of the one that makes a block of every transaction."""
    pytest_socket.enable_socket()
    process, chain = PausedChain.start(tmp_path_factory.mktemp("paused"))
    yield chain
    process.stop()


@pytest.fixture
def chain(bench: PausedChain) -> Iterator[PausedChain]:
    """The same. Blocks are made again after each test."""
    yield bench
    bench.flow()


@pytest.fixture
def settings(settings: Settings, node: FaultyNode) -> Settings:
    """Whatever it costs: here prices rise far above what payments bring."""
    return dataclasses.replace(with_evm(settings, rpc_url=node.url), max_cost_share="off")
