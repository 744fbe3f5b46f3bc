"""The rail on the sandbox's ledger, and a node in between that fails on demand."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
import pytest_socket
from solders.keypair import Keypair

from compose.sandbox.solana import USDC, start_solana
from facilitator.rails.solana.rail import SolanaRail
from shared.nodes.json_rpc import JsonRpc
from tests.facilitator.bench import FaultyNode
from tests.facilitator.solana.bench import SolanaBench
from tests.time_limits import patience

Running = Callable[..., AbstractAsyncContextManager[SolanaRail]]


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SolanaBench]:
    """A ledger for the whole session."""
    pytest_socket.enable_socket()
    sandbox = start_solana(tmp_path_factory.mktemp("solana"))
    yield SolanaBench(sandbox, JsonRpc(sandbox.rpc_url))
    sandbox.stop()


@pytest.fixture(autouse=True)
def flowing(bench: SolanaBench) -> Iterator[None]:
    """Whatever a test did to the ledger is over with it."""
    yield
    bench.rpc("sandbox_drop", 0)
    bench.rpc("sandbox_release")
    bench.rpc("sandbox_fund", bench.sandbox.settler, {"lamports": 10**10})


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rail that makes short pauses, and has patience with a ledger on a busy machine."""
    monkeypatch.setattr("facilitator.rails.solana.rail.SETTLE_TIMEOUT_S", 30.0)
    monkeypatch.setattr("facilitator.json_rpc.JsonClient.timeout_s", 20.0)
    monkeypatch.setattr("facilitator.rails.solana.rail.RESEND_EVERY_S", 0.1)
    monkeypatch.setattr("facilitator.rails.solana.rail.BLOCKHASH_PATIENCE_S", 0.1)
    monkeypatch.setattr("facilitator.rails.solana.rail.BLOCKHASH_PAUSE_S", 0.05)
    monkeypatch.setattr("facilitator.rails.solana.rail.WATCH_EVERY_S", 0.02)
    monkeypatch.setattr("facilitator.rails.solana.confirmations.LONGEST_POLL_S", 0.05)
    monkeypatch.setattr("facilitator.rails.solana.rail.READ_SOON_S", 0.02)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rail that waits for the node and the network for a moment only."""
    monkeypatch.setattr("facilitator.rails.solana.rail.SETTLE_TIMEOUT_S", patience(1.0))
    monkeypatch.setattr("facilitator.json_rpc.JsonClient.timeout_s", 1.0)


@pytest.fixture
def running(bench: SolanaBench) -> Running:
    """Starts a rail."""

    @asynccontextmanager
    async def running(
        rpc_url: str = bench.sandbox.rpc_url, key: str = bench.sandbox.settler_key
    ) -> AsyncIterator[SolanaRail]:
        rail = SolanaRail(USDC, rpc_url, bytes.fromhex(key))
        try:
            await rail.start()
            yield rail
        finally:
            await rail.stop()

    return running


@pytest.fixture
async def rail(running: Running) -> AsyncIterator[SolanaRail]:
    """A rail on that ledger."""
    async with running() as rail:
        yield rail


@pytest.fixture
def node(bench: SolanaBench) -> Iterator[FaultyNode]:
    """A node in front of the ledger that fails on demand."""
    node = FaultyNode(bench.sandbox.rpc_url)
    node.start()
    yield node
    node.stop()


@pytest.fixture
async def faulty_node_rail(impatient: None, running: Running, node: FaultyNode) -> AsyncIterator[SolanaRail]:
    """A rail that knows the ledger through that node only."""
    async with running(node.url) as rail:
        yield rail


@pytest.fixture
def pay_to(bench: SolanaBench) -> str:
    """A recipient with an account that has nothing in it yet."""
    owner = Keypair().pubkey()
    bench.fund(owner, usdc=0)
    return str(owner)
