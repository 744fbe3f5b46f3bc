"""approval-safety: honest tokens that are called copies, copies that are found, and what is recommended."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobs.approval_safety.endpoint import ENDPOINT
from jobs.approval_safety.response import Recommendation
from jobs.approval_safety.rules import Evidence, judge
from jobs.engines.evm import known_addresses
from jobs.engines.evm.copycat import copycat
from jobs.engines.evm.known_tokens import known_tokens
from jobs.ports.chains import CHAIN_IDS, Chain
from tests.jobs.engines.evm.fake_chains import CONTRACT, FakeChains, answered
from tests.quality.scorer import Measure

_OTHER_TOKENS = Path(__file__).with_name("other_tokens.tsv")
_ANYWHERE = "0x5555555555555555555555555555555555555555"
# Tokens of today whose symbol an older token has or had, or that came after the older lists: written from memory.
_LIVE: list[tuple[Chain, str, str, str]] = [
    ("ethereum", "0xd1d2Eb1B1e90B638588728b4130137D262C87cae", "GALA", "Gala"),
    ("ethereum", "0x4c9EDD5852cd905f086C759E8383e09bff1E68B3", "USDe", "USDe"),
    ("ethereum", "0xdC035D45d973E3EC169d2276DDab16f1e407384F", "USDS", "USDS Stablecoin"),
    ("ethereum", "0x18084fbA666a33d37592fA2633fD49a74DD93a88", "tBTC", "tBTC v2"),
    ("ethereum", "0xdeFA4e8a7bcBA345F687a2f1456F5Edd9CE97202", "KNC", "Kyber Network Crystal v2"),
    ("base", "0x04C0599Ae5A44757c0af6F9eC3b93da8976c150A", "weETH", "Wrapped eETH"),
]
_LIVE_SET_ASIDE: list[tuple[Chain, str, str, str]] = [
    ("ethereum", "0x221657776846890989a759BA2973e427DfF5C9bB", "REP", "Reputation"),
    ("ethereum", "0xBB0E17EF65F82Ab018d8EDd776e8DD940327B28b", "AXS", "Axie Infinity Shard"),
    ("ethereum", "0xd9Fcd98c322942075A5C3860693e9f4f03AAE07b", "EUL", "Euler"),
    ("ethereum", "0x455e53CBB86018Ac2B8092FdCd39d8444aFFC3F6", "POL", "Polygon Ecosystem Token"),
    ("ethereum", "0x6De037ef9aD2725EB40118Bb1702EBb27e4Aeb24", "RENDER", "Render Token"),
    ("ethereum", "0x56072C95FAA701256059aa122697B133aDEd9279", "SKY", "SKY Governance Token"),
    ("base", "0x236aa50979D5f3De3Bd1Eeb40E81137F22ab794b", "tBTC", "Base tBTC v2"),
    ("base", "0x820C137fa70C8691f0e44Dc420a5e53c168921Dc", "USDS", "USDS Stablecoin"),
    ("base", "0x5d3a1Ff2b6BAb83b63cd9AD0787074081a52ef34", "USDe", "USDe"),
]
_USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
_AMOUNTS = ("unlimited", str(2**256 - 1), hex(2**255))
_AMOUNTS_SET_ASIDE = (str(2**160 - 1), str(2**256 - 1 - 10**12), str(2**96 - 1))
_DISGUISES = (
    ("A", "А"),
    ("E", "Е"),
    ("O", "0"),
    ("I", "l"),
    ("T", "Τ"),
    ("S", "$"),
    ("C", "С"),
    ("B", "8"),
    ("s", "ѕ"),
)
_DISGUISES_SET_ASIDE = (
    ("E", "3"),
    ("B", "В"),
    ("D", "Ꭰ"),
    ("K", "К"),
    ("N", "Ν"),
    ("R", "Ꭱ"),
    ("U", "Ս"),
    ("V", "Ѵ"),
    ("t", "τ"),
)

_OLD: dict[str, Any] = {
    **dict.fromkeys(
        ("is_revocation", "was_upgraded", "code_changed", "is_upgradeable", "is_hollow", "is_token"), False
    ),
    **dict.fromkeys(("listed_here", "listed_elsewhere", "token_listed", "was_exploited", "has_label"), False),
    "unlimited": None,
    "kind": "contract",
    "age": "established",
    "implementation": None,
    "copycat": None,
}
"""A limited amount for a contract that is old."""
_MANY = {"unlimited": "max_uint256"}
_RECOMMENDED: list[tuple[dict[str, Any], Recommendation]] = [
    ({}, "proceed"),
    (_MANY, "reduce_amount"),
    ({"age": "fresh"}, "wait"),
    ({"age": "fresh", **_MANY}, "reject"),
    ({"age": "unknown"}, "wait"),
    ({"was_exploited": True}, "wait"),
    ({"was_exploited": True, **_MANY}, "reduce_amount"),
    ({"listed_here": True}, "reject"),
    ({"kind": "account"}, "reject"),
    ({"copycat": "disguised"}, "reject"),
]
_RECOMMENDED_SET_ASIDE: list[tuple[dict[str, Any], Recommendation]] = [
    ({"has_label": True, **_MANY}, "reduce_amount"),
    ({"listed_elsewhere": True}, "reject"),
    ({"listed_here": True, "is_revocation": True}, "proceed"),
    ({"kind": "delegated_account"}, "reject"),
    ({"was_upgraded": True, "is_upgradeable": True}, "wait"),
    ({"is_upgradeable": True}, "proceed"),
    ({"copycat": "symbol"}, "wait"),
    ({"code_changed": True}, "wait"),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Of each chain: tokens of a list that is no source of the canonical ones, and copies of what is often imitated."""
    rows = [line.split("\t") for line in _OTHER_TOKENS.read_text().splitlines() if not line.startswith("#")]
    honest = [row for row in rows if (int(row[1][-1], 16) % 2 == 1) is held_out]
    found = [copycat("ethereum", address, symbol, name) for _, address, symbol, name in honest]
    yield Measure("honest tokens", len(honest), found.count(None))
    live = _LIVE_SET_ASIDE if held_out else _LIVE
    taken = [copycat(chain, address.lower(), symbol, name) is None for chain, address, symbol, name in live]
    yield Measure("live tokens with the symbol of a dead one", len(taken), sum(taken))
    copies = [copy for chain in CHAIN_IDS for copy in _copies(chain, held_out)]
    yield Measure("copies", len(copies), sum(copies))
    cases = _RECOMMENDED_SET_ASIDE if held_out else _RECOMMENDED
    given = [judge(Evidence(**(_OLD | changes))).recommendation == wanted for changes, wanted in cases]
    yield Measure("recommendation", len(given), sum(given))
    exploited = [
        _recommended(address, amount) for address in victims()[int(held_out) :: 2] for amount in ("5", "unlimited")
    ]
    yield Measure("exploited contracts not rejected", len(exploited), sum(said != "reject" for said in exploited))
    amounts = _AMOUNTS_SET_ASIDE if held_out else _AMOUNTS
    shown = [_answer(_ANYWHERE, amount)["amountFormatted"] for amount in amounts]
    yield Measure("unlimited is a word", len(shown), shown.count("unlimited"))


