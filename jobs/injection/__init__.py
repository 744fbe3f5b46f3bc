"""Finds instructions to a language model in a text that should be data, in time linear in the text. `scan` is the interface."""

from jobs.injection.finding import EXCERPT, Finding
from jobs.injection.labels import AttackCategory, Severity, SeverityName
from jobs.injection.scanner import MOST_FINDINGS, Scan, scan
from jobs.injection.scoring import LEVELS, RiskLevel

__all__ = [
    "EXCERPT",
    "LEVELS",
    "MOST_FINDINGS",
    "AttackCategory",
    "Finding",
    "RiskLevel",
    "Scan",
    "Severity",
    "SeverityName",
    "scan",
]
