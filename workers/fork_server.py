"""The fork server: a process that has loaded and run everything that children need, and does nothing but fork them.

Forking a child takes 5 ms of CPU time, and its first regular expression 5 ms more. Starting Python takes 100 ms, loading V8
150 ms more, and first calls of other libraries up to 800 ms: too long when hostile work ends one child after the other. Forked
children share the loaded memory; 4 MB are their own.

It says once that it is ready, with its `Layers`. Then there are two requests. `_FORK` carries the child's ends of three pipes;
the answer is its process id and a descriptor of the process. `_REAP` carries a process id; the answer is its exit code.
"""

import contextlib
import gc
import logging
import math
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field

import msgspec

from shared.observability.log_redaction import places, redact_logs
from shared.pools import POOLS, niceness
from shared.process.scheduling import give_way
from workers import child
from workers.confinement.child import Confinement
from workers.confinement.layers import Layers

log = logging.getLogger(__name__)

START_LIMIT_S = 60.0
"""Seconds within which the process must have loaded everything, on a busy machine: it takes two of CPU time."""
START_AGAIN_S = 1.0
ANSWER_LIMIT_S = 10.0
"""Seconds within which it must have forked a child, or reported an exit code."""

_KEPT_ENVIRONMENT = (
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONDONTWRITEBYTECODE",
    "LD_LIBRARY_PATH",
    "LANG",
    "LC_ALL",
    "TZ",
)
"""Everything else stays out: a process that was taken over reads its environment, also what it has deleted from it."""

_FORK, _REAP = b"f", b"r"
_NUMBER = struct.Struct("<i")
_UNKNOWN = 1 << 16
_MOST_BYTES = 1 << 12
_COLLECTED_EVERY = 700, 10, 10
"""Python's own thresholds (gc.set_threshold): a child has little memory, and works on what makes much garbage."""


class ForkServerFailure(Exception):
    """No child could be forked."""


@dataclass(frozen=True, slots=True)
class ForkedChild:
    """A child that has just been forked. The caller closes the descriptors.

    Attributes:
        process: descriptor of the process, readable when it has ended (pidfd_open(2)).
        requests: the write end of its standard input.
        answers: the read end of the pipe that it answers on.
        output: the read end of the pipe that its libraries print to.
    """

    pid: int
    process: int
    requests: int
    answers: int
    output: int


@dataclass(slots=True)
class _Running:
    process: subprocess.Popen[bytes]
    control: socket.socket
    start_by: float = field(default_factory=lambda: time.monotonic() + START_LIMIT_S)


