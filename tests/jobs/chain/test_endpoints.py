"""The eight endpoints, against chains that are tables."""

from typing import Any

import pytest

from jobs.chain.endpoints import ENDPOINTS
from jobs.engines.evm.reader import NotAContract
from jobs.engines.evm.selectors import (
    ALLOWANCE,
    BALANCE_OF,
    BALANCE_OF_ID,
    GAS_PRICE_ORACLE,
    L1_FEE_UPPER_BOUND,
    OWNER_OF,
    SUPPORTS_INTERFACE,
    selector,
)
from jobs.ports.chains import Reverted
from jobs.site import Site
from shared.endpoint import InvalidField
from tests.each import each
from tests.jobs.engines.evm.fake_chains import HEAD, NOW, FakeChains, answered, text, word
from tests.sites import decoded

TOKEN = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
ALICE = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
BOB = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
BY_NAME = {endpoint.name.removeprefix("chain/"): endpoint for endpoint in ENDPOINTS}
FILLED: dict[str, dict[str, Any]] = {
    "chain-id": {},
    "erc20-balance": {"token": TOKEN, "address": ALICE},
    "allowance": {"token": TOKEN, "owner": ALICE, "spender": BOB},
    "nft-owner": {"token": TOKEN, "tokenId": "7"},
    "erc1155-balance": {"token": TOKEN, "address": ALICE, "tokenId": "0x7"},
    "estimate-gas": {"to": TOKEN, "data": "0xa9059cbb", "from": ALICE},
    "call": {"to": TOKEN, "data": "0x313ce567"},
    "storage": {"address": TOKEN, "slot": "0"},
}


def ask(name: str, chains: FakeChains, now: int = NOW, **body: Any) -> dict[str, Any]:
    return answered(BY_NAME[name], chains, {"chain": "base"} | FILLED[name] | body, now)


@pytest.fixture
def chains() -> FakeChains:
    """USDC on Base, of which Alice has 25."""
    found = FakeChains()
    found.base.token(TOKEN, "USDC", 6, "USD Coin")
    found.base.calls[TOKEN, BALANCE_OF] = word(25_000_000)
    found.base.calls[TOKEN, ALLOWANCE] = word(2**256 - 1)
    return found


@pytest.mark.parametrize("name", BY_NAME)
def test_every_answer_names_its_block(name: str, chains: FakeChains) -> None:
    """And all reads of one answer are of one block."""
    chains.base.calls[TOKEN, OWNER_OF] = word(ALICE)
    chains.base.calls[TOKEN, BALANCE_OF_ID] = word(3)
    answer = ask(name, chains)
    assert answer["ok"] is True
    assert (answer["chain"], answer["chainId"]) == ("base", 8453)
    assert (answer["blockNumber"], answer["blockTimestamp"]) == (str(HEAD), "2027-01-15T08:00:00Z")
    assert "stale_head" not in answer["warnings"]
    assert len(chains.reads) == 1


@pytest.mark.parametrize(
    ("chain", "late", "is_stale"),
    [("base", 60, False), ("base", 61, True), ("ethereum", 120, False), ("ethereum", 121, True)],
)
def test_a_head_that_stopped_is_a_warning(chain: str, late: int, is_stale: bool, chains: FakeChains) -> None:
    """Over 60 s on Base, 120 s on Ethereum."""
    assert ("stale_head" in ask("chain-id", chains, NOW + late, chain=chain)["warnings"]) is is_stale


def test_chain_id_is_the_nodes(chains: FakeChains) -> None:
    """Not the configuration's."""
    answer = ask("chain-id", chains, chain="ethereum")
    assert (answer["chainId"], answer["chainIdHex"], answer["caip2"]) == (1, "0x1", "eip155:1")


def test_a_balance_is_readable(chains: FakeChains) -> None:
    """Raw, with decimals, with its symbol."""
    answer = ask("erc20-balance", chains)
    assert (answer["balance"], answer["decimals"], answer["balanceFormatted"]) == ("25000000", 6, "25")
    assert (answer["symbol"], answer["reverted"], answer["revert"]) == ("USDC", False, None)
    assert (answer["symbolCleaned"], answer["isCanonical"]) == (False, True)
    assert answer["token"] == "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


@pytest.mark.parametrize(
    ("symbol", "decimals", "shown"),
    [
        (b"MKR".ljust(32, b"\0"), 18, ("MKR", 18, "0.000000000025")),
        ("USDC", b"", ("USDC", None, None)),
        (Reverted(b"", "out_of_gas"), Reverted(b"", "out_of_gas"), (None, None, None)),
        (text("\u202eevil"), 0, ("evil", 0, "25000000")),
    ],
)
def test_tokens_that_are_not_by_the_book(
    symbol: Any, decimals: Any, shown: tuple[Any, ...], chains: FakeChains
) -> None:
    """bytes32 symbols, no decimals, metadata that burns all gas."""
    chains.base.token(TOKEN, symbol, decimals)
    answer = ask("erc20-balance", chains)
    assert answer["balance"] == "25000000"
    assert (answer["symbol"], answer["decimals"], answer["balanceFormatted"]) == shown
    assert answer["symbolCleaned"] is (shown[0] == "evil")


