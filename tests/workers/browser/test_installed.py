"""Where no browser is installed."""

import pytest

from tests.workers.browser import conftest


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_a_browser(monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]) -> None:
    """Its tests are skipped; in CI they fail, so that a missing browser is not taken for a tested one."""
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(conftest, "find_program", lambda configured: None)
    with pytest.raises(outcome):
        conftest.installed()
