"""How long the product waits for its browser, on a machine that has something else to do."""

from tests.time_limits import patience
from workers.adapters import browser as adapter
from workers.browser import instance, page, pool, process, render

_OF_MODULES = {
    adapter: ("START_S", "CLOSE_S", "LATE_S"),
    instance: ("FIRST_ANSWER_S", "ATTACH_S"),
    page: ("OPEN_S", "CLOSE_S"),
    pool: ("JOB_S",),
    process: ("START_S", "END_S"),
    render: ("SETTLE_S", "READ_S", "READ_AGAIN_S", "MAX_QUIET_S"),
}
"""Not what is kept of a deadline: that is the caller's time."""
_LONGER = [(module, name, patience(getattr(module, name))) for module, names in _OF_MODULES.items() for name in names]


def wait_longer() -> None:
    """In this process: a page that gets little of a busy machine is not taken for one that does not answer."""
    for module, name, seconds in _LONGER:
        setattr(module, name, seconds)
