"""A pool of child processes for CPU work on hostile input. Only killing a process stops a calculation for certain:
Dramatiq's time limit interrupted a C-level loop after 21 s instead of 1 s (measured).

    ChildFailure
    ├── Exhausted      the work was too much: the child was killed at its limit, or ran out of memory or stack
    ├── Forbidden      the child was killed for a system call that no calculation makes
    └── Lost           the child ended for another reason, or could not be started
    NotStarted         an error in this program: the worker's pools need no children (shared/pools.py)
"""

import contextlib
import logging
import math
import os
import select
import signal
import threading
import time
from collections.abc import Collection
from typing import NoReturn

import msgspec

from shared.observability.metrics import metrics
from shared.queue.replies import Cost
from workers.child import EXHAUSTED, HEADER, Work
from workers.child_output import Output
from workers.child_usage import cpu_time_s, data_bytes
from workers.confinement.layers import Layers
from workers.fair_pool import FairPool
from workers.fork_server import ForkedChild, ForkServer, ForkServerFailure

RECYCLE_AFTER = 500
"""Calls after which a child is replaced, so that a library's memory leak stays bounded."""
START_LIMIT_S = 10.0
"""Seconds within which a forked child must be ready, on a busy machine."""
MAX_GROWTH_BYTES = 64 << 20
"""Data that a child may keep from its calls. A child that keeps more is replaced: too little of its memory limit would be left
for the next call, which would count as exhausted."""
RECYCLE_AFTER_CPU_S = 15.0
"""CPU time after which a child is replaced: the kernel ends one that has spent ORPHAN_CPU_S, whoever it works for."""
MAX_ANSWER_BYTES = 32 << 20
"""No answer is as long. A child says how long its answer is, and may lie."""
TRIES = 2
FORBIDDEN = "The calculation was stopped, because it did what no calculation does. It is not run again."
"""The sentence that the caller gets."""

# The exits of a child that its work broke: its own exit code, an abort in Rust or C, a C stack overflow, a trap in V8.
_EXHAUSTED_EXITS = (EXHAUSTED, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGTRAP, -signal.SIGILL)

log = logging.getLogger(__name__)

_encoder = msgspec.msgpack.Encoder()


class ChildFailure(Exception):
    """A child gave no answer."""


class Exhausted(ChildFailure):
    """The work was too much for one child."""


class Forbidden(ChildFailure):
    """The child made a system call that no calculation makes: its caller's data may have taken it over."""


class Lost(ChildFailure):
    """The child ended, and not because of the work as far as is known."""


_KILLED: dict[type[Exception], str] = {Exhausted: "exhausted", Forbidden: "forbidden", Lost: "lost"}
"""What metrics call the reason of a child's end. Otherwise nobody waited any more."""


class NotStarted(RuntimeError):
    """A call of a pool that was never started, or is closed. Without this error it would wait until its deadline."""


