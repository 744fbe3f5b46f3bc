"""The wallet doctor, against chains that are tables."""

from typing import Any

import pytest

from jobs.engines.evm.selectors import BALANCE_OF, GAS_PRICE_ORACLE, IS_BLACKLISTED, L1_FEE_UPPER_BOUND, PAUSED
from jobs.wallet_doctor.endpoint import ENDPOINT, Request
from shared.endpoint import InvalidField
from shared.outcome import UpstreamFailed
from tests.each import each
from tests.jobs.engines.evm.fake_chains import CONTRACT, FakeChains, answered, word
from tests.sites import decoded

WALLET = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
USDC = {"base": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "ethereum": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}


def examined(*, chain: str = "base", wei: int = 10**18, atomic: int = 10**6, **more: Any) -> dict[str, Any]:
    """What the doctor says of a wallet."""
    chains = FakeChains()
    node = chains.base if chain == "base" else chains.ethereum
    node.token(USDC[chain], "USDC", 6)
    node.calls[USDC[chain], BALANCE_OF] = more.get("held", word(atomic))
    node.calls[USDC[chain], IS_BLACKLISTED] = word(more.get("blacklisted", 0))
    node.calls[USDC[chain], PAUSED] = word(more.get("paused", 0))
    node.calls[GAS_PRICE_ORACLE, L1_FEE_UPPER_BOUND] = more.get("l1_fee", b"")
    node.balances[WALLET] = wei
    node.nonces[WALLET] = more.get("nonce", 7)
    node.code[WALLET] = more.get("code", b"")
    node.gas_price = more.get("gas_price", 6_000_000)
    answer = answered(ENDPOINT, chains, {"address": WALLET, "chain": chain})
    assert len(chains.reads) == 1
    return answer


def codes(answer: dict[str, Any]) -> list[str]:
    """Of the recommendations."""
    return [each["code"] for each in answer["recommendations"]]


def test_a_wallet_that_has_both_is_ready() -> None:
    """Nothing else to do."""
    answer = examined()
    assert (answer["ready"], answer["lowGas"], answer["usdcEmpty"], answer["usdcDust"]) == (True, False, False, False)
    assert codes(answer) == ["ready"]
    assert (answer["ethBalance"], answer["usdcBalance"], answer["nonce"]) == ("1", "1", "7")


@each(
    ("state", "ready"),
    [({"wei": 0}, True), ({"wei": 0, "atomic": 0}, False), ({"atomic": 1}, False), ({"blacklisted": 1}, False)],
)
def test_who_pays_by_x402_needs_no_gas(state: dict[str, int], ready: bool) -> None:
    """The facilitator pays it; USDC is needed all the same."""
    answer = examined(**state)
    assert (answer["ready"], answer["readyForX402"]) == (False, ready)


@each(("atomic", "empty", "dust"), [(0, True, False), (1, False, True), (9_999, False, True), (10_000, False, False)])
def test_dust_is_under_a_cent(atomic: int, empty: bool, dust: bool) -> None:
    """None is not dust."""
    answer = examined(atomic=atomic)
    assert (answer["usdcEmpty"], answer["usdcDust"]) == (empty, dust)
    assert answer["ready"] is not (empty or dust)


@pytest.mark.parametrize(("chain", "floor"), [("base", 20_000_000_000_000), ("ethereum", 1_000_000_000_000_000)])
def test_the_threshold_has_a_floor(chain: str, floor: int) -> None:
    """0.00002 ETH on Base, 0.001 on Ethereum."""
    assert examined(chain=chain, wei=floor)["lowGas"] is False
    answer = examined(chain=chain, wei=floor - 1)
    assert (answer["lowGas"], answer["thresholds"]["minGasWei"]) == (True, str(floor))


def test_the_threshold_follows_the_gas_price_and_the_l1_fee() -> None:
    """Twice 100,000 gas, twice the fee for the data."""
    answer = examined(gas_price=10**9, l1_fee=word(10**12))
    assert answer["thresholds"] == {
        "minGasWei": str(2 * (100_000 * 10**9 + 10**12)),
        "dustAtomic": "10000",
        "gasPriceWei": str(10**9),
        "l1FeeWei": str(10**12),
    }


def test_recommendations_name_amounts() -> None:
    """What is lacking, exactly."""
    answer = examined(wei=5 * 10**12, atomic=4_000)
    assert [(each["code"], each["asset"], each["amount"]) for each in answer["recommendations"]] == [
        ("add_gas", "ETH", "0.000015"),
        ("top_up_usdc", "USDC", "0.006"),
    ]
    assert "0.000015 ETH on Base" in answer["recommendations"][0]["message"]


def test_a_blacklisted_wallet_is_not_ready() -> None:
    """Whatever it has; and nothing recommends to send it more."""
    answer = examined(blacklisted=1, atomic=0)
    assert (answer["usdcBlacklisted"], answer["ready"]) == (True, False)
    assert codes(answer) == ["usdc_blacklisted"]


def test_a_paused_token_is_not_ready() -> None:
    """Nobody's is."""
    assert codes(examined(paused=1)) == ["usdc_paused"]


def test_a_delegated_account_is_no_contract() -> None:
    """EIP-7702."""
    answer = examined(code=bytes.fromhex("ef0100" + "63c0c19a282a1b52b07dd5a65b58948a07dae32b"))
    assert (answer["isContract"], answer["delegatedTo"]) == (False, "0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B")
    assert codes(answer) == ["ready", "delegated_account"]


def test_contracts_and_new_wallets_are_recognised() -> None:
    """Both may be mistakes."""
    assert codes(examined(code=CONTRACT)) == ["ready", "contract_wallet"]
    assert codes(examined(wei=0, atomic=0, nonce=0)) == ["add_gas", "add_usdc", "unused_wallet"]


def test_a_chain_without_usdc_is_the_nodes_fault() -> None:
    """Never a balance of zero."""
    with pytest.raises(UpstreamFailed):
        examined(held=b"")


@each("body", [{}, {"wallet": "0x12"}, {"wallet": WALLET, "address": USDC["base"]}])
def test_other_requests_are_refused(body: dict[str, str]) -> None:
    """No wallet, none that is one, two."""
    with pytest.raises(InvalidField):
        decoded(Request, body)


def test_wallet_is_another_name_of_address() -> None:
    """Both, when they are the same."""
    body = {"wallet": WALLET, "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}
    assert decoded(Request, body).account() == WALLET
