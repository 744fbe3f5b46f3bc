"""Runs a command that gets SIGTERM when its parent dies, even of SIGKILL. It is a script and is never imported.

    python -I -S parent_watch.py PARENT_PID COMMAND [ARGUMENT...]

It works on Linux only (PR_SET_PDEATHSIG survives exec). On other systems the command outlives a parent that is killed.
Popen's preexec_fn could do the same, but may deadlock in a parent with threads.
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