class Child:
    """One child process. Not thread-safe: the pool gives it to one caller at a time.

    Its limit is CPU time, which the kernel counts and the child cannot change: on a busy machine, work takes long that has
    hardly begun. Raises Lost when it cannot be forked, and TimeoutError when nobody waits for that any more.
    """

    def __init__(self, fork_server: ForkServer, give_up_at: float = math.inf) -> None:
        self._calls = 0
        self._payer = ""
        self.cpu_share = 0.0
        """The CPU time of the last call in proportion to its time; 0 of one whose child has not started in time."""
        self._data_bytes = 0
        self._fork_server = fork_server
        try:
            self._process: ForkedChild | None = fork_server.fork(give_up_at)
        except ForkServerFailure as failure:
            raise Lost(str(failure)) from None
        self.pid = self._process.pid
        self._stdin, self._stdout = self._process.requests, self._process.answers
        self._output = Output(self._process.output)
        # A child that does not read must not block its caller: a pipe takes 64 KB, and a body may be larger.
        os.set_blocking(self._stdin, False)
        self._is_ready = False

    def call(self, work: Work, *, limit_s: float, give_up_at: float = math.inf) -> bytes:
        """Run one call and return the encoded Outcome. After an exception the caller must kill the child.

        Args:
            limit_s: seconds of CPU time, counted from when the child is ready.
            give_up_at: monotonic seconds after which nobody waits for the answer.

        Raises:
            ChildFailure: the child gave no answer.
            TimeoutError: nobody waits for the answer any more.
        """
        self._calls += 1
        self._payer = work.payer
        limits: _Limits | None = None
        try:
            self._await_ready(give_up_at)
            limits = _Limits(self.pid, limit_s, give_up_at)
            frame = _encoder.encode(work)
            self._write(HEADER.pack(len(frame)) + frame, limits)
            return self._read_frame(limits)
        finally:
            self.cpu_share = limits.cpu_share() if limits else 0.0
            self._output.log(work.name)

    def has_ended(self) -> bool:
        """Whether the process has ended, so that it cannot take a call."""
        return self._process is None or _is_readable(self._process.process)

    def belongs_to(self, payer: str) -> bool:
        """Whether every call so far was this payer's. A call without a payer has a child to itself."""
        return self._payer == payer != ""

    def is_spent(self) -> bool:
        """Whether the child must be replaced although it answered."""
        return (
            self._calls >= RECYCLE_AFTER
            or data_bytes(self.pid) > self._data_bytes + MAX_GROWTH_BYTES
            or cpu_time_s(self.pid) > RECYCLE_AFTER_CPU_S
        )

    def kill(self) -> None:
        """Kill the process and wait until it has ended."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process.process, signal.SIGKILL)
        _is_readable(self._process.process, math.inf)
        self._fork_server.reap(self.pid)
        for descriptor in (self._process.process, self._stdin, self._stdout, self._process.output):
            os.close(descriptor)
        self._process = None

    def _await_ready(self, give_up_at: float) -> None:
        if self._is_ready:
            return
        start_by = time.monotonic() + START_LIMIT_S
        try:
            self._read_frame(_Limits(self.pid, math.inf, min(start_by, give_up_at)))
        except TimeoutError:
            if give_up_at <= start_by:
                raise
            raise Lost("the child did not start") from None
        self._is_ready = True
        self._data_bytes = data_bytes(self.pid)

    def _write(self, content: bytes, limits: "_Limits") -> None:
        view = memoryview(content)
        while view:
            self._wait(self._stdin, select.POLLOUT, limits)
            try:
                view = view[os.write(self._stdin, view) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._ended() from None

    def _read_frame(self, limits: "_Limits") -> bytes:
        (length,) = HEADER.unpack(self._read(HEADER.size, limits))
        if length > MAX_ANSWER_BYTES:
            raise Lost("the child announced an answer that no endpoint gives")
        return self._read(length, limits)

    def _read(self, size: int, limits: "_Limits") -> bytes:
        chunks: list[bytes] = []
        while size:
            self._wait(self._stdout, select.POLLIN, limits)
            chunk = os.read(self._stdout, min(size, 1 << 16))
            if not chunk:
                raise self._ended()
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    def _wait(self, descriptor: int, event: int, limits: "_Limits") -> None:
        """Wait for an event, and meanwhile take the child's output, so that it does not wait for somebody to read it."""
        poll = select.poll()  # select() refuses descriptors above 1023
        poll.register(descriptor, event)
        if self._output.is_open:
            poll.register(self._output.descriptor, select.POLLIN)
        while True:
            left_s = limits.left_s()
            ready = [found for found, _ in poll.poll(None if left_s == math.inf else max(0.0, left_s) * 1000)]
            if self._output.descriptor in ready:
                self._output.take()
                if not self._output.is_open:
                    poll.unregister(self._output.descriptor)
            if descriptor in ready:
                return
            if left_s <= 0:
                limits.raise_reached()

    def _ended(self) -> ChildFailure:
        assert self._process is not None
        if _is_readable(self._process.process, 1.0):
            self._output.take()
            code = self._fork_server.reap(self.pid)
            if code == -signal.SIGSYS:
                return Forbidden("the child was killed for a system call")
            if code in _EXHAUSTED_EXITS:
                return Exhausted("the work broke the child")
        return Lost("the child ended")


