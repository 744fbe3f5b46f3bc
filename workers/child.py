"""The child process that CPU work on hostile input runs in: little memory, few files, no network, low priority, killed when
late. It is forked in workers/fork_server.py.

Frames on stdin and a pipe: 4 bytes of big-endian length, then MessagePack. The child sends an empty frame when it is ready; a
request is a `Work`, an answer an encoded Outcome. When the work is too much for it, it ends with `EXHAUSTED`.
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
"""Of data: all memory that can be written and is not shared. V8 counts for 512 MB of it before it does anything. A limit of
the address space would count what is only reserved, 1.4 TB in V8's case."""
OPEN_FILES = 32
NICENESS = 5
"""Where a child and another process want the same core, the other gets three quarters of it."""
EXHAUSTED = 86
ORPHAN_CPU_S = 30.0

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
    """Give up what a calculation does not need. The network namespace is taken where the kernel allows it."""
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
    """Answer frames until stdin ends, which it does when the worker is gone.

    Args:
        answers: descriptor of the pipe to the worker.
    """
    # Whatever a library prints goes to the log, never between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    confine()
    decoder = msgspec.msgpack.Decoder(Work)
    with open(answers, "wb") as stream, contextlib.suppress(BrokenPipeError):
        write_frame(stream, b"")
        while (frame := read_frame(sys.stdin.buffer)) is not None:
            work = decoder.decode(frame)
            # The worker kills a child that is late. This ends one whose worker was killed itself.
            signal.setitimer(signal.ITIMER_PROF, ORPHAN_CPU_S)
            try:
                write_frame(stream, outcome.encode(_result(work)))
            except (MemoryError, Unstoppable):
                os._exit(EXHAUSTED)
