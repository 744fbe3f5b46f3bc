"""A pool of child processes for CPU work on hostile input. Only killing a process stops a calculation for certain:
Dramatiq's time limit interrupted a C-level loop after 21 s instead of 1 s (measured).

    ChildFailure
    ├── Exhausted      the work was too much: the child was killed at its limit, or ran out of memory or stack
    └── Lost           the child ended for another reason, or could not be started
    NotStarted         an error in this program: the worker's pools need no children (shared/pools.py)
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import threading
import time

import msgspec

from shared.metrics import metrics
from workers.child import EXHAUSTED, HEADER, Work
from workers.fair_pool import FairPool
from workers.fork_server import ForkedChild, ForkServer, ForkServerFailure

RECYCLE_AFTER = 500
"""Calls after which a child is replaced, so that a library's memory leak stays bounded."""
START_LIMIT_S = 10.0
"""Seconds within which a forked child must be ready, on a busy machine."""
MAX_GROWTH_BYTES = 64 << 20
"""Data that a child may keep from its calls. A child that keeps more is replaced: too little of its memory limit would be left
for the next call, which would count as exhausted."""
TRIES = 2

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

# The exits of a child that its work broke: its own exit code, an abort in Rust or C, a C stack overflow, a trap in V8.
_EXHAUSTED_EXITS = (EXHAUSTED, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGTRAP, -signal.SIGILL)

_encoder = msgspec.msgpack.Encoder()


class ChildFailure(Exception):
    """A child gave no answer."""


class Exhausted(ChildFailure):
    """The work was too much for one child."""


class Lost(ChildFailure):
    """The child ended, and not because of the work as far as is known."""


_KILLED: dict[type[Exception], str] = {Exhausted: "exhausted", Lost: "lost"}
"""What metrics call the reason of a child's end. Otherwise nobody waited any more."""


class NotStarted(RuntimeError):
    """A call of a pool that was never started, or is closed. Without this error it would wait until its deadline."""


class _TimedOut(Exception):
    """A child has not answered in time."""


class Child:
    """One child process. Not thread-safe: the pool gives it to one caller at a time. Raises Lost when it cannot be forked."""

    def __init__(self, fork_server: ForkServer) -> None:
        self._calls = 0
        self._data_bytes = 0
        self._fork_server = fork_server
        try:
            self._process: ForkedChild | None = fork_server.fork()
        except ForkServerFailure as failure:
            raise Lost(str(failure)) from None
        self.pid = self._process.pid
        self._stdin, self._stdout = self._process.requests, self._process.answers
        # A child that does not read must not block its caller: a pipe takes 64 KB, and a body may be larger.
        os.set_blocking(self._stdin, False)
        self._is_ready = False

    def call(self, work: Work, *, limit_s: float, give_up_at: float = math.inf) -> bytes:
        """Run one call and return the encoded Outcome. After an exception the caller must kill the child.

        Args:
            limit_s: seconds of work, counted from when the child is ready.
            give_up_at: monotonic seconds after which nobody waits for the answer.

        Raises:
            ChildFailure: the child gave no answer.
            TimeoutError: nobody waits for the answer any more.
        """
        self._calls += 1
        deadline = min(time.monotonic() + START_LIMIT_S, give_up_at)
        try:
            if not self._is_ready:
                self._read_frame(deadline)
                self._is_ready = True
                self._data_bytes = _data_bytes(self.pid)
            deadline = min(time.monotonic() + limit_s, give_up_at)
            frame = _encoder.encode(work)
            self._write(HEADER.pack(len(frame)) + frame, deadline)
            return self._read_frame(deadline)
        except _TimedOut:
            if deadline >= give_up_at:
                raise TimeoutError("nobody waits any more") from None
            if not self._is_ready:
                raise Lost("the child did not start") from None
            raise Exhausted("the time limit has passed") from None

    def is_spent(self) -> bool:
        """Whether the child must be replaced although it answered."""
        return self._calls >= RECYCLE_AFTER or _data_bytes(self.pid) > self._data_bytes + MAX_GROWTH_BYTES

    def kill(self) -> None:
        """Kill the process and wait until it has ended."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process.process, signal.SIGKILL)
        _wait(self._process.process, select.POLLIN, math.inf)
        self._fork_server.reap(self.pid)
        for descriptor in (self._process.process, self._stdin, self._stdout):
            os.close(descriptor)
        self._process = None

    def _write(self, content: bytes, deadline: float) -> None:
        view = memoryview(content)
        while view:
            _wait(self._stdin, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._stdin, view) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._ended() from None

    def _read_frame(self, deadline: float) -> bytes:
        (length,) = HEADER.unpack(self._read(HEADER.size, deadline))
        return self._read(length, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        chunks: list[bytes] = []
        while size:
            _wait(self._stdout, select.POLLIN, deadline)
            chunk = os.read(self._stdout, min(size, 1 << 16))
            if not chunk:
                raise self._ended()
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    def _ended(self) -> ChildFailure:
        assert self._process is not None
        with contextlib.suppress(_TimedOut):
            _wait(self._process.process, select.POLLIN, time.monotonic() + 1)
            if self._fork_server.reap(self.pid) in _EXHAUSTED_EXITS:
                return Exhausted("the work broke the child")
        return Lost("the child ended")


def _wait(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()  # select() refuses descriptors above 1023
    poll.register(descriptor, event)
    left_s = deadline - time.monotonic()
    if not poll.poll(None if left_s == math.inf else max(0.0, left_s) * 1000):
        raise _TimedOut


def _data_bytes(pid: int) -> int:
    """The bytes that RLIMIT_DATA counts (proc(5), statm); 0 when the process has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as statm:
            return int(statm.read().split()[5]) * _PAGE_BYTES
    except OSError:
        return 0


