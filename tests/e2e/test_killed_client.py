"""A buyer that is killed at any step of a call: what was charged is answered after `coinslot resume`."""

from pathlib import Path

from tests.e2e.killed_client import KilledClient
from tests.whole_service import Service


def test_what_was_charged_is_answered(service: Service, tmp_path: Path) -> None:
    """Twenty calls, each killed at another step, and some resumes, too. `python -m tests.e2e.killed_client` kills 200."""
    outcome = KilledClient(service.var / "sandbox.json", tmp_path).run(20)
    assert outcome.kills >= 18  # a run may take a few steps fewer than the first
    assert outcome.charged == outcome.answered
    assert outcome.answered > 5
