"""tx-explain: the sentence, the signals and the fields about transactions of every kind, and the names of methods.

A case is right when its sentence begins as it should and no signal is missing or too many.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobs.engines.evm import signatures
from jobs.engines.evm.selectors import selector
from tests.jobs.tx_explain.receipts import ALICE, BLOCK, BOB, UNKNOWN_TOKEN, codes, explained, put, usual_chains
from tests.quality import tx_explain_moves, tx_explain_rights
from tests.quality.scorer import Measure
from tests.quality.transactions import PAIR, PERMIT2, POOL, POSITIONS, VAULT, Case

_METHODS = Path(__file__).with_name("methods.txt")
_SET_ASIDE = "# set aside"

# Contracts on Base that many call, by a word of their names, written from memory and not from the table of the product.
_CONTRACTS = [
    ("Permit2", "0x000000000022d473030f116ddee9f6b43ac78ba3"),
    ("Uniswap", "0x2626664c2603336e57b271c5c0b26f421741e481"),
    ("Uniswap", "0x6ff5693b99212da76ad316178a184ab56d299b43"),
    ("Aerodrome", "0xcf77a3ba9a5ca399b7c97c74d54e5b1beb874e43"),
    ("Aave", "0xa238dd80c259a72e81d7e4664a9801593f98d1c5"),
    ("1inch", "0x111111125421ca6dc452d289314280a0f8842a65"),
    ("Bridge", "0x4200000000000000000000000000000000000010"),
    ("Multicall", "0xca11bde05977b3631167028862be2a173976ca11"),
]
_CONTRACTS_SET_ASIDE = [
    ("EntryPoint", "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789"),
    ("EntryPoint", "0x0000000071727de22e5e9d8baf0edac6f37da032"),
    ("Balancer", "0xba12222222228d8ba445958a75a0704d566bf2c8"),
    ("Seaport", "0x00000000000000adc04c56bf30ac9d3c0aaf14dc"),
    ("Uniswap", "0x33128a8fc17869897dce68ed026d694621f6fdfd"),
    ("Compound", "0xb125e6687d4313864e53df431d5425969c15eb2f"),
    ("CoW", "0x9008d19f58aabd9ed0d60971565aa8510560ab41"),
    ("Message Passer", "0x4200000000000000000000000000000000000016"),
]
# Wei that are sent.
_AMOUNTS = (1_234_567_890_123_456_789, 1_234_567_890_123_456_789_012, 123_456_789_012_345, 999_999_999_999_999_999)
_AMOUNTS_SET_ASIDE = (333_333_333_333_333_333, 98_765_432_109_876_543_210_987, 7_654_321)
_FEW = 12
"""Signs of an amount that a person reads."""


def measures(held_out: bool) -> Iterator[Measure]:
    """Cases, and names of methods."""
    parts = (tx_explain_moves, tx_explain_rights)
    cases = [case for part in parts for case in (part.set_aside() if held_out else part.shown())]
    for kind in dict.fromkeys(case.kind for case in cases):
        judged = [_is_right(case) for case in cases if case.kind == kind]
        yield Measure(kind, len(judged), sum(judged))
    lines = _METHODS.read_text().splitlines()
    at = lines.index(_SET_ASIDE)
    texts = [line for line in (lines[at:] if held_out else lines[:at]) if not line.startswith("#")]
    yield Measure("method names", len(texts), sum(map(_is_named, texts)))
    contracts = _CONTRACTS_SET_ASIDE if held_out else _CONTRACTS
    labels = [_says(to=address, data="0x0badc0de") for _, address in contracts]
    named = [name.lower() in said.lower() for (name, _), said in zip(contracts, labels, strict=True)]
    yield Measure("names of contracts", len(named), sum(named))
    amounts = _AMOUNTS_SET_ASIDE if held_out else _AMOUNTS
    told = list(map(_is_rounded, amounts))
    yield Measure("amounts rounded in the sentence", len(told), sum(told))


def _is_rounded(wei: int) -> bool:
    """Whether the sentence has few digits of an amount, and they are right."""
    shown = _says(to=BOB, value=wei, data="0x").split()[1]
    return len(shown) <= _FEW and abs(float(shown) * 10**18 / wei - 1) < 1e-5


def _says(**sent: Any) -> str:
    """The sentence about a transaction."""
    chains = usual_chains()
    put(chains.base, **sent)
    narrative: str = explained(chains)["narrative"]
    return narrative


def _is_named(text: str) -> bool:
    found = signatures.known(selector(text), "function")
    return found is not None and found.text == text


def _is_right(case: Case) -> bool:
    chains = usual_chains()
    chain = chains.base
    chain.token(UNKNOWN_TOKEN, case.symbol, 6)
    for address in (POOL, POSITIONS, PAIR, VAULT, PERMIT2):
        chain.token(address, "LP", 18)
    put(chain, **case.sent)
    if case.balances:
        before, after, nonce_before, nonce = case.balances
        chain.balances[ALICE] = [(0, before), (BLOCK, after)]
        chain.nonces[ALICE] = [(0, nonce_before), (BLOCK, nonce)]
    if case.revert:
        chain.calls[case.sent["to"], bytes.fromhex(case.sent["data"][2:])] = case.revert
    answer = explained(chains)
    found = set(codes(answer)) | set(answer["warnings"])
    return (
        answer["narrative"].startswith(case.begins)
        and found.issuperset(case.has.split())
        and found.isdisjoint(case.lacks.split())
    )
