"""Approvals judged, against chains that are tables."""

from datetime import date
from typing import Any

import pytest

from jobs.approval_safety.age import DAY_S, WINDOW_S
from jobs.approval_safety.endpoint import ENDPOINT
from jobs.engines.evm import data_file
from jobs.engines.evm.reader import NotAContract
from jobs.engines.evm.selectors import (
    ALLOWANCE,
    BALANCE_OF,
    BEACON_SLOT,
    IMPLEMENTATION,
    IMPLEMENTATION_SLOT,
    SUPPORTS_INTERFACE,
)
from jobs.ports.chains import Chain
from shared.endpoint import InvalidField
from tests.each import each
from tests.jobs.engines.evm.fake_chains import CONTRACT, HEAD, NOW, FakeChains, answered, word
from tests.quality.approval_safety import measures

USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
OTHER = "0x5555555555555555555555555555555555555555"
SPENDER = "0x6666666666666666666666666666666666666666"
LOGIC = "0x8888888888888888888888888888888888888888"
BEACON = "0x9999999999999999999999999999999999999999"
ALICE = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
LIFI = "0x1231deb6f5749ef6ce6943a275a1d3e7486f4eae"
PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
WEEK = WINDOW_S // 2
"""Blocks of Base."""
MINIMAL = bytes.fromhex("363d3d373d3d3d363d73" + LOGIC[2:] + "5af43d82803e903d91602b57fd5bf3")


def usual_chains() -> FakeChains:
    """USDC, and a spender that is as old as the chain."""
    chains = FakeChains()
    chains.base.token(USDC, "USDC", 6, "USD Coin", supply=10**16)
    chains.base.code[SPENDER] = CONTRACT
    chains.base.code[LOGIC] = CONTRACT
    return chains


def judged(chains: FakeChains, *, amount: str = "1000000", **body: Any) -> dict[str, Any]:
    """The answer, as JSON in and out."""
    sent = {"chain": "base", "token": USDC, "spender": SPENDER, "amount": amount} | body
    return answered(ENDPOINT, chains, sent)


def codes(answer: dict[str, Any]) -> list[str]:
    """Of the findings."""
    return [each["code"] for each in answer["findings"]]


def test_an_old_contract_and_a_small_amount() -> None:
    """Nothing to say against it."""
    answer = judged(usual_chains())
    assert (answer["riskLevel"], answer["riskScore"], answer["recommendation"]) == ("low", 0, "proceed")
    assert not any(answer["flags"].values())
    assert (answer["spender"]["isContract"], answer["spender"]["ageDays"]) == (True, 7)
    assert (answer["token"]["isCanonical"], answer["token"]["canonicalAddress"]) == (True, answer["token"]["address"])
    assert (answer["amount"], answer["amountFormatted"], answer["findings"]) == ("1000000", "1", [])
    tokens, addresses = data_file.header("tokens.tsv"), data_file.header("addresses.bin")
    assert answer["dataVersion"] == f"{tokens.reviewed}-{tokens.version}-{addresses.version}"
    assert date.fromisoformat(tokens.reviewed) >= date(2026, 11, 24)


@each("amount", ["unlimited", "UNLIMITED", str(2**256 - 1), hex(2**255), str(2**160 - 1), str(10**16 + 1)])
def test_amounts_without_limit(amount: str) -> None:
    """In all their forms; more than the supply, too."""
    answer = judged(usual_chains(), amount=amount)
    assert answer["flags"]["unlimitedApproval"] is True
    assert (answer["riskLevel"], answer["recommendation"]) == ("low", "reduce_amount")


def test_an_account_with_a_key_is_no_spender() -> None:
    """Whoever has the key takes the tokens."""
    answer = judged(usual_chains(), spender=ALICE)
    assert (answer["flags"]["eoaSpender"], answer["riskLevel"], answer["recommendation"]) == (True, "high", "reject")
    assert judged(usual_chains(), spender=ALICE, amount="unlimited")["riskLevel"] == "critical"


