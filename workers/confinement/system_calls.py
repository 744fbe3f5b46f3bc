"""The numbers of the system calls that the filter names (seccomp.py), by architecture."""

from __future__ import annotations

from collections.abc import Mapping

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
