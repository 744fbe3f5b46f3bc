"""The score and its levels."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from jobs.prompt_injection_scan import LEVELS, Finding, Severity
from jobs.prompt_injection_scan.finding import without_repetition
from jobs.prompt_injection_scan.scoring import level_of, score_of
from tests.each import each


def _finding(severity: Severity, rule: str = "r", start: int = 0, end: int = 1) -> Finding:
    return Finding(rule, "system_override", severity, start, end, "x", "X.", None)


FINDINGS = st.lists(st.builds(_finding, st.sampled_from(list(Severity)), st.sampled_from("abcdef")), max_size=8)


@each(
    ("severities", "score", "level"),
    [
        ([], 0, "none"),
        ([Severity.LOW], 8, "low"),
        ([Severity.LOW] * 50, 24, "low"),
        ([Severity.MEDIUM], 30, "medium"),
        ([Severity.MEDIUM, Severity.LOW], 36, "medium"),
        ([Severity.MEDIUM] * 2, 51, "high"),
        ([Severity.HIGH], 62, "high"),
        ([Severity.HIGH, Severity.MEDIUM], 73, "high"),
        ([Severity.HIGH] * 2, 86, "critical"),
        ([Severity.CRITICAL], 86, "critical"),
        ([Severity.CRITICAL] * 9, 100, "critical"),
    ],
)
def test_scores_of_different_rules(severities: list[Severity], score: int, level: str) -> None:
    """The chance that at least one of them is right, in percent."""
    findings = [_finding(severity, str(i)) for i, severity in enumerate(severities)]
    assert score_of(findings) == score
    assert level_of(score) == level


def test_a_rule_counts_once() -> None:
    """With the worst of its findings: a text does not get worse by being longer."""
    assert score_of([_finding(Severity.HIGH)] * 9 + [_finding(Severity.LOW)]) == score_of([_finding(Severity.HIGH)])


@given(FINDINGS, st.sampled_from(list(Severity)))
def test_more_findings_never_lower_the_score(findings: list[Finding], severity: Severity) -> None:
    """And the order does not matter."""
    assert 0 <= score_of(findings) <= score_of([*findings, _finding(severity, "g")]) <= 100
    assert score_of(findings) == score_of(findings[::-1])


def test_levels_are_all_scores() -> None:
    """Without gaps, in order."""
    levels = [level_of(score) for score in range(101)]
    assert [level for level, _ in itertools.groupby(levels)] == ["none", "low", "medium", "high", "critical"]
    assert [least for least, _ in LEVELS] == [80, 50, 25, 1, 0]


def test_overlapping_findings() -> None:
    """Of one rule the worst and longest, of one category not what is inside of another; different places are all kept."""
    low = _finding(Severity.LOW, "a", 0, 50)
    high = _finding(Severity.HIGH, "a", 10, 20)
    inside = _finding(Severity.HIGH, "b", 12, 18)
    beside = _finding(Severity.HIGH, "b", 15, 30)
    assert without_repetition([low, inside, high, beside]) == [beside, high]
    other = Finding("c", "tool_injection", Severity.LOW, 10, 20, "x", "X.", None)
    assert without_repetition([other, high]) == [high, other]
