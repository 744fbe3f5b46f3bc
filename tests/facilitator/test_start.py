"""A facilitator that could not settle does not start; one that runs survives what it is sent."""

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from facilitator.app import RECURSION_LIMIT
from facilitator.rails.evm.rail import EvmRail
from shared.settings.service import InvalidSetting, Settings
from shared.x402.networks import EVM_USDC
from tests.facilitator.bench import Bench, with_evm
from tests.facilitator.served import Served, serve

Build = Callable[[Settings], Any]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"rpc_url": ""}, "COINSLOT_EVM_RPC_URL"),
        ({"network": "eip155:5"}, "COINSLOT_EVM_NETWORK"),
        ({"settler_key_file": Path("/nowhere/settler.key")}, "/nowhere/settler"),
    ],
    ids=["no node", "unknown network", "no key"],
)
def test_a_missing_setting_is_named(build: Build, settings: Settings, changes: dict[str, Any], named: str) -> None:
    """Before anything is served."""
    with pytest.raises(InvalidSetting, match=re.escape(named)):
        build(with_evm(settings, **changes))


@pytest.fixture
async def start(bench: Bench) -> AsyncIterator[Callable[..., Awaitable[None]]]:
    """Starts a rail on a network through a node."""
    rails: list[EvmRail] = []

    async def start(network: str, rpc_url: str = bench.sandbox.rpc_url) -> None:
        key = bytes.fromhex(bench.sandbox.settler_key[2:])
        rails.append(EvmRail(EVM_USDC[network], rpc_url, key, most_for_gas=10**10, low_balance=0))
        await rails[-1].start()

    yield start
    for rail in rails:
        await rail.stop()


@pytest.mark.anyio
async def test_a_node_of_another_chain_is_refused(start: Callable[..., Awaitable[None]]) -> None:
    """Settling there would be settling nothing: the network of the settings and of the node must be one."""
    await start("eip155:8453")
    for other in ("eip155:84532", "eip155:1"):
        with pytest.raises(InvalidSetting, match=rf"the node serves chain 8453, not {other.partition(':')[2]}"):
            await start(other)


@pytest.mark.anyio
async def test_a_node_that_is_down_is_an_error_at_start(start: Callable[..., Awaitable[None]]) -> None:
    """Nothing is settled before the node has been heard once."""
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        await start("eip155:8453", "http://127.0.0.1:1")


def test_the_recursion_limit_is_pythons(build: Build, settings: Settings) -> None:
    """web3's libraries raise it to where nested JSON overflows the C stack; the facilitator puts it back."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        build(settings)
        assert sys.getrecursionlimit() == RECURSION_LIMIT
    finally:
        sys.setrecursionlimit(before)


@pytest.fixture
def facilitator(settings: Settings) -> Iterator[Served]:
    """The process as it is deployed, ended by SIGTERM."""
    served = serve(settings)
    yield served
    served.stop()


def test_the_process_survives_hostile_bodies(facilitator: Served, bench: Bench, pay_to: str) -> None:
    """Given nested, large and endless bodies, then the same worker still settles, and it ends well on SIGTERM."""
    before = facilitator.workers

    for nested in (b"[" * 60_000, b'{"paymentPayload":' + b'{"payload":' * 5_000, b'{"x":' * 10_000):
        for path in ("/verify", "/settle"):
            assert facilitator.ask("POST", path, nested)[0] >= 400
    assert facilitator.ask("POST", "/settle", b" " * 70_000)[0] == 413
    assert facilitator.ask("POST", "/settle", iter([b" " * 1_000] * 70))[0] == 413

    status, answer = facilitator.ask("POST", "/settle", msgspec.json.encode(bench.payer().call(pay_to)))
    assert (status, msgspec.json.decode(answer)["success"]) == (200, True)
    assert facilitator.workers == before
