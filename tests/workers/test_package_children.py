"""What a package's endpoints calculate runs in children, which load no package: their fork server has."""

from shared import outcome
from shared.outcome import Ok
from tests.packages import Environment, environment
from tests.workers.warm_pool import warm_pool
from workers.child import Work

__all__ = ["environment"]

SOURCE = """
import dataclasses
from jobs import echo
from shared.pools import POOLS, add_pool

POOL = add_pool("acme", dataclasses.replace(POOLS["fast"], niceness=3))

def run(request, context):
    import json.tool  # with its first call: the example's, before children are forked
    return echo.Response(ok=True, service="acme", you_sent=request.message)

VALUE = [
    dataclasses.replace(
        echo.ENDPOINT, name="acme/echo", pool=POOL, run=run, exhausted=lambda request: None
    )
]
"""


def test_a_child_runs_a_packages_endpoint(environment: Environment) -> None:
    """In a pool of the package."""
    environment.install("acme", None, SOURCE)
    started = warm_pool(1, "acme")
    try:
        answer = outcome.decode(started.call(Work("acme/echo", "0x0", b'{"message": "hi"}'), limit_s=1, wait_s=20))
        assert answer == Ok(b'{"ok":true,"service":"acme","youSent":"hi"}')
    finally:
        started.close()