class _Limits:
    """How long a caller waits for a child: the child's CPU time from now on, and the time of day."""

    def __init__(self, pid: int, limit_s: float, give_up_at: float) -> None:
        self._pid = pid
        self._began, self._cpu_began = time.monotonic(), cpu_time_s(pid)
        self._cpu_until = self._cpu_began + limit_s
        self._give_up_at = give_up_at

    def left_s(self) -> float:
        """Seconds that certainly remain. The CPU time passes no faster than the time of day, as the child has one thread that
        calculates; with more, a limit is found late."""
        return min(self._cpu_until - cpu_time_s(self._pid), self._give_up_at - time.monotonic())

    def cpu_share(self) -> float:
        """The CPU time in proportion to the time since the beginning; 1 when it is not known, because the child has ended."""
        spent_s = cpu_time_s(self._pid) - self._cpu_began
        return min(1.0, spent_s / (time.monotonic() - self._began)) if spent_s >= 0 else 1.0

    def raise_reached(self) -> NoReturn:
        """Say which limit was reached first."""
        if cpu_time_s(self._pid) >= self._cpu_until:
            raise Exhausted("the CPU time is spent")
        raise TimeoutError("nobody waits any more")


def _is_readable(descriptor: int, within_s: float = 0.0) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(None if within_s == math.inf else within_s * 1000))


class ChildPool:
    """A fixed number of children. Callers wait for a free one. Each child serves one payer: code that takes it over finds the
    data of earlier calls in its memory. A child for another payer takes some 10 ms of CPU time, most of it for tables of pages.
    """

    def __init__(self) -> None:
        self._fork_server = ForkServer()
        self._free_children: FairPool[Child | None] = FairPool()
        self._size = 0
        self._of_thread = threading.local()

    def taken(self) -> Cost:
        """What the calls of this thread have taken since it last asked."""
        taken: Cost = getattr(self._of_thread, "taken", Cost())
        self._of_thread.taken = Cost()
        return taken

    def confinement(self) -> Layers | None:
        """What confines the children; None while that is not known. It waits for nothing."""
        return self._fork_server.confinement()

    def start(self, size: int, pools: Collection[str] = ()) -> None:
        """Start the fork server. Each child is forked when it is first needed.

        Args:
            size: number of children: the cores to spend on hostile work.
            pools: whose calls they run; all when none is named.
        """
        self._fork_server.pools = pools
        with contextlib.suppress(ForkServerFailure):  # the first call tries again, and raises Lost
            self._fork_server.start()
        for _ in range(size):
            self._free_children.put(None)
        self._size += size

    def call(self, work: Work, *, limit_s: float, wait_s: float) -> bytes:
        """Run one call. When its child is lost, run it once more in another child.

        Args:
            limit_s: seconds of CPU time after which the child is killed.
            wait_s: seconds to wait for a free child and its answer. On a busy machine this is much more than `limit_s`.

        Raises:
            Exhausted: the work was too much for one child.
            Forbidden: the child was killed for a system call. The work is not run again.
            Lost: every child that ran it was lost.
            TimeoutError: no child became free, or answered, early enough. Such work is not exhausted.
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
        child = self._free_children.get(
            work.payer, give_up_at, lambda free: 1 if free is None else 2 if free.belongs_to(work.payer) else 0
        )
        began = time.monotonic()
        is_spent = True  # after a failure the child may still write an answer that nobody waits for
        try:
            # It may also have ended between two calls, as when its fork server has ended.
            if child is not None and (not child.belongs_to(work.payer) or child.has_ended()):
                child.kill()
                child = None
            if child is None:
                child = Child(self._fork_server, give_up_at)
            answer = child.call(work, limit_s=limit_s, give_up_at=give_up_at)
            is_spent = child.is_spent()
            return answer
        except (ChildFailure, TimeoutError) as failure:
            metrics.child_killed(_KILLED.get(type(failure), "late"))
            if isinstance(failure, Forbidden):
                # The number of the system call is in the kernel's log (audit type 1326), where it keeps one.
                log.error("a child that ran %s was killed for a system call that no calculation makes", work.name)
            raise
        finally:
            try:
                if is_spent and child is not None:
                    child.kill()
            finally:  # the next caller forks a child for an empty place
                used_s = time.monotonic() - began
                self._free_children.put(None if is_spent else child, work.payer, used_s)
                before, taken_s = self.taken(), used_s / max(1, self._size)
                waited_s = taken_s * (1.0 - (child.cpu_share if child else 0.0))
                self._of_thread.taken = Cost(before.taken_s + taken_s, before.waited_s + waited_s)