def test_a_delegated_account_is_still_one() -> None:
    """EIP-7702."""
    chains = usual_chains()
    chains.base.code[SPENDER] = bytes.fromhex("ef0100" + LOGIC[2:])
    answer = judged(chains)
    assert (answer["flags"]["eoaSpender"], answer["riskLevel"]) == (True, "high")
    assert answer["spender"]["delegatedTo"] == "0x" + "8" * 40
    assert answer["spender"]["isContract"] is False
    assert "unverifiable" not in codes(answer)


@each(("created", "is_fresh"), [(HEAD - WEEK + 2_000, True), (HEAD - 10, True), (HEAD - WEEK - 10, False), (0, False)])
def test_fresh_is_younger_than_seven_days(created: int, is_fresh: bool) -> None:
    """By the code at the block of then."""
    chains = usual_chains()
    chains.base.code[SPENDER] = [(created, CONTRACT)]
    answer = judged(chains, amount="unlimited")
    assert answer["flags"]["freshContract"] is is_fresh
    assert answer["flags"]["unverifiable"] is False
    assert (answer["riskLevel"], answer["spender"]["ageDays"]) == (("high", 0) if is_fresh else ("low", 7))


def test_without_an_archive_nothing_is_safe() -> None:
    """Unverifiable, and never low."""
    chains = usual_chains()
    chains.base.archive = False
    answer = judged(chains)
    assert (answer["flags"]["unverifiable"], answer["spender"]["ageDays"]) == (True, None)
    assert (answer["riskLevel"], answer["recommendation"]) == ("medium", "wait")


def test_a_chain_that_is_younger_than_a_week_cannot_say() -> None:
    """Unverifiable as well."""
    chains = usual_chains()
    chains.base.head = 1_000
    assert judged(chains)["flags"]["unverifiable"] is True


def test_code_that_changed_under_an_address() -> None:
    """Destroyed and created anew, with other code."""
    chains = usual_chains()
    chains.base.code[SPENDER] = [(0, CONTRACT + b"old"), (HEAD - 100, CONTRACT)]
    assert codes(judged(chains)) == ["code_changed"]


@pytest.mark.parametrize(
    ("logic", "expected"), [(0, ["upgradeable_proxy"]), (HEAD - 100, ["fresh_implementation", "upgradeable_proxy"])]
)
def test_a_proxy_is_followed(logic: int, expected: list[str]) -> None:
    """The age of the code that runs counts, too."""
    chains = usual_chains()
    chains.base.storage[SPENDER, IMPLEMENTATION_SLOT] = word(LOGIC)
    chains.base.code[LOGIC] = [(logic, CONTRACT)]
    answer = judged(chains)
    assert codes(answer) == expected
    assert (answer["spender"]["isProxy"], answer["spender"]["isUpgradeable"]) == (True, True)
    assert answer["spender"]["implementation"] == "0x" + "8" * 40


def test_an_upgrade_of_this_week_counts() -> None:
    """Also to code that is old."""
    chains = usual_chains()
    chains.base.code[BEACON] = CONTRACT
    chains.base.storage[SPENDER, IMPLEMENTATION_SLOT] = [(0, word(BEACON)), (HEAD - 100, word(LOGIC))]
    assert codes(judged(chains)) == ["fresh_implementation", "upgradeable_proxy"]


def test_a_beacon_is_asked() -> None:
    """ERC-1967: now, and as it was."""
    chains = usual_chains()
    chains.base.code[BEACON] = CONTRACT
    chains.base.storage[SPENDER, BEACON_SLOT] = word(BEACON)
    chains.base.calls[BEACON, IMPLEMENTATION] = word(LOGIC)
    answer = judged(chains)
    assert (codes(answer), answer["spender"]["implementation"]) == (["upgradeable_proxy"], "0x" + "8" * 40)
    chains.base.past_calls[BEACON, IMPLEMENTATION] = word(OTHER)
    assert codes(judged(chains)) == ["fresh_implementation", "upgradeable_proxy"]