def test_a_token_that_borrows_a_symbol_is_not_canonical(chains: FakeChains) -> None:
    """Its address decides."""
    other = "0x" + "ab" * 20
    chains.base.token(other, "USDC", 6)
    chains.base.calls[other, BALANCE_OF] = word(1)
    answer = ask("erc20-balance", chains, token=other)
    assert (answer["symbol"], answer["isCanonical"]) == ("USDC", False)


def test_a_balance_that_reverts_is_an_answer(chains: FakeChains) -> None:
    """Null, with the reason."""
    chains.base.calls[TOKEN, BALANCE_OF] = Reverted(selector("Error(string)") + text("closed"))
    answer = ask("erc20-balance", chains)
    assert (answer["balance"], answer["reverted"], answer["revertReason"]) == (None, True, "closed")
    assert answer["balanceFormatted"] is None


@each("name", ["erc20-balance", "allowance", "nft-owner", "erc1155-balance", "call"])
def test_no_contract_is_said(name: str) -> None:
    """An empty answer is no zero."""
    with pytest.raises(NotAContract) as refused:
        ask(name, FakeChains())
    assert refused.value.code == "not_a_contract"


@pytest.mark.parametrize("answer", [b"", b"\0" * 31])
def test_a_contract_of_another_kind_is_said(answer: bytes, chains: FakeChains) -> None:
    """It has code, and answers nothing."""
    chains.base.calls[TOKEN, BALANCE_OF] = answer
    with pytest.raises(NotAContract):
        ask("erc20-balance", chains)


def test_allowances_without_limit(chains: FakeChains) -> None:
    """Any of the usual numbers, or more than the supply."""
    assert ask("allowance", chains)["isUnlimited"] is True
    chains.base.calls[TOKEN, ALLOWANCE] = word(5_000_000)
    answer = ask("allowance", chains)
    assert (answer["isUnlimited"], answer["allowance"], answer["allowanceFormatted"]) == (False, "5000000", "5")


def test_owners_of_nfts(chains: FakeChains) -> None:
    """Somebody, nobody, the zero address, and a contract that is no ERC-721."""
    chains.base.calls[TOKEN, OWNER_OF] = word(ALICE)
    chains.base.calls[TOKEN, SUPPORTS_INTERFACE] = word(1)
    answer = ask("nft-owner", chains)
    assert (answer["owner"], answer["exists"], answer["isErc721"]) == (
        "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        True,
        True,
    )
    assert (answer["tokenId"], answer["collection"], answer["warnings"]) == ("7", "USD Coin", [])
    for nobody in (Reverted(b""), word(0)):
        chains.base.calls[TOKEN, OWNER_OF] = nobody
        answer = ask("nft-owner", chains)
        assert (answer["owner"], answer["exists"]) == (None, False)
    chains.base.calls[TOKEN, SUPPORTS_INTERFACE] = Reverted(b"")
    assert ask("nft-owner", chains)["warnings"] == ["not_erc721"]
    chains.base.calls[TOKEN, OWNER_OF] = word(2**200)
    with pytest.raises(NotAContract):
        ask("nft-owner", chains)


def test_balances_of_erc1155(chains: FakeChains) -> None:
    """Ids in decimal or hex; a contract of another kind is a warning."""
    chains.base.calls[TOKEN, BALANCE_OF_ID + word(ALICE) + word(7)] = word(3)
    chains.base.calls[TOKEN, SUPPORTS_INTERFACE] = word(1)
    answer = ask("erc1155-balance", chains)
    assert (answer["balance"], answer["tokenId"], answer["warnings"]) == ("3", "7", [])
    chains.base.calls[TOKEN, SUPPORTS_INTERFACE] = word(0)
    assert ask("erc1155-balance", chains)["warnings"] == ["not_erc1155"]


def test_gas_and_what_it_costs(chains: FakeChains) -> None:
    """With the L1 fee on Base."""
    chains.base.estimate = 50_000
    chains.base.calls[GAS_PRICE_ORACLE, L1_FEE_UPPER_BOUND + word(120 + 4)] = word(1_000)
    answer = ask("estimate-gas", chains)
    assert (answer["gas"], answer["gasHex"], answer["reverted"]) == ("50000", "0xc350", False)
    assert (answer["l1FeeWei"], answer["feeWei"]) == ("1000", str(50_000 * 6_000_000 + 1_000))
    assert answer["warnings"] == []
    on_ethereum = ask("estimate-gas", chains, chain="ethereum", data="0x")
    assert (on_ethereum["gas"], on_ethereum["l1FeeWei"]) == ("21000", None)


def test_an_estimate_that_reverts_is_an_answer(chains: FakeChains) -> None:
    """With the panic's meaning."""
    chains.base.estimate = Reverted(selector("Panic(uint256)") + word(0x11))
    answer = ask("estimate-gas", chains)
    assert (answer["gas"], answer["reverted"]) == (None, True)
    assert answer["revertReason"] == "Panic(0x11): arithmetic overflow or underflow"


