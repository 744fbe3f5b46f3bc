"""The sandbox's chain keeps the clock's time, starts and stops."""

from __future__ import annotations

import time
from typing import Any

import pytest

from compose.sandbox.evm import PAYER_FUNDS, StartFailed, provision, start_chain
from shared.nodes.json_rpc import JsonRpc

ETHER = 10**18


def test_blocks_carry_the_real_time(desk: Any) -> None:
    """Even after a burst: many blocks of one second do not push the chain's clock ahead."""
    for _ in range(8):
        receipt = desk.send(desk.payment("bytes", desk.authorization(value=1)))

    block = desk.rpc("eth_getBlockByNumber", receipt["blockNumber"], True)

    assert abs(int(block["timestamp"], 16) - time.time()) < 3
    assert [one["hash"] for one in block["transactions"]] == [receipt["transactionHash"]]
    assert desk.rpc("eth_getBlockByHash", block["hash"], False)["number"] == receipt["blockNumber"]
    assert desk.rpc("eth_getBlockByNumber", "0xfffffff", False) is None


def test_provisioning_again_tops_up(running: Any, desk: Any, call: Any) -> None:
    """The same wallets come back, and the payer has 1,000 USDC again."""
    chain, var = running
    desk.send(desk.payment("bytes", desk.authorization(value=1_000_000)))
    assert desk.balance(desk.sandbox.payer) < PAYER_FUNDS

    again = provision(chain, var)

    assert again == desk.sandbox
    assert desk.balance(again.payer) == PAYER_FUNDS
    assert int(desk.rpc("eth_getBalance", again.settler, "latest"), 16) > ETHER
    assert int(desk.rpc("eth_getBalance", again.payer, "latest"), 16) == 0


def test_a_chain_stops_and_starts_fresh(make_var: Any) -> None:
    """stop() leaves no process; the next start is an empty chain for the same wallets."""
    var = make_var()
    first = start_chain(var)
    blocks = int(JsonRpc(first.rpc_url)("eth_blockNumber"), 16)
    wallets = provision(first, var)
    first.stop()
    first.stop()
    assert first.process.returncode is not None
    with pytest.raises(OSError, match="refused"):
        JsonRpc(first.rpc_url)("eth_chainId")

    second = start_chain(var)
    try:
        assert int(JsonRpc(second.rpc_url)("eth_blockNumber"), 16) <= blocks + 1
        assert provision(second, var).payer == wallets.payer
    finally:
        second.stop()


def test_a_taken_port_is_an_error(running: Any, make_var: Any) -> None:
    """A chain that can not have its port does not pass for the one that has it."""
    chain, _ = running

    with pytest.raises(StartFailed, match="in use"):
        start_chain(make_var(), port=int(chain.rpc_url.rpartition(":")[2]))