class ChildPool:
    """A fixed number of children. Callers wait for a free one."""

    def __init__(self) -> None:
        self._fork_server = ForkServer()
        self._free_children: FairPool[Child | None] = FairPool()
        self._size = 0
        self._of_thread = threading.local()

    def taken_s(self) -> float:
        """The seconds of the whole pool that the calls of this thread have taken since it last asked: a child's seconds,
        divided by the number of children."""
        taken: float = getattr(self._of_thread, "taken_s", 0.0)
        self._of_thread.taken_s = 0.0
        return taken

    def start(self, size: int) -> None:
        """Start the fork server. Each child is forked when it is first needed.

        Args:
            size: number of children: the cores to spend on hostile work.
        """
        with contextlib.suppress(ForkServerFailure):  # the first call tries again, and raises Lost
            self._fork_server.start()
        for _ in range(size):
            self._free_children.put(None)
        self._size += size

    def call(self, work: Work, *, limit_s: float, wait_s: float) -> bytes:
        """Run one call. When its child is lost, run it once more in another child.

        Args:
            limit_s: seconds of work after which the child is killed.
            wait_s: seconds to wait for a free child.

        Raises:
            Exhausted: the work was too much for one child.
            Lost: every child that ran it was lost.
            TimeoutError: no child became free early enough. Work that had less time than its limit is not exhausted.
            NotStarted: there are no children.
        """
        if not self._size:
            raise NotStarted("this worker has no child processes: see needs_children in shared/pools.py")
        give_up_at = time.monotonic() + wait_s
        for _ in range(TRIES - 1):
            with contextlib.suppress(Lost):
                return self._call(work, limit_s=limit_s, give_up_at=give_up_at)
        return self._call(work, limit_s=limit_s, give_up_at=give_up_at)

    def close(self) -> None:
        """Wait for the calls in progress, and kill every child."""
        while self._size:
            child = self._free_children.get("", math.inf)
            if child is not None:
                child.kill()
            self._size -= 1
        self._fork_server.close()

    def _call(self, work: Work, *, limit_s: float, give_up_at: float) -> bytes:
        child = self._free_children.get(work.payer, give_up_at)
        began = time.monotonic()
        is_spent = True  # after a failure the child may still write an answer that nobody waits for
        try:
            if child is None:
                child = Child(self._fork_server)
            answer = child.call(work, limit_s=limit_s, give_up_at=give_up_at)
            is_spent = child.is_spent()
            return answer
        except (ChildFailure, TimeoutError) as failure:
            metrics.child_killed(_KILLED.get(type(failure), "late"))
            raise
        finally:
            try:
                if is_spent and child is not None:
                    child.kill()
            finally:  # the next caller forks a child for an empty place
                used_s = time.monotonic() - began
                self._free_children.put(None if is_spent else child, work.payer, used_s)
                self._of_thread.taken_s = getattr(self._of_thread, "taken_s", 0.0) + used_s / max(1, self._size)
