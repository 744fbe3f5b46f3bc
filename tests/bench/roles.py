"""How a system under test is started: `python -m tests.bench.systems.<name> <role>` turns itself into that process.

A system runs in one of two environments, the project's or that of the rivals (requirements.in), so this module and
tests/bench/caller.py import nothing but the standard library.
"""

import os
import sys
from collections.abc import Callable, Mapping

PATH = "/v1/cdp/echo"
"""The path that every HTTP system answers: ours has no other, and a fair comparison has one."""
THREADS = 16
"""Worker threads, or concurrent jobs, of every system: what the Procfile gives the fast pool."""


def queue_url() -> str:
    """The Redis of jobs and results. Every system has a database of its own in it."""
    return os.environ["BENCH_QUEUE_URL"]


def port() -> int:
    """Where an HTTP system listens, on 127.0.0.1."""
    return int(os.environ["BENCH_PORT"])


def become(*arguments: str) -> None:
    """Replace this process by this environment's Python with these arguments."""
    os.execv(sys.executable, [sys.executable, *arguments])  # no shell is the point


def become_uvicorn(application: str, *options: str) -> None:
    """One uvicorn process in its fastest stock form: uvloop, httptools, no access log."""
    become(
        *("-m", "uvicorn", application, "--port", str(port()), "--loop", "uvloop", "--http", "httptools"),
        *("--no-access-log", "--log-level", "warning", *options),
    )


def play(roles: Mapping[str, Callable[[], None]]) -> None:
    """Play the role that the command line names."""
    roles[sys.argv[1]]()
