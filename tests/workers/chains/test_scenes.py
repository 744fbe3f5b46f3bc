"""The sandbox's nodes, read through the port."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from compose.sandbox import fixtures
from compose.sandbox.child import ROOT
from compose.sandbox.evm import Chain, start_chains
from jobs.ports.chains import (
    CHAIN_IDS,
    Balance,
    BlockTime,
    Call,
    ChainCall,
    ChainId,
    Code,
    EstimateGas,
    GasPrice,
    Nonce,
    ReceiptByHash,
    Reverted,
    Storage,
    TransactionByHash,
    Unavailable,
)
from shared.nodes.json_rpc import JsonRpc
from shared.outcome import UpstreamFailed
from shared.x402.evm import keccak256
from tests.each import each
from workers.adapters.chains import NodeChains

HOLDER, FRIEND, EMPTY = fixtures.HOLDER.lower(), fixtures.FRIEND.lower(), fixtures.EMPTY.lower()
IMPLEMENTATION = 0x360894A13BA1A3210667C828492DB98DCA3E2076CC3735A920A3CA505D382BBC


class Sandbox(NamedTuple):
    """Its two chains, through the port."""

    base: Chain
    ethereum: Chain
    chains: NodeChains

    def read(self, chain: Any, *calls: ChainCall, block: int | None = None) -> tuple[Any, ...]:
        """Results."""
        return self.chains.read(chain, calls, block=block, deadline=time.monotonic() + 10).results


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Base and Ethereum."""
    var: Path = tmp_path_factory.mktemp("var")
    base, ethereum = start_chains(var, node_folders=[ROOT / "var" / "node"])
    yield Sandbox(base, ethereum, NodeChains({"base": [base.rpc_url], "ethereum": [ethereum.rpc_url]}))
    base.stop()
    ethereum.stop()


def _selector(signature: str) -> bytes:
    return keccak256(signature.encode())[:4]


def _fails(name: str) -> bytes:
    return _selector(f"{name}()")


@each("chain", CHAIN_IDS)
def test_values_are_read(sandbox: Sandbox, chain: Any) -> None:
    """Each kind of read, and what is not there."""
    names = fixtures.TRANSACTIONS[CHAIN_IDS[chain]]
    unknown = "0x" + "12" * 32
    read = sandbox.chains.read(
        chain,
        [
            *(Balance(EMPTY), Nonce(HOLDER), Code(fixtures.DELEGATED.lower()), Code(EMPTY)),
            *(Storage(fixtures.PROXY.lower(), IMPLEMENTATION), Storage(fixtures.PROXY.lower(), 2**256 - 1)),
            *(Call(to=fixtures.SILENT.lower(), data=b"\1"), Call(to=EMPTY, data=b"\1")),
            Call(to=fixtures.BYTES32_ERC20.lower(), data=_selector("symbol()")),
            *(EstimateGas(to=FRIEND, data=b"", sender=HOLDER, value=1), ChainId(), BlockTime(10**9)),
            *(TransactionByHash(unknown), ReceiptByHash(unknown), ReceiptByHash(names["pending"])),
        ],
        deadline=time.monotonic() + 10,
    )

    spender = bytes.fromhex(fixtures.OLD_SPENDER[2:])
    assert read.results == (
        *(0, 7, b"\xef\x01\x00" + spender, b""),
        *(spender.rjust(32, b"\0"), bytes(32)),
        *(b"", b"", b"OLD".ljust(32, b"\0")),
        *(21_000, CHAIN_IDS[chain], None),
        *(None, None, None),
    )
    assert time.time() - read.timestamp < 30
    price, first, waiting, mined = sandbox.read(
        chain, GasPrice(), BlockTime(0), TransactionByHash(names["pending"]), ReceiptByHash(names["refused"])
    )
    assert price > 0
    assert first < time.time() - 29 * fixtures.DAY_S
    assert waiting["blockNumber"] is None
    assert mined["status"] == "0x0"


def test_a_call_that_fails_says_how(sandbox: Sandbox) -> None:
    """The same of both nodes, whatever their words are; an estimate says it too."""
    reverts, token = fixtures.REVERTS.lower(), fixtures.ERC20.lower()
    ways = {
        "withError": (b"\x08\xc3\x79\xa0", "revert"),
        "withPanic": (b"NH{q", "revert"),
        "withCustomError": (b"\xe4P\xd3\x8c", "revert"),
        "withGarbage": (b"garb", "revert"),
        "withNothing": (b"", "revert"),
        "withAllGas": (b"", "invalid_opcode"),
    }
    for kind in (Call, EstimateGas):
        results = sandbox.read("base", *(kind(to=reverts, data=_fails(name)) for name in ways))
        assert [(result.data[:4], result.cause) for result in results] == list(ways.values())

    assert sandbox.read(
        "base",
        Call(to=FRIEND, data=b"", sender=EMPTY, value=1),
        Call(to=token, data=_selector("symbol()"), gas=21_100),
        Call(to=None, data=b"\xfe"),
        Call(to=None, data=b"\x50"),  # POP of an empty stack
        Call(to=None, data=b"\x5b\x56"),
    ) == tuple(Reverted(b"", c) for c in ("insufficient_funds", "out_of_gas", "invalid_opcode", "halted", "halted"))


def test_the_past_is_read(sandbox: Sandbox) -> None:
    """The fresh spender was not there yet; a block that will be is not found."""
    fresh = Code(fixtures.FRESH_SPENDER.lower())
    then, now = sandbox.read("base", fresh, block=2), sandbox.read("base", fresh)

    assert then == (b"",)
    assert now == sandbox.read("base", Code(fixtures.OLD_SPENDER.lower()))
    with pytest.raises(UpstreamFailed) as caught:
        sandbox.read("base", fresh, block=10**7)
    assert caught.value.reason == "block_not_found"


def test_a_state_that_anvil_has_dropped_is_unavailable(sandbox: Sandbox) -> None:
    """It says that the block is out of range, with the code of a wrong parameter."""
    JsonRpc(sandbox.ethereum.rpc_url)("anvil_mine", hex(600))

    assert sandbox.read("ethereum", Code(fixtures.OLD_SPENDER.lower()), BlockTime(1), block=1)[0] == Unavailable()