def test_a_minimal_proxy_cannot_change() -> None:
    """ERC-1167: what it runs counts, and nobody may replace it."""
    chains = usual_chains()
    chains.base.code[SPENDER] = MINIMAL
    assert codes(judged(chains)) == ["minimal_proxy"]
    chains.base.code[LOGIC] = [(HEAD - 10, CONTRACT)]
    assert codes(judged(chains)) == ["fresh_implementation", "minimal_proxy"]
    chains.base.code[LOGIC] = b""
    assert codes(judged(chains))[0] == "hollow_proxy"


def test_proxies_in_a_circle_come_to_an_end() -> None:
    """Two that point at each other."""
    chains = usual_chains()
    chains.base.storage[SPENDER, IMPLEMENTATION_SLOT] = word(LOGIC)
    chains.base.storage[LOGIC, IMPLEMENTATION_SLOT] = word(SPENDER)
    assert judged(chains)["spender"]["implementation"] == "0x" + "8" * 40


@each(
    ("symbol", "name", "likeness", "level"),
    [
        ("USDC", "USD Coin", "name_and_symbol", "high"),
        ("USDС", "USD Coin", "disguised", "high"),
        ("U5DC", "Anything", "disguised", "high"),
        ("USDC", "Anything", "symbol", "medium"),
        ("XYZ", "USD Coin", "name", "medium"),
        ("ETH", "Ether", "name_and_symbol", "high"),
        ("ETH", "Anything", "symbol", "medium"),
        ("TВTC", "Anything", "disguised", "high"),
        ("MORPНO", "Anything", "foreign_letters", "medium"),
        ("MORPHO", "Morpho Token", None, "low"),
        ("USDC.e", "Bridged USDC", None, "low"),
        ("HONEST", "Honest Token", None, "low"),
    ],
)
def test_copycats(symbol: str, name: str, likeness: str | None, level: str) -> None:
    """What looks like a canonical token at another address."""
    chains = usual_chains()
    chains.base.token(OTHER, symbol, 6, name)
    answer = judged(chains, token=OTHER)
    assert answer["flags"]["copycatToken"] is (likeness is not None)
    assert answer["riskLevel"] == level
    assert answer["token"]["isCanonical"] is False
    if likeness:
        (finding,) = answer["findings"]
        assert (finding["code"], finding["evidence"]["likeness"]) == ("copycat_token", likeness)
    if likeness and "USD" in name + symbol:
        assert answer["token"]["canonicalAddress"] == "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


@each(
    ("chain", "address", "symbol", "name"),
    [
        ("ethereum", "0xd1d2eb1b1e90b638588728b4130137d262c87cae", "GALA", "Gala"),
        ("ethereum", "0x4c9edd5852cd905f086c759e8383e09bff1e68b3", "USDe", "USDe"),
        ("ethereum", "0xdc035d45d973e3ec169d2276ddab16f1e407384f", "USDS", "USDS Stablecoin"),
        ("ethereum", "0x18084fba666a33d37592fa2633fd49a74dd93a88", "tBTC", "tBTC v2"),
        ("ethereum", "0xdefa4e8a7bcba345f687a2f1456f5edd9ce97202", "KNC", "Kyber Network Crystal v2"),
        ("base", "0x04c0599ae5a44757c0af6f9ec3b93da8976c150a", "weETH", "Wrapped eETH"),
    ],
)
def test_tokens_of_today_are_canonical(chain: Chain, address: str, symbol: str, name: str) -> None:
    """And no copies of the dead tokens that had their symbols."""
    chains = usual_chains()
    getattr(chains, chain).token(address, symbol, 18, name)
    getattr(chains, chain).code[SPENDER] = CONTRACT
    answer = judged(chains, chain=chain, token=address)
    assert (answer["token"]["isCanonical"], answer["riskScore"], answer["findings"]) == (True, 0, [])


