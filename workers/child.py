"""The child process that CPU work on hostile input runs in: little memory, few files, no network, killed when late.

Frames on stdin and stdout: 4 bytes of big-endian length, then MessagePack. The child sends an empty frame when it is ready; a
request is [endpoint, payer, body], an answer an encoded Outcome. Out of memory it ends with `OUT_OF_MEMORY`.
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

from jobs.catalogue import BY_NAME
from jobs.ports import Context
from shared import outcome
from workers.execute import execute

MEMORY_BYTES = 1 << 30
OPEN_FILES = 32
OUT_OF_MEMORY = 86
ORPHAN_CPU_S = 30.0

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000

HEADER = struct.Struct(">I")


class Work(msgspec.Struct, frozen=True, array_like=True):
    """One call."""

    endpoint: str
    payer: str
    body: bytes


def confine() -> None:
    """Give up what a calculation does not need. The network namespace is taken where the kernel allows it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) != 0:
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


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


def main() -> None:
    """Answer frames until stdin ends, which it does when the worker is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints goes to the log, never between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    confine()
    decoder = msgspec.msgpack.Decoder(Work)
    with contextlib.suppress(BrokenPipeError):
        write_frame(answers, b"")
        while (frame := read_frame(requests)) is not None:
            work = decoder.decode(frame)
            # The worker kills a child that is late. This ends one whose worker was killed itself.
            signal.setitimer(signal.ITIMER_PROF, ORPHAN_CPU_S)
            try:
                result = execute(BY_NAME[work.endpoint], work.body, Context(payer=work.payer))
                write_frame(answers, outcome.encode(result))
            except MemoryError:
                os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main()
