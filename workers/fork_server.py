"""The fork server: a process that has loaded everything that children need, and does nothing but fork them.

Forking a child takes 3 ms of CPU time, and its first regular expression 5 ms more. Starting Python takes 100 ms, and loading V8
150 ms more: too long when hostile work ends one child after the other. Forked children share the loaded memory; 4 MB are
their own.

There are two requests. `_FORK` carries the child's ends of two pipes; the answer is its process id and a descriptor of the
process. `_REAP` carries a process id; the answer is its exit code.
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
"""Seconds within which the process must have loaded everything, on a busy machine."""

_FORK, _REAP = b"f", b"r"
_NUMBER = struct.Struct("<i")
_UNKNOWN = 1 << 16


class ForkServerFailure(Exception):
    """No child could be forked."""


@dataclass(frozen=True, slots=True)
class ForkedChild:
    """A child that has just been forked. The caller closes the descriptors.

    Attributes:
        process: descriptor of the process, readable when it has ended (pidfd_open(2)).
        requests: the write end of its standard input.
        answers: the read end of the pipe that it answers on.
    """

    pid: int
    process: int
    requests: int
    answers: int


class ForkServer:
    """The worker's side of the fork server. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def start(self) -> None:
        """Start the process without waiting for it. Raises ForkServerFailure."""
        with self._lock:
            self._control()

    def fork(self) -> ForkedChild:
        """Fork a child. A fork server that has ended, which nothing should cause, is restarted. Raises ForkServerFailure."""
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
        """The exit code of a child that has ended, once; None when it is not known."""
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
        """End the process. Its children live on."""
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
                raise ForkServerFailure("the fork server could not be started") from None
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
        raise ConnectionResetError("the fork server has ended")
    return message


def main() -> None:
    """Serve requests until the worker has ended."""
    redact_logs()
    # The worker handles signals to the whole group: it finishes its jobs, and for that it needs its children.
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
                _run_child(*descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            process = os.pidfd_open(pid)
            socket.send_fds(control, [_NUMBER.pack(pid)], [process])
            os.close(process)
        else:
            control.sendall(_NUMBER.pack(_exit_code(*_NUMBER.unpack(request[1:]))))


def _load() -> None:
    """Load what children need. No thread may run afterwards, because a forked process does not have it."""
    from jobs import calculations
    from jobs.regex_test.matching import isolate
    from workers import child  # noqa: F401

    isolate()
    calculations.preload()
    gc.freeze()  # a garbage collection in a child would copy the shared memory


def _run_child(requests: int, answers: int) -> None:
    """Run a forked child. Never returns."""
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