def test_a_shared_symbol_adds_no_points() -> None:
    """Honest tokens share symbols: the answer names the other token."""
    chains = usual_chains()
    chains.base.token(OTHER, "MORPHO", 18, "Morpho Token")
    answer = judged(chains, token=OTHER)
    assert (codes(answer), answer["riskScore"], answer["token"]["canonicalAddress"]) == (["shared_symbol"], 0, None)
    assert "0xBAa5CC21fd487B8Fcc2F632f3F4E8D37262a0842" in answer["findings"][0]["message"]


def test_few_honest_tokens_are_called_copies() -> None:
    """At most 0.3 % of a list that is no source of the canonical tokens."""
    for held_out in (False, True):
        for measure in measures(held_out=held_out):
            assert measure.score >= 0.997, (measure, held_out)


def test_known_addresses_are_critical() -> None:
    """On the list of this chain; on another's it is the same key."""
    chains = usual_chains()
    chains.ethereum.token(OTHER, "HONEST", 18)
    listed = "0x000000000532b45f47779fce440748893b257865"
    chains.ethereum.code[listed] = chains.base.code[listed] = CONTRACT
    answer = judged(chains, chain="ethereum", token=OTHER, spender=listed)
    assert (answer["flags"]["knownMalicious"], answer["riskLevel"], answer["riskScore"]) == (True, "critical", 100)
    finding = answer["findings"][0]
    assert (finding["code"], finding["evidence"]["kind"], finding["evidence"]["source"]) == (
        "known_malicious",
        "phishing",
        "forta",
    )
    elsewhere = judged(chains, spender=listed)
    assert (codes(elsewhere)[0], elsewhere["riskLevel"]) == ("known_malicious_elsewhere", "high")


def test_a_proxy_of_a_known_address_is_one() -> None:
    """What it runs is what counts."""
    chains = usual_chains()
    listed = "0x000000000532b45f47779fce440748893b257865"
    chains.base.code[listed] = CONTRACT
    chains.base.storage[SPENDER, IMPLEMENTATION_SLOT] = word(listed)
    answer = judged(chains)
    assert answer["flags"]["knownMalicious"] is True
    assert answer["findings"][0]["evidence"]["role"] == "implementation"


def test_an_exploited_contract_is_no_attacker() -> None:
    """LI.FI's router is a victim: even an amount without limit is not rejected for that."""
    chains = usual_chains()
    chains.base.code[LIFI] = CONTRACT
    answer = judged(chains, spender=LIFI)
    assert (answer["riskLevel"], answer["recommendation"]) == ("medium", "wait")
    assert (codes(answer), answer["flags"]["knownMalicious"]) == (["exploited_contract"], False)
    assert "was exploited on 2024-07-16 (2024 LI.FI Hack)" in answer["findings"][0]["message"]
    assert judged(chains, spender=LIFI, amount="unlimited")["recommendation"] == "reduce_amount"


def test_a_limited_amount_to_a_fresh_contract_waits() -> None:
    """A smaller amount would make it no older."""
    chains = usual_chains()
    chains.base.code[SPENDER] = [(HEAD - 10, CONTRACT)]
    assert judged(chains)["recommendation"] == "wait"


def test_no_limit_is_a_word() -> None:
    """And not 79 digits; the exact number is `amount`."""
    answer = judged(usual_chains(), amount="unlimited")
    assert (answer["amount"], answer["amountFormatted"]) == (str(2**256 - 1), "unlimited")


def test_zero_takes_an_approval_back() -> None:
    """Safe whoever the spender is; the past is not looked at."""
    chains = usual_chains()
    answer = judged(chains, amount="0", spender="0x000000000532b45f47779fce440748893b257865")
    assert (answer["riskLevel"], answer["recommendation"], codes(answer)) == ("low", "proceed", ["revocation"])
    assert not any(block is not None and block != HEAD for _, _, block in chains.reads)


