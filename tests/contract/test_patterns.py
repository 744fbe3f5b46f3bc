"""Regular expressions mean the same on every Python that is supported."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("shared", "jobs", "api", "facilitator", "workers", "client", "compose", "ops")
POSSESSIVE_GROUP = re.compile(r"\)[?*+]\+")


def test_no_group_is_possessive() -> None:
    """Python before 3.11.5 does not take back what a failed repetition of a group has consumed (cpython issue 106052): `2e`
    matched ``[0-9]+(?:e[0-9]+)?+`` whole. An atomic group, ``(?>(?:e[0-9]+)?)``, says the same and is right."""
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert lines == []