def test_value_must_be_there_whatever_the_node_says(chains: FakeChains) -> None:
    """Nodes differ; ours has one rule, and says it."""
    chains.base.balances[ALICE] = 5
    for name in ("estimate-gas", "call"):
        chains.base.calls[TOKEN, bytes.fromhex("313ce567")] = word(6)
        poor = ask(name, chains, value="6", **{"from": ALICE})
        assert (poor["reverted"], poor["revert"]["kind"]) == (True, "insufficient_funds")
        rich = ask(name, chains, value="5", **{"from": ALICE})
        assert rich["reverted"] is False
        assert rich["sender"] == {
            "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "isDefault": False,
            "balanceWei": "5",
            "rule": "gas_free_value_from_balance",
        }


def test_data_for_an_address_without_code_is_a_warning(chains: FakeChains) -> None:
    """A transfer works, and calls nothing."""
    assert ask("estimate-gas", chains, to=BOB)["warnings"] == ["no_code_at_to"]


def test_a_call_returns_what_it_returns(chains: FakeChains) -> None:
    """Data, nothing, a revert, and more than is shown."""
    answer = ask("call", chains)
    assert (answer["data"], answer["dataBytes"], answer["reverted"]) == ("0x" + word(6).hex(), 32, False)
    chains.base.calls[TOKEN, bytes.fromhex("313ce567")] = b""
    assert ask("call", chains)["data"] == "0x"
    chains.base.calls[TOKEN, bytes.fromhex("313ce567")] = Reverted(b"\1\2\3\4")
    reverted = ask("call", chains)
    assert (reverted["data"], reverted["reverted"], reverted["revertReason"]) == (
        "0x01020304",
        True,
        "custom error 0x01020304",
    )
    chains.base.calls[TOKEN, bytes.fromhex("313ce567")] = bytes(200_000)
    long = ask("call", chains)
    assert (long["dataBytes"], long["dataTruncated"], len(long["data"])) == (200_000, True, 2 + 2 * 128 * 1024)


def test_precompiles_have_no_code_and_answer(chains: FakeChains) -> None:
    """The identity at 4."""
    four = "0x" + "0" * 39 + "4"
    chains.base.calls[four, b"\1\2"] = b"\1\2"
    assert ask("call", chains, to=four, data="0x0102")["data"] == "0x0102"


def test_slots_are_named(chains: FakeChains) -> None:
    """Those of proxies; and an address is shown as one."""
    slot = 0x360894A13BA1A3210667C828492DB98DCA3E2076CC3735A920A3CA505D382BBC
    chains.base.storage[TOKEN, slot] = word(BOB)
    answer = ask("storage", chains, slot=str(slot))
    assert (answer["slot"], answer["value"]) == (f"0x{slot:064x}", "0x" + word(BOB).hex())
    assert (answer["knownSlot"], answer["asAddress"]) == (
        "eip1967.proxy.implementation",
        "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    )
    empty = ask("storage", chains, address=ALICE)
    assert (empty["value"], empty["asAddress"], empty["warnings"]) == ("0x" + "0" * 64, None, ["no_code"])


@each(
    ("name", "body", "field", "code"),
    [
        ("erc20-balance", {"token": "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"}, "token", "invalid_address"),
        ("allowance", {"spender": "0x12"}, "spender", "invalid_address"),
        ("nft-owner", {"tokenId": str(2**256)}, "tokenId", "invalid_body"),
        ("erc1155-balance", {"tokenId": "-1"}, "tokenId", "invalid_body"),
        ("estimate-gas", {"from": "me"}, "from", "invalid_address"),
        ("estimate-gas", {"to": None, "data": "0x"}, "to", "invalid_body"),
        ("estimate-gas", {"data": "0x0"}, "data", "invalid_body"),
        ("call", {"value": "1 ether"}, "value", "invalid_body"),
        ("call", {"data": "0x" + "00" * 131_073}, "data", "invalid_body"),
        ("storage", {"slot": "first"}, "slot", "invalid_body"),
    ],
)
def test_what_can_be_known_before_is_refused_before(name: str, body: dict[str, Any], field: str, code: str) -> None:
    """No node is asked, nothing is paid."""
    chains = FakeChains()
    with pytest.raises(InvalidField) as refused:
        ask(name, chains, **body)
    assert (refused.value.field, refused.value.code) == (field, code)
    assert not chains.reads


@each("name", BY_NAME)
def test_a_chain_without_a_node_is_refused(name: str) -> None:
    """The request is refused before the payment, and the other chain is suggested."""
    with pytest.raises(InvalidField) as refused:
        decoded(BY_NAME[name].request, {"chain": "base"} | FILLED[name], Site(own=(), chains=["ethereum"]))
    assert (refused.value.field, refused.value.suggestions) == ("chain", ("ethereum",))