def victims() -> list[str]:
    """Contracts that the lists have on Base or Ethereum, all of them because they were exploited."""
    found = []
    for raw, listings in sorted(known_addresses._table().items()):
        if all(not one.is_attacker and one.chain_id in CHAIN_IDS.values() for one in listings):
            found.append(f"0x{raw.hex()}")
    return found[:200]


def _recommended(spender: str, amount: str) -> str:
    recommendation: str = _answer(spender, amount)["recommendation"]
    return recommendation


def _answer(spender: str, amount: str) -> dict[str, Any]:
    """About USDC and a contract that is as old as the chain."""
    chains = FakeChains()
    chains.base.token(_USDC, "USDC", 6, "USD Coin", supply=10**16)
    chains.base.code[spender] = CONTRACT
    return answered(ENDPOINT, chains, {"chain": "base", "token": _USDC, "spender": spender, "amount": amount})


def _copies(chain: Chain, held_out: bool) -> Iterator[bool]:
    """The same name and symbol, and each disguise of the symbol with any name."""
    for token in known_tokens(chain).values():
        if token.imitated:
            if not held_out:
                yield copycat(chain, _ANYWHERE, token.symbol, token.name) is not None
            for letter, disguise in _DISGUISES_SET_ASIDE if held_out else _DISGUISES:
                at = token.symbol.find(letter)
                if at >= 0:
                    symbol = token.symbol[:at] + disguise + token.symbol[at + 1 :]
                    yield copycat(chain, _ANYWHERE, symbol, "Any name") is not None
