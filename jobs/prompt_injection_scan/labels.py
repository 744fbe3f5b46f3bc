"""What a finding is called: the kind of attack, and how bad it is."""

from __future__ import annotations

import enum
from typing import Literal

AttackCategory = Literal[
    "system_override", "jailbreak_persona", "tool_injection", "credential_exfiltration", "hidden_unicode"
]
SeverityName = Literal["low", "medium", "high", "critical"]


class Severity(enum.IntEnum):
    """In order."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def word(self) -> SeverityName:
        """What an answer and a rule call it."""
        return _WORDS[self]


_WORDS: dict[Severity, SeverityName] = {
    Severity.LOW: "low",
    Severity.MEDIUM: "medium",
    Severity.HIGH: "high",
    Severity.CRITICAL: "critical",
}
