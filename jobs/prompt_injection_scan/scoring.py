"""Computes a score and a level from findings.

Every rule counts once, with its worst finding, as the probability that the text is an attack: low 8 %, medium 30 %, high 62 %,
critical 86 %. The score is the probability, in percent, that at least one of them is right. So one high finding is a high risk;
a high and a medium one give a higher score; two high ones are critical; two medium ones are high. Low findings alone never
exceed low, because texts about attacks have many of them.
"""

import math
from collections.abc import Iterable
from typing import Literal

from jobs.prompt_injection_scan.finding import Finding
from jobs.prompt_injection_scan.labels import Severity

RiskLevel = Literal["none", "low", "medium", "high", "critical"]

_CHANCE = {Severity.LOW: 0.08, Severity.MEDIUM: 0.30, Severity.HIGH: 0.62, Severity.CRITICAL: 0.86}
_MOST_OF_LOW = 24
LEVELS: tuple[tuple[int, RiskLevel], ...] = ((80, "critical"), (50, "high"), (25, "medium"), (1, "low"), (0, "none"))
"""The minimum score of each level."""


def score_of(findings: Iterable[Finding]) -> int:
    """The score, 0 to 100."""
    worst: dict[str, Severity] = {}
    for finding in findings:
        worst[finding.rule] = max(finding.severity, worst.get(finding.rule, Severity.LOW))
    if not worst:
        return 0
    score = round(100 * (1 - math.prod(1 - _CHANCE[severity] for severity in sorted(worst.values()))))
    return min(score, _MOST_OF_LOW) if max(worst.values()) is Severity.LOW else score


def level_of(score: int) -> RiskLevel:
    """The level of a score."""
    return next(level for least, level in LEVELS if score >= least)
