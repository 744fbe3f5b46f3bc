"""Linux's system calls that Python does not offer. Each raises OSError."""

import contextlib
import ctypes
import os
import struct

NEWIPC, NEWUSER, NEWNET = 0x0800_0000, 0x1000_0000, 0x4000_0000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_CAPABILITY_VERSION = 0x2008_0522
_LAST_CAPABILITY = 63
_CLOCK_PROCESS_CPUTIME_ID = 2
_SIGEV_SIGNAL = 0
_SIGEVENT = struct.Struct("=QiI48x")
_ITIMERSPEC = struct.Struct("=qqqq")

_libc = ctypes.CDLL(None, use_errno=True)


def system_call(number: int, *arguments: object) -> int:
    """Any system call by its number. Integers must be ctypes values where they are longer than an int."""
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    return _checked(result)


def unshare(flags: int) -> None:
    """Leave namespaces (unshare(2))."""
    _checked(_libc.unshare(flags))


def die_with_parent(signal_number: int) -> None:
    """Get a signal when the parent ends. A change of the user clears it."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def forbid_tracing() -> None:
    """No process of the same user may read this one's memory and environment, or trace it. A change of the user, and exec, set
    it anew."""
    _prctl(_PR_SET_DUMPABLE, 0)


def forbid_new_privileges() -> None:
    """No program gives this process more rights. Seccomp and Landlock need it, except as root."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding_set() -> None:
    """Let no capability come back. It needs CAP_SETPCAP, so it comes before a change of the user."""
    with contextlib.suppress(OSError):  # the kernel has fewer capabilities than there are numbers
        for capability in range(_LAST_CAPABILITY + 1):
            _prctl(_PR_CAPBSET_DROP, capability)


def drop_capabilities() -> None:
    """Give up every capability."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _checked(_libc.capset(header, bytes(24)))


def kill_after(cpu_s: float) -> None:
    """End this process when it has spent so much CPU time. RLIMIT_CPU counts whole seconds."""
    event = _SIGEVENT.pack(0, 9, _SIGEV_SIGNAL)
    timer = ctypes.c_void_p()
    _checked(_libc.timer_create(_CLOCK_PROCESS_CPUTIME_ID, event, ctypes.byref(timer)))
    seconds = int(cpu_s)
    _checked(_libc.timer_settime(timer, 0, _ITIMERSPEC.pack(0, 0, seconds, int((cpu_s - seconds) * 1e9)), None))


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
