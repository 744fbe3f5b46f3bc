"""The sandbox's chain keeps the clock's time, starts and stops."""

from pathlib import Path
from typing import Any

import pytest
from eth_abi import decode

from compose.sandbox import fixtures
from compose.sandbox.evm import PAYER_FUNDS, StartFailed, find_anvil, provision, start_chain, start_chains_to_pay_on
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm import domain_separator
from shared.x402.networks import EVM_USDC
from tests.compose.conftest import call

ETHER = 10**18


def test_provisioning_again_tops_up(running: Any, desk: Any) -> None:
    """The same wallets come back, and the payer has 1,000 USDC again."""
    chain, var = running
    desk.send(desk.payment("bytes", desk.authorization(value=1_000_000)))
    assert desk.balance(desk.sandbox.payer) < PAYER_FUNDS

    again = provision(chain, var)

    assert again == desk.sandbox
    assert desk.balance(again.payer) == PAYER_FUNDS
    assert int(desk.rpc("eth_getBalance", again.settler, "latest"), 16) > ETHER
    assert int(desk.rpc("eth_getBalance", again.payer, "latest"), 16) == 0


def mined(rpc: JsonRpc) -> int:
    """The number of transactions of a chain. That of its blocks grows by the clock."""
    blocks = range(int(rpc("eth_blockNumber"), 16) + 1)
    return sum(int(rpc("eth_getBlockTransactionCountByNumber", hex(number)), 16) for number in blocks)


def test_a_chain_stops_and_starts_fresh(make_var: Any) -> None:
    """stop() leaves no process; the next start is a new chain for the same wallets."""
    var = make_var()
    first = start_chain(var)
    made = mined(JsonRpc(first.rpc_url))
    wallets = provision(first, var)
    assert mined(JsonRpc(first.rpc_url)) > made
    first.stop()
    first.stop()
    assert first.process.returncode is not None
    with pytest.raises(OSError, match="refused"):
        JsonRpc(first.rpc_url)("eth_chainId")

    second = start_chain(var)
    try:
        assert mined(JsonRpc(second.rpc_url)) == made
        assert provision(second, var).payer == wallets.payer
    finally:
        second.stop()


def test_a_taken_port_is_an_error(running: Any, make_var: Any) -> None:
    """A chain that can not have its port does not pass for the one that has it."""
    chain, _ = running

    with pytest.raises(StartFailed, match="in use"):
        start_chain(make_var(), port=int(chain.rpc_url.rpartition(":")[2]))


def test_payments_on_base_sepolia(make_var: Any) -> None:
    """The signature of a payment is over the name of the token, which is another there than on Base."""
    var = make_var()
    chains = start_chains_to_pay_on(fixtures.TESTNET, var)
    try:
        assert set(chains) == {fixtures.TESTNET, fixtures.BASE, fixtures.ETHEREUM}
        sandbox = provision(chains[fixtures.TESTNET], var)
        rpc = JsonRpc(sandbox.rpc_url)

        def ask(signature: str, *arguments: Any) -> bytes:
            return bytes.fromhex(
                rpc("eth_call", {"to": sandbox.usdc, "data": call(signature, *arguments)}, "latest")[2:]
            )

        token = EVM_USDC["eip155:84532"]
        assert (sandbox.chain_id, sandbox.usdc) == (84532, token.address)
        assert decode(["string"], ask("name()")) == (token.name,)
        assert ask("DOMAIN_SEPARATOR()") == domain_separator(token.name, token.version, 84532, token.address)
        assert int.from_bytes(ask("balanceOf(address)", sandbox.payer)) == PAYER_FUNDS
    finally:
        for chain in chains.values():
            chain.stop()


@pytest.fixture
def no_anvil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No anvil is named, and PATH has none."""
    monkeypatch.delenv("COINSLOT_ANVIL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))


def _binary(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.touch(0o755)
    return path


@pytest.mark.usefixtures("no_anvil")
def test_it_is_found_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named one, then npm's for any platform, then PATH's."""
    assert find_anvil([tmp_path / "a", tmp_path / "b"]) is None
    on_path = _binary(tmp_path / "path" / "anvil")
    assert find_anvil([tmp_path / "a", tmp_path / "b"]) == on_path
    from_npm = _binary(tmp_path / "b" / "node_modules" / "@foundry-rs" / "anvil-darwin-arm64" / "bin" / "anvil")
    assert find_anvil([tmp_path / "a", tmp_path / "b"]) == from_npm
    named = _binary(tmp_path / "mine" / "anvil")
    monkeypatch.setenv("COINSLOT_ANVIL", str(named))
    assert find_anvil([tmp_path / "a", tmp_path / "b"]) == named


def test_a_named_one_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong setting is not quietly replaced by something else."""
    monkeypatch.setenv("COINSLOT_ANVIL", str(tmp_path / "gone"))

    with pytest.raises(FileNotFoundError, match="COINSLOT_ANVIL"):
        find_anvil([])


@pytest.mark.usefixtures("no_anvil")
def test_without_it_no_chain_starts(tmp_path: Path) -> None:
    """The sentence says what to do."""
    with pytest.raises(StartFailed, match="run scripts/setup"):
        start_chain(tmp_path)
