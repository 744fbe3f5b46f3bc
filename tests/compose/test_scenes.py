"""Both chains carry the scenes, at their addresses and of their age."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from typing import Any

import pytest
from eth_abi import decode
from eth_utils import is_checksum_address

from compose.sandbox import fixtures
from compose.sandbox.child import ROOT
from compose.sandbox.evm import Chain, start_chains
from compose.sandbox.fixture_transactions import transactions
from shared.nodes.json_rpc import JsonRpc, RpcError
from tests.compose.conftest import call

CHAIN_IDS = (fixtures.BASE, fixtures.ETHEREUM)
ADDRESSES = {
    name: value
    for name, value in vars(fixtures).items()
    if isinstance(value, str) and value.startswith("0x") and name.isupper()
}
BEFORE_FRESH = 7 * fixtures.DAY_S


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


def _ask(
    node: JsonRpc, to: str, signature: str, *arguments: Any, block: str = "latest", sender: str | None = None
) -> bytes:
    asked = {"to": to, "data": call(signature, *arguments)} | ({"from": sender} if sender else {})
    return bytes.fromhex(node("eth_call", asked, block)[2:])


def _refused(node: JsonRpc, to: str, signature: str, *arguments: Any) -> RpcError:
    with pytest.raises(RpcError) as caught:
        _ask(node, to, signature, *arguments)
    return caught.value


def _usdc(node: JsonRpc) -> str:
    return fixtures.USDC[int(node("eth_chainId"), 16)]


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


def test_accounts_have_what_is_said_of_them(node: JsonRpc) -> None:
    """USDC after all transactions, and ether."""
    wanted = {
        fixtures.HOLDER: 1_234_567_890,
        fixtures.FRIEND: 25_000_000,
        fixtures.DUSTY: 5_000,
        fixtures.GASLESS: 100_000_000,
        fixtures.BLACKLISTED: 50_000_000,
        fixtures.DELEGATED: 75_000_000,
        fixtures.EMPTY: 0,
    }
    usdc = _usdc(node)
    assert {one: int.from_bytes(_ask(node, usdc, "balanceOf(address)", one)) for one in wanted} == wanted
    ether = {one for one in wanted if int(node("eth_getBalance", one, "latest"), 16)}
    assert ether == set(wanted) - {fixtures.GASLESS, fixtures.EMPTY}
    listed = {one for one in wanted if int.from_bytes(_ask(node, usdc, "isBlacklisted(address)", one))}
    assert listed == {fixtures.BLACKLISTED}
    assert (
        int.from_bytes(_ask(node, usdc, "allowance(address,address)", fixtures.HOLDER, fixtures.OLD_SPENDER)) >= 2**255
    )


def test_tokens_say_what_they_are_in_every_way(node: JsonRpc) -> None:
    """A string, a string that looks like another, bytes32, nothing, and no end."""

    def symbol(token: str) -> str:
        text: str = decode(["string"], _ask(node, token, "symbol()"))[0]
        return text

    assert (symbol(fixtures.ERC20), symbol(_usdc(node))) == ("SCN", "USDC")
    assert symbol(fixtures.COPYCAT) == "USD\N{CYRILLIC CAPITAL LETTER ES}"
    assert _ask(node, fixtures.BYTES32_ERC20, "symbol()") == b"OLD".ljust(32, b"\0")
    assert (
        _ask(node, fixtures.BYTES32_ERC20, "transfer(address,uint256)", fixtures.FRIEND, 1, sender=fixtures.HOLDER)
        == b""
    )
    assert _refused(node, fixtures.BARE_ERC20, "decimals()").code == 3
    assert int.from_bytes(_ask(node, fixtures.BARE_ERC20, "balanceOf(address)", fixtures.HOLDER)) == 1_000
    assert _refused(node, fixtures.GREEDY_ERC20, "decimals()").code != 3
    owners = [_ask(node, fixtures.ERC721, "ownerOf(uint256)", token_id)[12:].hex() for token_id in (1, 2, 2**256 - 1)]
    assert owners == [one[2:].lower() for one in (fixtures.HOLDER, fixtures.FRIEND, fixtures.HOLDER)]
    assert _refused(node, fixtures.ERC721, "ownerOf(uint256)", 3).data.startswith("0x7e273289")
    assert int.from_bytes(_ask(node, fixtures.ERC1155, "balanceOf(address,uint256)", fixtures.HOLDER, 7)) == 3


def test_contracts_fail_in_each_way(node: JsonRpc) -> None:
    """With the data that Solidity gives, or with none."""
    said = {
        name: _refused(node, fixtures.REVERTS, f"{name}()").data
        for name in ("withError", "withPanic", "withCustomError", "withUnknownError", "withNothing", "withGarbage")
    }

    assert {name: (data or "0x")[:10] for name, data in said.items()} == {
        "withError": "0x08c379a0",
        "withPanic": "0x4e487b71",
        "withCustomError": "0xe450d38c",
        "withUnknownError": said["withUnknownError"][:10],
        "withNothing": "0x",
        "withGarbage": "0x67617262",
    }
    assert _refused(node, fixtures.REVERTS, "withOverflow(uint256)", 1).data.endswith("11")
    assert _refused(node, fixtures.REVERTS, "withAllGas()").data is None


def test_code_has_its_form_and_its_age(node: JsonRpc) -> None:
    """Delegation, proxies, and a spender that was not there a week ago: the nodes keep the old states."""
    known = fixtures.TRANSACTIONS[int(node("eth_chainId"), 16)]
    fresh = node("eth_getTransactionReceipt", known["creation"])
    before = node("eth_getTransactionReceipt", known["erc721"])["blockNumber"]
    assert fresh["contractAddress"].lower() == fixtures.FRESH_SPENDER.lower()
    assert int(node("eth_getBlockByNumber", before, False)["timestamp"], 16) < time.time() - BEFORE_FRESH

    old, now = (
        {name: node("eth_getCode", address, block) for name, address in ADDRESSES.items()}
        for block in (before, "latest")
    )

    spender = fixtures.OLD_SPENDER[2:].lower()
    assert old.pop("FRESH_SPENDER") == "0x"
    assert now.pop("FRESH_SPENDER") == now["OLD_SPENDER"] == now["MALICIOUS"]
    assert old == now
    assert now["DELEGATED"] == "0xef0100" + spender
    assert spender in now["MINIMAL_PROXY"]
    slot = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
    assert node("eth_getStorageAt", fixtures.PROXY, slot, "latest").endswith(spender)
    assert node("eth_getStorageAt", fixtures.UPGRADED_PROXY, slot, before).endswith(fixtures.FRESH_SPENDER[2:].lower())
    assert now["SILENT"] == "0x00"
    assert {name for name, code in now.items() if code == "0x"} == {
        *("HOLDER", "FRIEND", "DUSTY", "GASLESS", "BLACKLISTED", "EMPTY", "PERMIT2")
    }


def test_the_week_has_blocks_before_the_fresh_spender(node: JsonRpc) -> None:
    """Who looks for the block of a week ago with a few probes needs some that are younger and do not have it yet."""
    fresh = node("eth_getTransactionReceipt", fixtures.TRANSACTIONS[int(node("eth_chainId"), 16)]["creation"])
    created = int(fresh["blockNumber"], 16)

    times = [int(node("eth_getBlockByNumber", hex(created - n), False)["timestamp"], 16) for n in range(1, 25)]

    assert times == sorted(times, reverse=True)
    assert times[-1] > time.time() - BEFORE_FRESH
    assert node("eth_getCode", fixtures.FRESH_SPENDER, hex(created - 1)) == "0x"


@pytest.mark.parametrize("sender", ["OLD_SPENDER", "DELEGATED"])
def test_a_call_may_come_from_an_account_with_code(node: JsonRpc, sender: str) -> None:
    """Only transactions need a key behind them (EIP-3607)."""
    balance = _ask(node, _usdc(node), "balanceOf(address)", fixtures.HOLDER, sender=ADDRESSES[sender])

    assert int.from_bytes(balance) == 1_234_567_890
