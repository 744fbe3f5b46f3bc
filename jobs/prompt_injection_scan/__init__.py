"""Finds instructions to a language model in a text that should be data, in time linear in it. `scan` is the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.prompt_injection_scan.finding import EXCERPT, MOST_FINDINGS, Finding
from jobs.prompt_injection_scan.labels import AttackCategory, Severity, SeverityName
from jobs.prompt_injection_scan.scoring import LEVELS, RiskLevel

if TYPE_CHECKING:
    from jobs.prompt_injection_scan.scanner import Scan

__all__ = [
    "EXCERPT",
    "LEVELS",
    "MOST_FINDINGS",
    "AttackCategory",
    "Finding",
    "RiskLevel",
    "Severity",
    "SeverityName",
    "scan",
]


def scan(text: str) -> Scan:
    """Scan a text. The same text always gives the same result."""
    from jobs.prompt_injection_scan import scanner  # takes 50 ms to import, and only children scan

    return scanner.scan(text)
