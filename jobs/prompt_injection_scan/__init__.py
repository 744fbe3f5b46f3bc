"""Finds instructions to a language model in a text that should be data, in time linear in it. `scan` is the interface."""

from jobs.prompt_injection_scan.finding import EXCERPT, Finding
from jobs.prompt_injection_scan.labels import AttackCategory, Severity, SeverityName
from jobs.prompt_injection_scan.scanner import MOST_FINDINGS, Scan, scan
from jobs.prompt_injection_scan.scoring import LEVELS, RiskLevel

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
