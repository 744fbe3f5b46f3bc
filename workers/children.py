"""A pool of child processes for CPU work on hostile input. Only killing a process stops a calculation for certain:
Dramatiq's time limit interrupted a C-level loop after 21 s instead of 1 s (measured)."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import subprocess
import sys
import time

import msgspec

from workers.child import HEADER, Work

RECYCLE_AFTER = 500
"""Calls after which a child is replaced, so that nothing a library leaks grows for ever."""

_encoder = msgspec.msgpack.Encoder()


class Exhausted(Exception):
    """The child was killed at its limit, ran out of memory or crashed."""


class Child:
    """One process. Not thread-safe: the pool hands it to one caller at a time."""

    def __init__(self) -> None:
        self.calls = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "workers.child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def call(self, work: Work, *, limit_s: float) -> bytes:
        """An encoded Outcome. Raises Exhausted; the child is then to be killed."""
        self.calls += 1
        deadline = time.monotonic() + limit_s
        frame = _encoder.encode(work)
        try:
            self._stdin.write(HEADER.pack(len(frame)) + frame)
            self._stdin.flush()
            (length,) = HEADER.unpack(self._read(HEADER.size, deadline))
            return self._read(length, deadline)
        except OSError:
            raise Exhausted("the child is gone") from None

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                pipe.close()

    def _read(self, size: int, deadline: float) -> bytes:
        chunks: list[bytes] = []
        descriptor = self._stdout.fileno()
        while size:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise Exhausted("the time limit has passed")
            chunk = os.read(descriptor, min(size, 1 << 16))
            if not chunk:
                raise Exhausted("the child ended")
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)


class ChildPool:
    """A fixed number of children; callers wait for a free one."""

    def __init__(self) -> None:
        self._free: queue.LifoQueue[Child] = queue.LifoQueue()
        self._size = 0

    def start(self, size: int) -> None:
        """Start the children.

        Args:
            size: number of processes, the cores to spend on hostile work.
        """
        for _ in range(size):
            self._free.put(Child())
        self._size += size

    def call(self, work: Work, *, limit_s: float, wait_s: float) -> bytes:
        """Run one call.

        Args:
            limit_s: seconds of work after which the child is killed.
            wait_s: seconds to wait for a free child.

        Raises:
            Exhausted: the work was too much for one child.
            TimeoutError: no child became free.
        """
        try:
            child = self._free.get(timeout=max(0.0, wait_s))
        except queue.Empty:
            raise TimeoutError("no free child") from None
        try:
            answer = child.call(work, limit_s=limit_s)
        except Exhausted:
            child = self._replace(child)
            raise
        finally:
            self._free.put(child if child.calls < RECYCLE_AFTER else self._replace(child))
        return answer

    def close(self) -> None:
        """Kill every child; calls in progress are waited for."""
        while self._size:
            self._free.get().kill()
            self._size -= 1

    def _replace(self, child: Child) -> Child:
        child.kill()
        return Child()
