"""A thousand approvals against the rule table, written out a second time, as conditions on the question and not on the code."""

import dataclasses
import random

from jobs.approval_safety.rules import Evidence, judge

POINTS = (
    # code, points, when; `spender` rules count only where something is approved
    ("known_malicious", 100, lambda e: e.listed_here),
    ("known_malicious_elsewhere", 90, lambda e: e.listed_elsewhere and not e.listed_here),
    ("exploited_contract", 30, lambda e: e.was_exploited),
    ("eoa_spender", 80, lambda e: e.kind == "account"),
    ("delegated_spender", 75, lambda e: e.kind == "delegated_account"),
    ("spender_is_token", 60, lambda e: e.is_token),
    ("code_changed", 60, lambda e: e.kind == "contract" and e.code_changed),
    ("hollow_proxy", 60, lambda e: e.kind == "contract" and e.is_hollow),
    ("fresh_contract", 45, lambda e: e.kind == "contract" and e.age == "fresh"),
    ("fresh_unlimited", 20, lambda e: e.kind == "contract" and e.age == "fresh" and e.unlimited is not None),
    (
        "fresh_implementation",
        35,
        lambda e: e.kind == "contract" and e.age != "fresh" and (e.implementation == "fresh" or e.was_upgraded),
    ),
    ("unverifiable", 30, lambda e: e.kind == "contract" and (e.age == "unknown" or e.implementation == "unknown")),
    ("unlimited_approval", 20, lambda e: e.unlimited is not None and not e.has_label),
    ("unlimited_approval", 10, lambda e: e.unlimited is not None and e.has_label),
    ("upgradeable_proxy", 15, lambda e: e.kind == "contract" and e.is_upgradeable and not e.has_label),
    ("upgradeable_proxy", 5, lambda e: e.kind == "contract" and e.is_upgradeable and e.has_label),
    ("copycat_token", 80, lambda e: e.copycat in ("disguised", "name_and_symbol")),
    ("copycat_token", 45, lambda e: e.copycat == "symbol"),
    ("copycat_token", 30, lambda e: e.copycat == "name"),
)
PLAIN = Evidence(
    is_revocation=False,
    unlimited=None,
    kind="contract",
    age="established",
    implementation=None,
    was_upgraded=False,
    code_changed=False,
    is_upgradeable=False,
    is_hollow=False,
    is_token=False,
    copycat=None,
    listed_here=False,
    listed_elsewhere=False,
    token_listed=False,
    was_exploited=False,
    has_label=False,
)


def at_random(source: random.Random) -> Evidence:
    """An approval, in which most things are in order."""
    seldom = lambda: source.random() < 0.15  # noqa: E731
    listed = seldom()
    return Evidence(
        is_revocation=seldom(),
        unlimited=source.choice([None, None, "max_uint256", "over_total_supply"]),
        kind=source.choice(["contract"] * 5 + ["account", "delegated_account"]),
        age=source.choice(["established", "established", "fresh", "unknown"]),
        implementation=source.choice([None, None, "established", "fresh", "unknown"]),
        was_upgraded=seldom(),
        code_changed=seldom(),
        is_upgradeable=source.random() < 0.5,
        is_hollow=seldom(),
        is_token=seldom(),
        copycat=source.choice([None] * 8 + ["disguised", "name_and_symbol", "symbol", "name"]),
        listed_here=listed and seldom(),
        listed_elsewhere=listed,
        token_listed=listed and seldom(),
        was_exploited=seldom(),
        has_label=seldom(),
    )


def test_a_thousand_approvals_follow_the_table() -> None:
    """Points, level and recommendation."""
    source = random.Random(17)
    for _ in range(1_000):
        evidence = at_random(source)
        judgement = judge(evidence)
        expected = {(code, points) for code, points, applies in POINTS if applies(evidence)}
        if evidence.is_revocation:
            expected = {("known_malicious_elsewhere", 90)} if evidence.token_listed else set()
        assert {(rule.code, rule.points) for rule in judgement.rules} == expected
        score = min(100, sum(points for _, points in expected))
        assert judgement.score == score
        assert judgement.level == (
            "critical" if score >= 95 else "high" if score >= 75 else "medium" if score > 25 else "low"
        )
        if score >= 75:
            assert judgement.recommendation == "reject"
        elif not evidence.is_revocation and evidence.unlimited:
            assert judgement.recommendation == "reduce_amount"
        elif not evidence.is_revocation and score > 25:
            assert judgement.recommendation == "wait"
        else:
            assert judgement.recommendation == "proceed"
        if evidence.is_unverifiable:
            assert judgement.level != "low"


def test_more_danger_is_never_less_risk() -> None:
    """Each fact alone, and all of them."""
    worse = {
        "unlimited": "max_uint256",
        "age": "fresh",
        "was_upgraded": True,
        "code_changed": True,
        "is_upgradeable": True,
        "is_hollow": True,
        "is_token": True,
        "copycat": "symbol",
        "listed_here": True,
        "listed_elsewhere": True,
        "was_exploited": True,
    }
    source = random.Random(19)
    for _ in range(300):
        evidence = dataclasses.replace(at_random(source), is_revocation=False, kind="contract", age="established")
        for field, value in worse.items():
            if not getattr(evidence, field) or field == "age":
                changed = dataclasses.replace(evidence, **{field: value})
                assert judge(changed).score >= judge(evidence).score, field
