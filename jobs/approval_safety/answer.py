"""Makes the answer."""

from jobs.approval_safety.findings import findings
from jobs.approval_safety.reading import Known
from jobs.approval_safety.response import Flags, Response, ShownSpender, ShownToken
from jobs.approval_safety.rules import judge
from jobs.engines.evm import data_file, known_tokens
from jobs.engines.evm.address import checksummed
from jobs.engines.evm.code import delegate_of
from jobs.engines.evm.reader import Reader


def answer(reader: Reader, known: Known, amount: int) -> Response:
    """The answer, by the rules."""
    judgement = judge(known.evidence)
    evidence = known.evidence
    tokens = data_file.header("tokens.tsv")
    return Response(
        **reader.head(),
        risk_level=judgement.level,
        risk_score=judgement.score,
        recommendation=judgement.recommendation,
        flags=Flags(
            unlimited_approval=evidence.unlimited is not None,
            fresh_contract=evidence.kind == "contract" and evidence.age == "fresh",
            eoa_spender=evidence.kind != "contract",
            copycat_token=evidence.copycat is not None,
            known_malicious=evidence.listed_here or evidence.listed_elsewhere,
            unverifiable=evidence.is_unverifiable,
        ),
        findings=findings(reader.chain, known, judgement),
        token=_token(reader, known),
        spender=_spender(known),
        amount=str(amount),
        amount_formatted=None if known.is_nft else known.token.formatted_allowance(amount),
        owner_balance=None if known.balance is None else str(known.balance),
        current_allowance=None if known.allowance is None else str(known.allowance),
        data_version=f"{tokens.reviewed}-{tokens.version}-{data_file.header('addresses.bin').version}",
    )


def _token(reader: Reader, known: Known) -> ShownToken:
    token = known.token
    is_canonical = token.address in known_tokens.known_tokens(reader.chain)
    original = token.address if is_canonical else known.copycat.original.address if known.copycat else ""
    return ShownToken(
        address=checksummed(token.address),
        name=token.name,
        symbol=token.symbol,
        decimals=token.decimals,
        total_supply=None if known.supply is None else str(known.supply),
        is_canonical=is_canonical,
        canonical_address=checksummed(original) if original else None,
    )


def _spender(known: Known) -> ShownSpender:
    spender = known.spender
    delegate = delegate_of(spender.code)
    return ShownSpender(
        address=checksummed(spender.address),
        is_contract=spender.kind == "contract",
        delegated_to=checksummed(delegate) if delegate else None,
        code_size=len(spender.code),
        age_days=known.age.min_days,
        is_proxy=spender.kind == "contract" and bool(spender.hops),
        is_upgradeable=spender.is_upgradeable,
        implementation=checksummed(spender.hops[-1].target) if spender.hops else None,
        label=known.label.name if known.label else None,
    )
