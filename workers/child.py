"""The child process that runs CPU work on hostile input. It has little memory, few files, no network and a low priority, and it
is killed when it is late. workers/fork_server.py forks it.

It speaks frames on stdin and a pipe: 4 bytes of big-endian length, then MessagePack. It sends an empty frame when it is ready.
A request is a `Work`, and an answer is an encoded Outcome. A child whose work is too much for it exits with
`EXHAUSTED`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys
from typing import BinaryIO

import msgspec

from jobs.calculations import CALCULATIONS
from jobs.catalogue import BY_NAME
from jobs.ports import Context
from shared import outcome
from shared.outcome import Outcome, Unstoppable
from shared.settled_payment import NO_PAYMENT, SettledPayment
from workers.execute import calculate, execute

MEMORY_BYTES = 1 << 30
"""Limit of RLIMIT_DATA: memory that is writable and not shared. V8 takes 512 MB of it before it does anything. A limit of the
address space would count memory that is only reserved, 1.4 TB in V8's case."""
OPEN_FILES = 32
NICENESS = 5
"""When a child and another process want the same core, the other process gets three quarters of it."""
EXHAUSTED = 86
"""Exit code of a child whose work ran out of memory, or could not be stopped."""
ORPHAN_CPU_S = 30.0
"""Seconds of CPU time after which a child ends itself when its worker, which would have killed it, has died."""

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000

HEADER = struct.Struct(">I")


class Work(msgspec.Struct, frozen=True, array_like=True):
    """One call of an endpoint, or of a calculation (jobs/calculations.py), by its name."""

    name: str
    payer: str
    body: bytes
    payment: SettledPayment = NO_PAYMENT


def confine() -> None:
    """Give up what a calculation does not need. The network goes where the kernel allows a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) != 0:
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    os.nice(NICENESS)


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame, or None at the end of the stream."""
    head = stream.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    return stream.read(HEADER.unpack(head)[0])


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Write one frame."""
    stream.write(HEADER.pack(len(content)) + content)
    stream.flush()


def _result(work: Work) -> Outcome:
    if work.name in CALCULATIONS:
        return calculate(work.name, work.body)
    return execute(BY_NAME[work.name], work.body, Context(payer=work.payer, payment=work.payment))


def main(answers: int) -> None:
    """Answer frames until stdin ends, which happens when the worker ends.

    Args:
        answers: descriptor of the pipe to the worker.
    """
    # Output of a library goes to the log, never between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    confine()
    decoder = msgspec.msgpack.Decoder(Work)
    with open(answers, "wb") as stream, contextlib.suppress(BrokenPipeError):
        write_frame(stream, b"")
        while (frame := read_frame(sys.stdin.buffer)) is not None:
            work = decoder.decode(frame)
            # The worker kills a late child. This timer ends a child whose worker was killed.
            signal.setitimer(signal.ITIMER_PROF, ORPHAN_CPU_S)
            try:
                write_frame(stream, outcome.encode(_result(work)))
            except (MemoryError, Unstoppable):
                os._exit(EXHAUSTED)
