"""The categories and severities of findings."""

import enum
from typing import Literal, cast

AttackCategory = Literal[
    "system_override", "jailbreak_persona", "tool_injection", "credential_exfiltration", "hidden_unicode"
]
SeverityName = Literal["low", "medium", "high", "critical"]


class Severity(enum.IntEnum):
    """Severities in increasing order."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def word(self) -> SeverityName:
        """The name in answers and rules."""
        return cast(SeverityName, self.name.lower())
