"""Starts a browser that has no network, no files and no processes but its own. Run as a program, by workers/browser/process.py.

It makes new NET, PID, NS and IPC namespaces; a user that is not root makes them inside a user namespace. The browser sees a
root file system in memory, with the system's libraries and fonts bound into it. Its only network is a loopback interface of its
own, on which this program listens before the browser starts. The listening sockets and a descriptor of the namespace's first
process go to the worker over standard input, a Unix socket (SCM_RIGHTS).

    worker ── launcher (waits, so that the worker can) ── init (pid 1: reaps, watches the memory) ── browser (never root)

When init ends, for whatever reason, the kernel kills everything in its namespace. Init ends when the worker closes the socket,
also by its death, and when the browser ends.

Chromium's own sandbox stays on: it needs an unprivileged user, and no option that weakens it is ever passed.

Standard library only: it is started for each browser with `python -I -S`.
"""

import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BROWSER_UID = 61_118
"""User of browsers that root starts. It needs no entry in /etc/passwd, and owns no file."""
MEMORY_BYTES = 1_200_000_000
"""Private memory of all processes of a browser. Above it the largest renderer is killed."""
WATCH_S = 0.05
"""Seconds between two looks at the memory while pages are open."""
DISK_BYTES = 384 << 20
"""Limit of all files, which are in memory, and of memory that processes share."""