def test_known_spenders_have_a_name() -> None:
    """And an approval without limit of them is common."""
    chains = usual_chains()
    chains.base.code[PERMIT2] = CONTRACT
    answer = judged(chains, spender=PERMIT2, amount="unlimited")
    assert (answer["spender"]["label"], answer["riskScore"]) == ("Permit2", 10)


def test_the_owners_side() -> None:
    """What it has, and what it approved before."""
    chains = usual_chains()
    chains.base.calls[USDC, BALANCE_OF] = word(0)
    chains.base.calls[USDC, ALLOWANCE] = word(5)
    answer = judged(chains, owner=ALICE)
    assert (answer["ownerBalance"], answer["currentAllowance"]) == ("0", "5")
    assert codes(answer) == ["no_balance", "present_allowance"]
    assert answer["findings"][1]["message"].startswith("The spender may take 0.000005 already;")
    chains.base.calls[USDC, ALLOWANCE] = word(2**256 - 1)
    assert "may take any amount already" in judged(chains, owner=ALICE)["findings"][1]["message"]


def test_the_token_itself_as_spender() -> None:
    """Hardly meant."""
    assert "spender_is_token" in codes(judged(usual_chains(), spender=USDC))


def test_a_known_address_without_code_is_known_for_nothing() -> None:
    """What many approve elsewhere is not here."""
    answer = judged(usual_chains(), spender=PERMIT2)
    assert (codes(answer), answer["spender"]["label"]) == (["eoa_spender"], None)


def test_a_contract_that_answers_nothing_may_be_no_token() -> None:
    """It is said; what the spender is, counts all the same."""
    chains = usual_chains()
    chains.base.code[OTHER] = CONTRACT
    assert codes(judged(chains, token=OTHER)) == ["no_decimals", "no_total_supply"]


def test_an_approval_of_nft_0_takes_nothing_back() -> None:
    """It is the id of one, as any other."""
    chains = usual_chains()
    chains.base.calls[USDC, SUPPORTS_INTERFACE] = word(1)
    answer = judged(chains, amount="0", spender=OTHER)
    assert codes(answer)[0] == "eoa_spender"
    assert (answer["recommendation"], "revocation" in codes(answer)) == ("reject", False)


def test_an_nft_has_no_amount() -> None:
    """Its id may be any number."""
    chains = usual_chains()
    chains.base.calls[USDC, SUPPORTS_INTERFACE] = word(1)
    answer = judged(chains, amount=str(2**255))
    assert (answer["flags"]["unlimitedApproval"], answer["amountFormatted"]) == (False, None)
    assert codes(answer) == ["token_is_nft"]


@pytest.mark.parametrize("code", [b"", bytes.fromhex("ef0100" + LOGIC[2:])])
def test_a_token_without_code_is_refused(code: bytes) -> None:
    """Nothing can be approved there."""
    chains = usual_chains()
    chains.base.code[USDC] = code
    with pytest.raises(NotAContract):
        judged(chains)


@each("amount", ["-1", "all", "", "1.5", str(2**256)])
def test_other_amounts_are_refused(amount: str) -> None:
    """Before the payment."""
    with pytest.raises(InvalidField):
        judged(usual_chains(), amount=amount)


@each("head", [3, 10, 60, 200])
def test_a_few_blocks_with_long_steps_between_them(head: int) -> None:
    """As a sandbox has them: thirty days in some blocks. What is old is never called fresh, nor the other way round."""
    for created in range(head + 1):
        chains = usual_chains()
        chains.base.head = head
        chains.base.times = {block: NOW - 30 * DAY_S * (head - block) // head for block in range(head + 1)}
        chains.base.code[SPENDER] = [(created, CONTRACT)]
        answer = judged(chains)
        is_old = NOW - chains.base.times[created] >= WINDOW_S
        if not answer["flags"]["unverifiable"]:
            assert answer["flags"]["freshContract"] is not is_old
            assert (answer["spender"]["ageDays"] >= 7) is is_old
