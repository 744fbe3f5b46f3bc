"""Where children come from: a process that has loaded what they need and does nothing but fork.

A child that is forked is there after 3 ms of CPU time, and its first regular expression takes 5 ms more. Starting Python takes
100 ms, and loading V8 150 ms more: too long when hostile work ends one child after the other. Forked children share the memory
of what is loaded; 4 MB are their own.

A request is `_FORK` with the child's ends of two pipes, answered with its process id and a descriptor of the process, or
`_REAP` with a process id, answered with its exit code.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass

from shared.log_redaction import places, redact_logs

START_LIMIT_S = 10.0
"""For the process to load everything, on a busy machine."""

_FORK, _REAP = b"f", b"r"
_NUMBER = struct.Struct("<i")
_UNKNOWN = 1 << 16


class ForkServerFailure(Exception):
    """No child could be made."""


@dataclass(frozen=True, slots=True)
class ForkedChild:
    """A child that has just been forked. The descriptors are the caller's to close.

    Attributes:
        process: descriptor of the process: readable when it has ended.
        requests: its standard input.
        answers: what it answers.
    """

    pid: int
    process: int
    requests: int
    answers: int


class ForkServer:
    """The worker's side. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def start(self) -> None:
        """Start the process without waiting for it. Raises ForkServerFailure."""
        with self._lock:
            self._control()

    def fork(self) -> ForkedChild:
        """A new child. When the process has ended, which nothing should make it do, another is started."""
        with self._lock:
            with contextlib.suppress(OSError):
                return self._fork()
            self._end()
            try:
                return self._fork()
            except OSError:
                self._end()
                raise ForkServerFailure("no child could be forked") from None

    def reap(self, pid: int) -> int | None:
        """The exit code of a child that has ended, which is forgotten then. None when it is not known."""
        with self._lock:
            if self._running is None:
                return None
            _, control = self._running
            try:
                control.sendall(_REAP + _NUMBER.pack(pid))
                (code,) = _NUMBER.unpack(_received(control.recv(_NUMBER.size)))
            except OSError:
                self._end()
                return None
            return None if code == _UNKNOWN else int(code)

    def close(self) -> None:
        """End the process. Children live on."""
        with self._lock:
            self._end()

    def _fork(self) -> ForkedChild:
        control = self._control()
        their_requests, requests = os.pipe()
        answers, their_answers = os.pipe()
        try:
            socket.send_fds(control, [_FORK], [their_requests, their_answers])
            reply, descriptors, _, _ = socket.recv_fds(control, _NUMBER.size, 1)
            (pid,) = _NUMBER.unpack(_received(reply))
            return ForkedChild(pid, descriptors[0], requests, answers)
        except OSError:
            os.close(requests)
            os.close(answers)
            raise
        finally:
            os.close(their_requests)
            os.close(their_answers)

    def _control(self) -> socket.socket:
        if self._running is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                process = subprocess.Popen([sys.executable, "-m", "workers.fork_server"], stdin=theirs.fileno())
            except OSError:
                ours.close()
                raise ForkServerFailure("the nursery could not be started") from None
            finally:
                theirs.close()
            ours.settimeout(START_LIMIT_S)
            self._running = process, ours
        return self._running[1]

    def _end(self) -> None:
        if self._running is not None:
            process, control = self._running
            control.close()
            process.kill()
            process.wait()
            self._running = None


def _received(message: bytes) -> bytes:
    if not message:
        raise ConnectionResetError("the nursery has ended")
    return message


def main() -> None:
    """Fork until the worker is gone."""
    redact_logs()
    # Signals to a whole group are the worker's affair: it finishes its jobs, and for that it needs its children.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    _load()
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1 + _NUMBER.size, 2)
        if not request:
            return
        if request == _FORK:
            pid = os.fork()
            if pid == 0:
                control.close()
                _live(*descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            process = os.pidfd_open(pid)
            socket.send_fds(control, [_NUMBER.pack(pid)], [process])
            os.close(process)
        else:
            control.sendall(_NUMBER.pack(_exit_code(*_NUMBER.unpack(request[1:]))))


def _load() -> None:
    """All that children need. No thread may run afterwards, because a fork would not have it."""
    from jobs import calculations
    from jobs.regex_test.matching import isolate
    from workers import child  # noqa: F401

    isolate()
    calculations.preload()
    gc.freeze()  # a collection in a child would copy the memory that is shared


def _live(requests: int, answers: int) -> None:
    """The life of a child; never returns."""
    from workers import child

    code = 1
    try:
        os.dup2(requests, sys.stdin.fileno())
        os.close(requests)
        child.main(answers)
        code = 0
    except BaseException as error:
        print(places(error), file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(code)


def _exit_code(pid: int) -> int:
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return _UNKNOWN
    return os.waitstatus_to_exitcode(status) if ended else _UNKNOWN


if __name__ == "__main__":
    main()