BUSY, IDLE = b"b", b"i"
"""From the worker: whether pages are open."""
TOO_MUCH_MEMORY = b"m"
"""To the worker: a renderer was killed, or the browser will be."""

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x0002_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT = 1, 2, 4, 8, 32
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_MAX_DESCRIPTOR = 1 << 20
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_BOUND = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc/fonts", "/etc/ld.so.cache", "/var/cache/fontconfig")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_CERTUTIL = "/usr/bin/certutil"

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Start the browser and wait until all of it has ended."""
    order = json.loads(sys.argv[1])
    control = socket.socket(fileno=os.dup(0))
    _share_the_processor_as_the_worker()
    uid, gid = os.getuid(), os.getgid()
    namespaces = _NEWNET | _NEWNS | _NEWPID | _NEWIPC
    if uid == 0:
        _check(_libc.unshare(namespaces))
    else:
        _check(_libc.unshare(_NEWUSER | namespaces))
        for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            Path("/proc/self", name).write_text(line, "ascii")
    _raise_loopback()
    listening = [socket.create_server(("127.0.0.1", port), backlog=256) for port in order["ports"]]
    pid = os.fork()
    if pid == 0:
        _run_init(order, control, listening, is_root=uid == 0)
    process = os.pidfd_open(pid)
    socket.send_fds(control, [b"pid1"], [process, *(each.fileno() for each in listening)])
    control.close()
    os.closerange(0, 2)
    os.closerange(3, _MAX_DESCRIPTOR)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xFF)


def _share_the_processor_as_the_worker() -> None:
    """Leave one core to everything else, and give this session the worker's niceness.

    Niceness counts only among the processes of one session (shared/process/scheduling.py): without it, a page of busy
    scripts gets as much of the processor as everything else does. With it alone, echo's p99 beside hostile pages is 1.6 to
    2.7 times its p99 alone on two cores; with a core that the browser does not use, 0.8 to 2.1 times (two runs of the
    bench's section render)."""
    if len(cores := sorted(os.sched_getaffinity(0))) > 1:
        os.sched_setaffinity(0, cores[1:])
    until = time.monotonic() + 2
    while True:
        try:
            Path("/proc/self/autogroup").write_text(str(os.nice(0)))
        except BlockingIOError:  # the kernel takes ten a second from all users
            if time.monotonic() < until:
                time.sleep(0.05)
                continue
        except OSError:
            pass  # there are no such groups
        return


def _run_init(order: dict[str, Any], control: socket.socket, listening: list[socket.socket], *, is_root: bool) -> None:
    """The namespace's first process. Never returns."""
    code = 1
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for each in listening:
            each.close()
        _make_root(order["program"])
        if is_root:
            os.setgroups([])
            os.setresgid(BROWSER_UID, BROWSER_UID, BROWSER_UID)
            os.setresuid(BROWSER_UID, BROWSER_UID, BROWSER_UID)
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of the user clears it
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _trust(order["authorities"])
        browser = os.fork()
        if browser == 0:
            _run_browser(order, control)
        _prctl(_PR_SET_DUMPABLE, 0)
        os.close(0)
        os.closerange(order["commands"], order["commands"] + 1)
        os.closerange(order["events"], order["events"] + 1)
        code = _watch(control, browser)
    except BaseException as error:
        print(f"browser launcher: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def _trust(authorities: list[str]) -> None:
    """Let the browser trust certificate authorities beside its own list, which it reads from an NSS database.

    Args:
        authorities: certificates in PEM.
    """
    if not authorities:
        return
    database = "/tmp/.pki/nssdb"  # noqa: S108  # of this namespace
    os.makedirs(database)
    subprocess.run([_CERTUTIL, "-N", "-d", f"sql:{database}", "--empty-password"], check=True)
    for number, pem in enumerate(authorities):
        options = ["-t", "C,,", "-n", f"coinslot-{number}"]
        subprocess.run([_CERTUTIL, "-A", "-d", f"sql:{database}", *options], input=pem.encode(), check=True)


def _run_browser(order: dict[str, Any], control: socket.socket) -> None:
    """Become the browser, which takes commands on descriptor 3 and answers on 4. Never returns."""
    try:
        control.close()
        # First out of the way: one of the two may be 3 or 4 itself.
        commands = fcntl.fcntl(order["commands"], fcntl.F_DUPFD, 10)
        events = fcntl.fcntl(order["events"], fcntl.F_DUPFD, 10)
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        if not order["log"]:
            os.dup2(null, 2)
        os.dup2(commands, 3)
        os.dup2(events, 4)
        os.closerange(5, _MAX_DESCRIPTOR)
        environment = {"HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}  # noqa: S108
        os.execve(order["program"], [order["program"], *order["flags"]], environment)  # noqa: S606  # a fixed list
    finally:
        os._exit(127)


def _watch(control: socket.socket, browser: int) -> int:
    """Reap, and keep the memory below its limit, until the browser or the worker ends. Returns init's exit code."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    is_busy = True
    while True:
        if poll.poll((WATCH_S if is_busy else 0.5) * 1000):
            said = control.recv(16)
            if not said:
                return 0
            is_busy = said[-1:] == BUSY
        while True:
            try:
                ended, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return 1
            if ended == browser:
                return 1
            if not ended:
                break
        if is_busy and not _is_within_memory():
            control.send(TOO_MUCH_MEMORY)
            if not _kill_largest_renderer():
                return 1


def _is_within_memory() -> bool:
    return sum(_private_bytes(pid) for pid in _pids()) <= MEMORY_BYTES


def _kill_largest_renderer() -> bool:
    """Kill the largest process, which must be a renderer: the page that it shows crashes, and other pages do not."""
    largest = max(_pids(), key=_private_bytes, default=0)
    try:
        command = Path(f"/proc/{largest}/cmdline").read_bytes()
        if b"--type=renderer" not in command:
            return False
        os.kill(largest, signal.SIGKILL)
    except OSError:
        return True  # it has just ended
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline and _private_bytes(largest):  # a gigabyte is not freed at once
        time.sleep(0.005)
    return True


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def _private_bytes(pid: int) -> int:
    """Resident memory that is no file's and not shared."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as statm:
            _, resident, shared, *_ = statm.read().split()
        return (int(resident) - int(shared)) * _PAGE_BYTES
    except (OSError, ValueError):
        return 0


def _make_root(program: str) -> None:
    """A root file system in memory. The old one is unmounted."""
    root = "/tmp"  # noqa: S108  # any folder: nothing but this namespace sees the mount
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _mount("tmpfs", root, "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={DISK_BYTES},mode=755")
    folder = str(Path(program).parent)
    outside = () if folder.startswith(("/usr/", "/lib/")) else (folder,)
    os.mkdir(f"{root}/dev", 0o755)
    for path in (*_BOUND, *outside, *_DEVICES):
        _bind(path, root)
    for path in ("proc", "old", "tmp", "dev/shm"):
        os.mkdir(f"{root}/{path}")
    for path in ("tmp", "dev/shm"):
        os.chmod(f"{root}/{path}", 0o1777)  # noqa: S103  # as /tmp is
    _mount("proc", f"{root}/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    os.chdir(root)
    _check(_libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"old"))
    os.chdir("/")
    _check(_libc.umount2(b"/old", _MNT_DETACH))
    os.rmdir("/old")


def _bind(path: str, root: str) -> None:
    source, target = Path(path), Path(root + path)
    if source.is_symlink():
        target.parent.mkdir(0o755, parents=True, exist_ok=True)
        target.symlink_to(os.readlink(source))
        return
    if not source.exists():
        return
    if source.is_dir():
        target.mkdir(0o755, parents=True, exist_ok=True)
    else:
        target.parent.mkdir(0o755, parents=True, exist_ok=True)
        target.touch(0o644)
    _mount(path, str(target), None, _MS_BIND | _MS_REC)
    # Nobody but root may write there. In a user namespace the kernel may refuse to change the options of a mount.
    if not path.startswith("/dev/"):
        _libc.mount(
            None, str(target).encode(), None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV, None
        )


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", asked)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    _check(_libc.mount(*texts, ctypes.c_ulong(flags), data.encode() if data else None))


def _prctl(option: int, value: int) -> None:
    _check(_libc.prctl(option, value, 0, 0, 0))


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