class ForkServer:
    """The worker's side of the fork server. Thread-safe.

    Args:
        pools: whose endpoints its children run: it runs their examples once, so that no child's first call is slow.
    """

    def __init__(self, pools: Collection[str] = ()) -> None:
        self.pools = pools
        self.layers: Layers | None = None
        """What confines the children. None until the process is ready."""
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._start_again_at = 0.0

    def start(self) -> None:
        """Start the process without waiting for it. Raises ForkServerFailure."""
        with self._lock:
            self._start()

    def confinement(self) -> Layers | None:
        """What confines the children; None until the process is ready, which it starts if none runs. It waits for nothing."""
        if self._lock.acquire(blocking=False):
            try:
                if self._running is not None or time.monotonic() >= self._start_again_at:
                    self._await_ready(give_up_at=0.0)
            except TimeoutError:
                return None
            except ForkServerFailure as failure:
                log.error("%s", failure)
                self._start_again_at = time.monotonic() + START_AGAIN_S
            finally:
                self._lock.release()
        return self.layers

    def fork(self, give_up_at: float = math.inf) -> ForkedChild:
        """Fork a child. A fork server that has ended, which nothing should cause, is restarted.

        Args:
            give_up_at: monotonic seconds after which nobody waits for the child.

        Raises:
            ForkServerFailure: no child could be forked.
            TimeoutError: the process still loads, and nobody waits any more.
        """
        if not self._lock.acquire(timeout=min(max(0.0, give_up_at - time.monotonic()), threading.TIMEOUT_MAX)):
            raise TimeoutError("nobody waits any more")
        try:
            self._await_ready(give_up_at)
            with contextlib.suppress(OSError):
                return self._fork()
            self._end()
            self._await_ready(give_up_at)
            try:
                return self._fork()
            except OSError:
                self._end()
                raise ForkServerFailure("no child could be forked") from None
        finally:
            self._lock.release()

    def reap(self, pid: int) -> int | None:
        """The exit code of a child that has ended, once; None when it is not known."""
        with self._lock:
            if self._running is None:
                return None
            control = self._running.control
            try:
                control.sendall(_REAP + _NUMBER.pack(pid))
                (code,) = _NUMBER.unpack(_received(control.recv(_NUMBER.size)))
            except OSError:
                self._end()
                return None
            return None if code == _UNKNOWN else int(code)

    def close(self) -> None:
        """End the process, and its children with it."""
        with self._lock:
            self._end()

    def _fork(self) -> ForkedChild:
        assert self._running is not None
        control = self._running.control
        their_requests, requests = os.pipe()
        answers, their_answers = os.pipe()
        output, their_output = os.pipe()
        try:
            socket.send_fds(control, [_FORK], [their_requests, their_answers, their_output])
            reply, descriptors, _, _ = socket.recv_fds(control, _NUMBER.size, 1)
            (pid,) = _NUMBER.unpack(_received(reply))
            return ForkedChild(pid, descriptors[0], requests, answers, output)
        except OSError:
            for descriptor in (requests, answers, output):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (their_requests, their_answers, their_output):
                os.close(descriptor)

    def _await_ready(self, give_up_at: float) -> None:
        """Start the process if none runs, and wait until it is ready. One that ends while it loads is not started again."""
        running = self._start()
        if self.layers is not None:
            return
        try:
            running.control.settimeout(max(0.0, min(give_up_at, running.start_by) - time.monotonic()))
            self.layers = msgspec.msgpack.decode(_received(running.control.recv(_MOST_BYTES)), type=Layers)
            running.control.settimeout(ANSWER_LIMIT_S)
        except (OSError, msgspec.DecodeError) as error:
            if isinstance(error, TimeoutError | BlockingIOError) and time.monotonic() < running.start_by:
                raise TimeoutError("nobody waits any more") from None
            self._end()
            raise ForkServerFailure("the fork server did not start") from None
        if lacks := self.layers.missing():
            log.warning("children are confined with %s", "; ".join(lacks))

    def _start(self) -> _Running:
        if self._running is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
            command = [sys.executable, "-m", "workers.fork_server", *self.pools]
            try:
                process = subprocess.Popen(command, stdin=theirs.fileno(), env=environment)
            except OSError:
                ours.close()
                raise ForkServerFailure("the fork server could not be started") from None
            finally:
                theirs.close()
            self._running = _Running(process, ours)
        return self._running

    def _end(self) -> None:
        self.layers = None
        if self._running is not None:
            self._running.control.close()
            self._running.process.kill()
            self._running.process.wait()
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
    _load(sys.argv[1:])  # the pools of packages are known from then on
    _forbid_threads()
    give_way(niceness([pool for pool in POOLS if pool in sys.argv[1:]]))
    gc.collect()
    gc.freeze()  # a garbage collection in a child would copy the shared memory
    gc.set_threshold(*_COLLECTED_EVERY)
    confinement = Confinement.prepared()
    control.sendall(msgspec.msgpack.encode(confinement.layers))
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1 + _NUMBER.size, 3)
        if not request:
            return
        if request == _FORK:
            pid = os.fork()
            if pid == 0:
                control.detach()  # a pipe takes its place
                _run_child(confinement, *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            process = os.pidfd_open(pid)
            socket.send_fds(control, [_NUMBER.pack(pid)], [process])
            os.close(process)
        else:
            control.sendall(_NUMBER.pack(_exit_code(*_NUMBER.unpack(request[1:]))))


def _load(pools: Collection[str]) -> None:
    """Load and run what children need."""
    from workers.warming import warm

    warm(pools)


def _forbid_threads() -> None:
    """A forked process has only the thread that forked it: what the others hold, it waits for. Threads that end have time."""
    give_up_at = time.monotonic() + START_LIMIT_S
    while (threads := len(os.listdir("/proc/self/task"))) > 1:
        if time.monotonic() > give_up_at:
            raise RuntimeError(f"the fork server has {threads} threads")
        time.sleep(0.005)


def _run_child(confinement: Confinement, requests: int, answers: int, output: int) -> None:
    """Run a forked child. Never returns."""
    code = 1
    try:
        # Descriptors that were received are above these, so none is overwritten before it was copied.
        for source, target in ((requests, 0), (output, 1), (output, 2), (answers, child.ANSWERS)):
            os.dup2(source, target)
        os.closerange(child.ANSWERS + 1, 1 << 20)
        child.main(confinement)
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
