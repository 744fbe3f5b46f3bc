"""What `scripts/run` is doing while it starts, on stderr: a line for each step, with the seconds that it took."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Print the name of a step when it begins, and on the same line its seconds when it has ended."""
    started_at = time.monotonic()
    print(f"run: {name} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    except BaseException:
        print(file=sys.stderr, flush=True)  # the reason comes on the next line
        raise
    print(f" {time.monotonic() - started_at:.1f} s", file=sys.stderr, flush=True)
