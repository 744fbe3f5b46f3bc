"""`coinslot-ops restart`, `scale` and `reload`: commands for the supervisor of `scripts/run` (compose/control.py)."""

import socket
import sys
from collections.abc import Sequence
from pathlib import Path


def report(path: Path, words: Sequence[str]) -> int:
    """Send a command, and print what is done. Returns the exit code.

    Args:
        path: of the supervisor's socket.
    """
    last = "failed: the service ended"
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(f"{' '.join(words)}\n".encode())
            with connection.makefile(encoding="utf-8") as lines:
                for line in lines:
                    last = line.rstrip()
                    if last != "ok" and not last.startswith("failed: "):
                        print(last, flush=True)
    except OSError as error:
        print(
            f"coinslot-ops: no service takes commands at {path} ({error.strerror or error}): start scripts/run, or set "
            "COINSLOT_VAR to its folder",
            file=sys.stderr,
        )
        return 3
    if last == "ok":
        return 0
    print(f"coinslot-ops: {last}", file=sys.stderr)
    return 1
