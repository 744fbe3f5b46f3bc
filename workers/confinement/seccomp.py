"""Seccomp: which system calls the kernel runs for a child (seccomp(2)).

Allowed is what calculations do on memory and on their open pipes. What libraries try, and can do without, is an error. What
only an attack does ends the process (SIGSYS).

The filter is a program for the kernel's BPF machine. The fork server assembles it once, and each child puts its own process
id into it: that takes 0.1 ms, and a library that assembles it anew took 1.5 ms.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from workers.confinement import kernel
from workers.confinement.system_calls import AUDIT_ARCHITECTURE, NUMBERS, SECCOMP

KILL, ALLOW = 0x8000_0000, 0x7FFF_0000
_ERRNO = 0x0005_0000
_SET_MODE_FILTER, _GET_ACTION_AVAIL = 1, 2

ALLOWED = (
    *("read", "write", "futex", "poll", "ppoll", "clock_gettime", "mmap", "munmap", "madvise", "mprotect", "brk"),
    "mremap",
    *("close", "lseek", "mincore", "futex_waitv", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack"),
    *("getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "clock_getres", "clock_nanosleep", "nanosleep"),
    *("gettimeofday", "times", "getrusage", "getrandom", "sched_yield", "sched_getaffinity", "sched_getparam"),
    *("sched_getscheduler", "set_robust_list", "rseq", "membarrier", "restart_syscall", "uname", "sysinfo"),
    *("exit", "exit_group", "pkey_alloc", "pkey_mprotect", "pkey_free"),
)
"""The most frequent first: the kernel compares one after the other."""
REFUSED = {
    errno.EACCES: (
        *("open", "openat", "openat2", "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"),
        *("readlink", "readlinkat"),
    ),
    errno.ENOTTY: ("ioctl",),
    errno.EINVAL: ("prctl",),
    errno.EBADF: ("fstat",),
    errno.ENOSYS: ("clone3",),  # then the C library uses clone
}
"""The errors that V8 and Python expect: V8 opens /dev/urandom, and a traceback opens its sources. Any other call is EPERM."""
KILLED = (
    *("execve", "execveat", "fork", "vfork", "ptrace", "socket", "socketpair", "connect", "bpf"),
    *("keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("setns", "unshare", "mount", "umount2", "pivot_root", "chroot", "process_vm_readv", "process_vm_writev"),
    *("userfaultfd", "perf_event_open", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "memfd_create"),
    *("memfd_secret", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "init_module", "finit_module", "kexec_load"),
    "open_by_handle_at",
)
FCNTL_COMMANDS = (0, 1, 2, 3, 4, 1030, 1032)
"""Of descriptors themselves. Others send signals to any process when a pipe has data (F_SETOWN)."""

_CLONE_THREAD, _NEW_NAMESPACES = 0x0001_0000, 0x7E02_0000
_X32 = 0x4000_0000
"""Numbers from here on are those of another calling convention."""

# seccomp_data: the number, the architecture, 8 bytes of instruction pointer, and arguments of 8 bytes, the lower half first.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_INSTRUCTION = struct.Struct("=HBBI")
_LOAD, _RETURN = 0x20, 0x06
_IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT = 0x15, 0x35, 0x45


@dataclass(frozen=True, slots=True)
class Filter:
    """An assembled program.

    Attributes:
        content: instructions of 8 bytes.
        process_id_at: the index of the byte at which the process's id belongs.
    """

    content: bytes
    process_id_at: int

    def for_process(self, pid: int) -> bytes:
        """The program of one process."""
        return self.content[: self.process_id_at] + struct.pack("=I", pid) + self.content[self.process_id_at + 4 :]


class _ProcessFilter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


def is_available() -> bool:
    """Whether this kernel filters, and ends processes."""
    number = SECCOMP.get(platform.machine())
    if number is None:
        return False
    action = ctypes.c_uint32(KILL)
    try:
        kernel.system_call(number, ctypes.c_uint(_GET_ACTION_AVAIL), ctypes.c_uint(0), ctypes.byref(action))
    except OSError:
        return False
    return True


def install(prepared: Filter) -> None:
    """Filter this process from now on. It needs `kernel.forbid_new_privileges`. Raises OSError."""
    content = prepared.for_process(os.getpid())
    program = _ProcessFilter(len(content) // _INSTRUCTION.size, content)
    number = SECCOMP[platform.machine()]
    kernel.system_call(number, ctypes.c_uint(_SET_MODE_FILTER), ctypes.c_uint(0), ctypes.byref(program))


def assemble(machine: str) -> Filter:
    """The program for an architecture, as `platform.machine()` names it."""
    numbers = NUMBERS[machine]
    code = [
        *(_op(_LOAD, _ARCHITECTURE), _op(_IF_EQUAL, AUDIT_ARCHITECTURE[machine], 1, 0), _op(_RETURN, KILL)),
        *(_op(_LOAD, _NUMBER), _op(_IF_AT_LEAST, _X32, 0, 1), _op(_RETURN, KILL)),
    ]
    for name in ALLOWED:
        if name in numbers:
            code += _verdict(numbers[name], ALLOW)
    code += _case(numbers["fcntl"], [*_if_one_of(FCNTL_COMMANDS), _error(errno.EPERM)], argument=1)
    code += _case(numbers["clone"], _if_a_thread(), argument=0)
    process_id_at = (len(code) + 2) * _INSTRUCTION.size + 4
    code += _case(numbers["tgkill"], [*_if_one_of((0,)), _op(_RETURN, KILL)], argument=0)
    code += _case(numbers["prlimit64"], _if_it_reads_only(), argument=2)
    for number, names in REFUSED.items():
        for name in names:
            if name in numbers:
                code += [_op(_IF_EQUAL, numbers[name], 0, 1), _error(number)]
    for name in KILLED:
        if name in numbers:
            code += _verdict(numbers[name], KILL)
    code.append(_error(errno.EPERM))
    return Filter(b"".join(code), process_id_at)


def _op(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """An instruction. The jumps say how many instructions to skip."""
    return _INSTRUCTION.pack(code, if_true, if_false, operand)


def _error(number: int) -> bytes:
    return _op(_RETURN, _ERRNO | number)


def _verdict(number: int, action: int) -> list[bytes]:
    return [_op(_IF_EQUAL, number, 0, 1), _op(_RETURN, action)]


def _case(number: int, code: list[bytes], *, argument: int) -> Iterator[bytes]:
    """Code for one system call, which returns in any case. It begins with the lower half of an argument loaded."""
    yield _op(_IF_EQUAL, number, 0, len(code) + 1)
    yield _op(_LOAD, _ARGUMENTS + 8 * argument)
    yield from code


def _if_one_of(values: tuple[int, ...]) -> Iterator[bytes]:
    for value in values:
        yield from _verdict(value, ALLOW)


def _if_a_thread() -> list[bytes]:
    return [
        *(_op(_IF_ANY_BIT, _CLONE_THREAD, 1, 0), _op(_RETURN, KILL)),
        *(_op(_IF_ANY_BIT, _NEW_NAMESPACES, 0, 1), _op(_RETURN, KILL)),
        _op(_RETURN, ALLOW),
    ]


def _if_it_reads_only() -> list[bytes]:
    upper_half = _ARGUMENTS + 8 * 2 + 4
    return [
        *(_op(_IF_EQUAL, 0, 1, 0), _error(errno.EPERM)),
        *(_op(_LOAD, upper_half), _op(_IF_EQUAL, 0, 1, 0), _error(errno.EPERM)),
        _op(_RETURN, ALLOW),
    ]
