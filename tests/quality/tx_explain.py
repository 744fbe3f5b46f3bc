"""tx-explain: the sentence, the signals and the fields about transactions of every kind, and the names of methods.

A case is right when its sentence begins as it should and no signal is missing or too many.
"""

from collections.abc import Iterator
from pathlib import Path

from jobs.engines.evm import signatures
from jobs.engines.evm.selectors import selector
from tests.jobs.tx_explain.receipts import ALICE, BLOCK, UNKNOWN_TOKEN, codes, explained, put, usual_chains
from tests.quality import tx_explain_moves, tx_explain_rights
from tests.quality.scorer import Measure
from tests.quality.transactions import PAIR, PERMIT2, POOL, POSITIONS, VAULT, Case

_METHODS = Path(__file__).with_name("methods.txt")
_SET_ASIDE = "# set aside"


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
