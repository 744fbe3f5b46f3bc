"""What granian's worker processes need of the master that forks them."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def prepare_forks() -> None:
    """From now on, a process that this one forks ends with SIGTERM until it installs a handler, and ends with its parent.

    A worker has the handlers of its master until it has loaded its app: it would ignore a SIGTERM, and the stop take 40 s. A
    worker whose master was killed would serve on, beside the master's successor. The kernel kills it (Linux only).
    """
    parent = os.getpid()

    def remember() -> None:
        nonlocal parent
        parent = os.getpid()

    def prepare() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
            if os.getppid() != parent:  # it died before prctl took effect
                os._exit(1)

    os.register_at_fork(before=remember, after_in_child=prepare)
