"""Replaces itself by a command that dies when its parent dies, even of SIGKILL. A script, run by its path, never imported.

    python -I -S tether.py PARENT_PID COMMAND [ARGUMENT...]

Linux only (PR_SET_PDEATHSIG survives exec). Elsewhere the command runs all the same, and outlives a parent that is killed.
A script and not Popen's preexec_fn, which may deadlock in a parent that has threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:
            sys.exit("the parent died before this process could be tied to it")
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is the point
    except OSError as error:
        sys.exit(f"{command[0]} cannot be run: {error.strerror}")
