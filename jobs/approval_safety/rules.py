"""The rules: from what is known about an approval to findings with points, a level and a recommendation.

The score is the sum of the points, 100 at most. From 95 on the level is critical, from 75 high, over 25 medium. An amount of 0
takes an approval back and gives nobody anything, so the spender then adds no points. The points follow the order of
Revoke.cash's risk factors.
"""

from dataclasses import dataclass
from typing import NamedTuple

from jobs.approval_safety.age import Verdict
from jobs.approval_safety.response import Level, Recommendation
from jobs.approval_safety.spender import Kind
from jobs.engines.evm.copycat import Likeness
from jobs.engines.evm.unlimited import Form

CRITICAL, HIGH, MEDIUM = 95, 75, 26
COPYCAT_POINTS: dict[Likeness, int] = {
    "disguised": 80,
    "name_and_symbol": 80,
    "foreign_letters": 45,
    "symbol": 45,
    "name": 30,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of an approval.

    Attributes:
        unlimited: how the amount has no limit; None when it has one.
        implementation: age of the code that the spender runs as a proxy; None when it is none.
        listed_here, listed_elsewhere: one of the addresses is an attacker's, by a list.
        token_listed: the token is, on either.
        was_exploited: one of them is a contract that was exploited, on either chain.
        has_label: many wallets approve this spender.
    """

    is_revocation: bool
    unlimited: Form | None
    kind: Kind
    age: Verdict
    implementation: Verdict | None
    was_upgraded: bool
    code_changed: bool
    is_upgradeable: bool
    is_hollow: bool
    is_token: bool
    copycat: Likeness | None
    listed_here: bool
    listed_elsewhere: bool
    token_listed: bool
    was_exploited: bool
    has_label: bool

    @property
    def is_unverifiable(self) -> bool:
        """Whether the age of code that runs cannot be known."""
        if self.is_revocation or self.kind != "contract":
            return False
        return "unknown" in (self.age, self.implementation)


class Rule(NamedTuple):
    """A rule that applies."""

    code: str
    points: int


class Judgement(NamedTuple):
    """The result of the rules."""

    rules: tuple[Rule, ...]
    score: int
    level: Level
    recommendation: Recommendation


def judge(evidence: Evidence) -> Judgement:
    """Apply all rules."""
    found = tuple(rule for rule in (*_token(evidence), *_spender(evidence)) if rule.points)
    score = min(100, sum(rule.points for rule in found))
    level: Level = (
        "critical" if score >= CRITICAL else "high" if score >= HIGH else "medium" if score >= MEDIUM else "low"
    )
    if score >= HIGH:
        return Judgement(found, score, level, "reject")
    if evidence.is_revocation:
        return Judgement(found, score, level, "proceed")
    if evidence.unlimited is not None:
        return Judgement(found, score, level, "reduce_amount")
    # A smaller amount makes no contract older, and no token the right one.
    return Judgement(found, score, level, "wait" if score >= MEDIUM else "proceed")


def _token(evidence: Evidence) -> list[Rule]:
    if evidence.is_revocation:
        # To take an approval back means to call the token all the same.
        return [Rule("known_malicious_elsewhere", 90 if evidence.token_listed else 0)]
    # It looks like a canonical token.
    return [Rule("copycat_token", COPYCAT_POINTS[evidence.copycat] if evidence.copycat else 0)]


def _spender(evidence: Evidence) -> list[Rule]:
    if evidence.is_revocation:
        return []
    unlimited = evidence.unlimited is not None
    rules = [
        # On the list of this chain: the spender, the code that it runs, or the token.
        Rule("known_malicious", 100 if evidence.listed_here else 0),
        # On the list of another chain: the same key, or the same deployer.
        Rule("known_malicious_elsewhere", 90 if evidence.listed_elsewhere and not evidence.listed_here else 0),
        # A victim, which may have been mended since.
        Rule("exploited_contract", 30 if evidence.was_exploited else 0),
        # A person with a key takes the tokens, and no contract.
        Rule("eoa_spender", 80 if evidence.kind == "account" else 0),
        Rule("delegated_spender", 75 if evidence.kind == "delegated_account" else 0),  # EIP-7702
        Rule("spender_is_token", 60 if evidence.is_token else 0),  # hardly what is meant
        Rule("unlimited_approval", (10 if evidence.has_label else 20) if unlimited else 0),
    ]
    if evidence.kind != "contract":
        return rules
    is_fresh = evidence.age == "fresh"
    has_fresh_code = evidence.implementation == "fresh" or evidence.was_upgraded
    return [
        *rules,
        Rule("code_changed", 60 if evidence.code_changed else 0),
        Rule("hollow_proxy", 60 if evidence.is_hollow else 0),
        Rule("fresh_contract", 45 if is_fresh else 0),
        Rule("fresh_unlimited", 20 if is_fresh and unlimited else 0),
        Rule("fresh_implementation", 35 if has_fresh_code and not is_fresh else 0),
        Rule("unverifiable", 30 if evidence.is_unverifiable else 0),
        Rule("upgradeable_proxy", (5 if evidence.has_label else 15) if evidence.is_upgradeable else 0),
    ]
