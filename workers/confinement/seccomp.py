"""Seccomp: which system calls the kernel runs for a child (seccomp(2)).

Allowed is what calculations do on memory and on their open pipes. What libraries try, and can do without, is an error. What
only an attack does ends the process (SIGSYS).

The filter is a program for the kernel's BPF machine. The fork server assembles it once, and each child puts its own process
id into it: that takes 0.1 ms, and a library that assembles it anew took 1.5 ms.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workers.confinement import kernel

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

# New system calls have one number everywhere.
_SINCE_2019 = """
    pidfd_send_signal 424 io_uring_setup 425 io_uring_enter 426 io_uring_register 427 pidfd_open 434 clone3 435
    openat2 437 pidfd_getfd 438 faccessat2 439 memfd_secret 447 futex_waitv 449
"""
_X86_64 = """
    read 0 write 1 open 2 close 3 stat 4 fstat 5 lstat 6 poll 7 lseek 8 mmap 9 mprotect 10 munmap 11 brk 12
    rt_sigaction 13 rt_sigprocmask 14 rt_sigreturn 15 ioctl 16 access 21 sched_yield 24 mremap 25 mincore 27
    madvise 28 nanosleep 35 getpid 39 socket 41 connect 42 socketpair 53 clone 56 fork 57 vfork 58 execve 59 exit 60
    kill 62 uname 63 fcntl 72 readlink 89 gettimeofday 96 getrusage 98 sysinfo 99 times 100 ptrace 101 getuid 102
    getgid 104 geteuid 107 getegid 108 rt_sigqueueinfo 129 sigaltstack 131 sched_getparam 143 sched_getscheduler 145
    pivot_root 155 prctl 157 chroot 161 mount 165 umount2 166 init_module 175 gettid 186 tkill 200 futex 202
    sched_getaffinity 204 restart_syscall 219 clock_gettime 228 clock_getres 229 clock_nanosleep 230 exit_group 231
    tgkill 234 kexec_load 246 add_key 248 request_key 249 keyctl 250 openat 257 newfstatat 262 readlinkat 267
    faccessat 269 ppoll 271 unshare 272 set_robust_list 273 rt_tgsigqueueinfo 297 perf_event_open 298 prlimit64 302
    open_by_handle_at 304 setns 308 process_vm_readv 310 process_vm_writev 311 finit_module 313 getrandom 318
    memfd_create 319 bpf 321 execveat 322 userfaultfd 323 membarrier 324 pkey_mprotect 329 pkey_alloc 330
    pkey_free 331 statx 332 rseq 334
"""
_AARCH64 = """
    fcntl 25 ioctl 29 umount2 39 mount 40 pivot_root 41 faccessat 48 chroot 51 openat 56 close 57 lseek 62 read 63
    write 64 ppoll 73 readlinkat 78 newfstatat 79 fstat 80 exit 93 exit_group 94 unshare 97 futex 98
    set_robust_list 99 nanosleep 101 kexec_load 104 init_module 105 clock_gettime 113 clock_getres 114
    clock_nanosleep 115 ptrace 117 sched_getscheduler 120 sched_getparam 121 sched_getaffinity 123 sched_yield 124
    restart_syscall 128 kill 129 tkill 130 tgkill 131 sigaltstack 132 rt_sigaction 134 rt_sigprocmask 135
    rt_sigqueueinfo 138 rt_sigreturn 139 times 153 uname 160 getrusage 165 prctl 167 gettimeofday 169 getpid 172
    getuid 174 geteuid 175 getgid 176 getegid 177 gettid 178 sysinfo 179 socket 198 socketpair 199 connect 203
    brk 214 munmap 215 mremap 216 add_key 217 request_key 218 keyctl 219 clone 220 execve 221 mmap 222 mprotect 226
    mincore 232 madvise 233 rt_tgsigqueueinfo 240 perf_event_open 241 prlimit64 261 open_by_handle_at 265 setns 268
    process_vm_readv 270 process_vm_writev 271 finit_module 273 getrandom 278 memfd_create 279 bpf 280 execveat 281
    userfaultfd 282 membarrier 283 pkey_mprotect 288 pkey_alloc 289 pkey_free 290 statx 291 rseq 293
"""


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


def _numbers(table: str) -> Mapping[str, int]:
    words = table.split()
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


NUMBERS: Mapping[str, Mapping[str, int]] = {
    "x86_64": _numbers(_X86_64 + _SINCE_2019),
    "aarch64": _numbers(_AARCH64 + _SINCE_2019),
}
"""By `platform.machine()`. aarch64 has none of the calls that newer ones replaced."""

SECCOMP = {"x86_64": 317, "aarch64": 277}
AUDIT_ARCHITECTURE = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
