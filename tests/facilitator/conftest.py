"""The real facilitator on a real local chain, and people around it."""

import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_socket
from litestar import Litestar
from litestar.exceptions import LitestarDeprecationWarning

from compose.sandbox.child import ROOT
from compose.sandbox.evm import provision, start_chain
from facilitator.app import create_app
from shared.nodes.json_rpc import JsonRpc
from shared.settings.service import Settings
from tests.facilitator.bench import Bench, FaultyNode, an_address, on_sandbox, with_evm

Build = Callable[[Settings], Litestar]


@asynccontextmanager
async def running(app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """Litestar's AsyncTestClient would block the event loop for every request, so nothing would ever be parallel."""
    async with (
        app.lifespan(),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://facilitator") as client,
    ):
        yield client


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A chain for the whole session."""
    pytest_socket.enable_socket()
    var = tmp_path_factory.mktemp("facilitator")
    chain = start_chain(var, node_folders=[ROOT / "var" / "node"])
    bench = Bench(provision(chain, var), JsonRpc(chain.rpc_url))
    bench.fund_stranger()
    yield bench
    chain.stop()


@pytest.fixture
def settings(bench: Bench, tmp_path: Path) -> Settings:
    """A facilitator with the settler's key on that chain."""
    key = tmp_path / "settler.key"
    key.write_text(bench.sandbox.settler_key)
    return Settings(evm=on_sandbox(bench.sandbox, settler_key_file=key))


@pytest.fixture(scope="session")
def build() -> Build:
    """create_app, without the deprecation warning of its handlers' `data` parameters."""

    def build(settings: Settings) -> Litestar:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LitestarDeprecationWarning)
            return create_app(settings)

    return build


@pytest.fixture
async def facilitator(build: Build, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the running facilitator."""
    async with running(build(settings)) as client:
        yield client


@pytest.fixture
def pay_to() -> str:
    """A recipient who has nothing yet."""
    return an_address()


@pytest.fixture
def node(bench: Bench) -> Iterator[FaultyNode]:
    """A node in front of the chain that fails on demand."""
    node = FaultyNode(bench.sandbox.rpc_url)
    node.start()
    yield node
    node.stop()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A facilitator that waits for the node and for receipts for a moment only."""
    monkeypatch.setattr("facilitator.json_rpc.JsonClient.timeout_s", 1.0)
    monkeypatch.setattr("facilitator.rails.evm.settlements.SETTLE_TIMEOUT_S", 2.0)


@pytest.fixture
async def faulty_node_facilitator(
    impatient: None, build: Build, settings: Settings, node: FaultyNode
) -> AsyncIterator[httpx.AsyncClient]:
    """A facilitator that knows the chain through that node only."""
    async with running(build(with_evm(settings, rpc_url=node.url))) as client:
        yield client
