"""A fork server whose children try to get out: `python attempts.py [user] [no-namespaces] [no-seccomp] [no-landlock] [open]`.

The body of a call of `attempt` says what the child tries, and at what: {"message": "<name> <argument>"}. The answer says how it
ended: `done`, or the name of the error. A child that is killed for it gives no answer. `search` is answered with the
canaries in the child's memory.

`open` takes every layer away, which shows that the attempts are real.
"""

import ctypes
import dataclasses
import encodings.idna  # noqa: F401  # the ordinary user may not be able to read this Python
import errno
import os
import platform
import re
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

from jobs import catalogue, echo
from workers import fork_server
from workers.confinement import child, kernel, landlock, seccomp
from workers.confinement.layers import Layers
from workers.confinement.seccomp import NUMBERS, SECCOMP

USER = 61_200
"""An ordinary user, without an entry in /etc/passwd."""
_ARM = platform.machine() == "aarch64"
_libc = ctypes.CDLL(None, use_errno=True)


def _system_call(name: str, *arguments: Any) -> None:
    kernel.system_call(NUMBERS[platform.machine()][name], *arguments)


def _key_file(path: str) -> None:
    with open(path) as file:
        assert file.read()


def _memory(pid: str) -> None:
    with open(f"/proc/{pid}/maps") as maps:
        start = next(int(line.partition("-")[0], 16) for line in maps if "rw-p" in line)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(start)
        assert memory.read(16)


def _environment(pid: str) -> None:
    with open(f"/proc/{pid}/environ", "rb") as environment:
        assert environment.read()


def _ptrace(pid: str) -> None:
    _system_call("ptrace", ctypes.c_long(0x4206), ctypes.c_long(int(pid)), None, None)  # PTRACE_SEIZE


def _setns(pid: str) -> None:
    _system_call("setns", os.pidfd_open(int(pid)), ctypes.c_int(kernel.NEWNET))


def _tcp(port: str) -> None:
    with socket.socket() as caller:
        caller.settimeout(2)
        caller.connect(("127.0.0.1", int(port)))


def _udp(port: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"hello", ("127.0.0.1", int(port)))


def _abstract_socket(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(f"\0{name}")


def _fork(_: str) -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _kill(pid: str) -> None:
    os.kill(int(pid), signal.SIGTERM)


def _write(path: str) -> None:
    with open(path, "w") as file:
        file.write("was here")


def _execute(program: str) -> None:
    os.execv(program, [program])


def _io_uring(_: str) -> None:
    _system_call("io_uring_setup", ctypes.c_uint(1), ctypes.create_string_buffer(120))


def _keyctl(_: str) -> None:
    _system_call("add_key", b"user", b"coinslot-test", b"x", ctypes.c_size_t(1), ctypes.c_int(-2))  # of the process


def _mount(path: str) -> None:
    if _libc.mount(b"none", path.encode(), b"tmpfs", ctypes.c_ulong(0), None):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    _libc.umount2(path.encode(), ctypes.c_int(0))


def _stat(path: str) -> None:
    os.stat(path)


ATTEMPTS: dict[str, Callable[[str], None]] = {
    "key-file": _key_file,
    "memory": _memory,
    "environment": _environment,
    "ptrace": _ptrace,
    "setns": _setns,
    "tcp": _tcp,
    "udp": _udp,
    "abstract-socket": _abstract_socket,
    "fork": _fork,
    "kill": _kill,
    "write": _write,
    "execute": _execute,
    "io-uring": _io_uring,
    "keyctl": _keyctl,
    "mount": _mount,
    "stat": _stat,
}


def canaries() -> set[str]:
    """What this process has in its memory of the canaries of requests."""
    found = set()
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            if "rw-p" in line:
                memory.seek(start)
                found |= set(re.findall(rb"canary-[0-9a-f]{16}", memory.read(end - start)))
    return {canary.decode() for canary in found}


def run(request: Any, context: Any) -> echo.Response:
    """Try one thing."""
    name, _, argument = request.message.partition(" ")
    said = "done"
    try:
        if name == "search":
            said = " ".join(sorted(canaries()))
        elif name != "nothing":
            ATTEMPTS[name](argument)
    except OSError as error:
        said = errno.errorcode.get(error.errno or 0, type(error).__name__)
    return echo.Response(ok=True, service="attempts", you_sent=said)


def _become_a_user() -> None:
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    # As if the program had been started by this user.
    _libc.prctl(4, 1, 0, 0, 0)


def _refuse_namespaces() -> None:
    """As a container's filter does: unshare is EPERM, and clone gives none."""
    kernel.forbid_new_privileges()
    number = NUMBERS[platform.machine()]["unshare"]
    op = struct.Struct("=HBBI").pack
    content = (
        op(0x20, 0, 0, 0)
        + op(0x15, 0, 1, number)
        + op(0x06, 0, 0, 0x5_0000 | errno.EPERM)
        + op(0x06, 0, 0, seccomp.ALLOW)
    )
    program = seccomp._ProcessFilter(4, content)
    kernel.system_call(SECCOMP[platform.machine()], ctypes.c_uint(1), ctypes.c_uint(0), ctypes.byref(program))


def main(options: list[str]) -> None:
    """Be a fork server without what the options take away."""
    catalogue.installed_by_name()["attempt"] = dataclasses.replace(echo.ENDPOINT, name="attempt", run=run)
    fork_server._load = lambda pools: None  # type: ignore[assignment]
    if "user" in options:
        _become_a_user()
    if "no-namespaces" in options:
        _refuse_namespaces()
    if "no-seccomp" in options:
        seccomp.is_available = lambda: False
    if "no-landlock" in options:
        landlock.version = lambda: 0
    if "open" in options:
        fork_server.redact_logs = lambda: None  # it forbids tracing
        child.confine_server = lambda: Layers(False, 0, False, False)
        child.Confinement.enter = lambda self: None  # type: ignore[method-assign]
    fork_server.main()


if __name__ == "__main__":
    main(sys.argv[1:])
