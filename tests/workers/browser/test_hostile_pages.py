"""All hostile pages once, three at a time."""

from pathlib import Path

import pytest
import pytest_socket

from tests.time_limits import patience
from tests.workers.browser import hostile_run

SETTLE_S, BUSY_S = patience(2.5), patience(1.0)


@pytest.mark.timeout(400)  # it takes a fifth of that on two cores that are free
def test_hostile_pages(program: Path) -> None:
    """Given a browser that shows three pages at once, when each hostile page is rendered, then each ends in time as it may end,
    nobody inside was called, no refusal was sold, an ordinary page is rendered, and the browser leaves nothing behind. Pages
    that are not busy without end are called through a real proxy, as those of a site that has refused us."""
    pytest_socket.enable_socket()
    report = hostile_run.run(1, settle_s=SETTLE_S, busy_s=BUSY_S, scheme="http")
    print(report)
    assert report.all_violations == []
    assert any(page.end == "page_crashed" for page in report.rendered), "no page has reached a limit of its memory"
