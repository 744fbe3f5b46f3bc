"""The hostile pages (tests/workers/browser/hostile_pages.py) in a browser: directly, and all of them through a real proxy.

A page is handled when it ends as it may and in time, nothing of it reaches a canary inside, and its answer has nothing that is
not the page's. The proxy could call everybody. It is given the site's address alone, or that is a violation, too.
"""

from collections.abc import Sequence

from tests.time_limits import patience
from tests.workers.browser import hostile_run
from tests.workers.browser.hostile_pages import GROUPS
from tests.workers.browser.limits import wait_longer
from tests.workers.egress.proxy_server import Scheme

SETTLE_S, BUSY_S = patience(2.5), patience(1.0)
"""As in the test of these pages."""
_EXITS: Sequence[Scheme | None] = (None, "http", "socks5")


def table() -> str:
    """A line for each exit, and what went wrong."""
    wait_longer()
    pages = sum(map(len, GROUPS.values()))
    lines = [f"{'hostile pages':16} {'pages':>6} {'handled':>8} {'given to the proxy':>19} {'violations':>11}"]
    for scheme in _EXITS:
        report = hostile_run.run(1, settle_s=SETTLE_S, busy_s=BUSY_S, scheme=scheme, is_always=True)
        wrong = {(each.group, each.name) for each in report.rendered if each.violations}
        given = "-" if scheme is None else str(report.given)
        violations = report.all_violations
        lines.append(f"{scheme or 'directly':16} {pages:6} {pages - len(wrong):8} {given:>19} {len(violations):11}")
        lines += [f"    {violation}" for violation in violations]
    return "\n".join(lines)
