"""How long tests wait: longer on a machine that has something else to do."""

import os

_LOAD = os.getloadavg()[0] / len(os.sched_getaffinity(0))
CROWD = float(os.environ.setdefault("TESTS_CROWD", str(min(20.0, _LOAD) if _LOAD > 2 else 1.0)))
"""How many processes share a core as the tests begin: one figure for all of their processes, for they are a crowd themselves.
Up to two are what scripts/test has run before. Bounds that have always had room are not multiplied by it."""


def patience(seconds: float) -> float:
    """How long to wait here for what takes `seconds` on a machine that is free."""
    return seconds * CROWD


SLACK_S = patience(3.0)
"""How much later than it should a thing may seem to end. On a machine that is free it is less than the 5 s that dnspython, a
TLS handshake or a test's server would wait by themselves, so that a deadline which nobody keeps is seen. How fast things are is
for the bench."""


def niceness(further: int) -> int:
    """The niceness of a process that gives way by so much more than this one does; the system's limit is 19."""
    return min(19, os.nice(0) + further)
