"""The child process that runs CPU work on hostile input. It has little memory, no files, no network and a low priority, and it
is killed when its work takes too much. workers/fork_server.py forks it, and workers/confinement takes its rights.

It speaks frames on stdin and a pipe: 4 bytes of big-endian length, then MessagePack. It sends an empty frame when it is ready.
A request is a `Work`, and an answer is an encoded Outcome. A child whose work is too much for it exits with
`EXHAUSTED`.
"""

import contextlib
import os
import struct
import sys
from typing import BinaryIO

import msgspec

from jobs.calculations import CALCULATIONS
from jobs.catalogue import installed_by_name
from jobs.ports import Context
from shared import outcome
from shared.outcome import Outcome, Unstoppable
from shared.settled_payment import NO_PAYMENT, SettledPayment
from workers.confinement.child import Confinement
from workers.execute import calculate, execute

EXHAUSTED = 86
"""Exit code of a child whose work ran out of memory, or could not be stopped."""
ANSWERS = 3
"""Descriptor of the pipe to the worker."""

HEADER = struct.Struct(">I")


class Work(msgspec.Struct, frozen=True, array_like=True):
    """One call of an endpoint, or of a calculation (jobs/calculations.py), by its name."""

    name: str
    payer: str
    body: bytes
    payment: SettledPayment = NO_PAYMENT


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
    return execute(installed_by_name()[work.name], work.body, Context(payer=work.payer, payment=work.payment))


def main(confinement: Confinement) -> None:
    """Answer frames until stdin ends, which happens when the worker ends."""
    # Output of a library goes to the log, never between the frames. Opening asks for the file's state, so it comes first.
    sys.stdout = sys.stderr = open(  # noqa: SIM115  # for as long as the process lives
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    decoder = msgspec.msgpack.Decoder(Work)
    with open(0, "rb", closefd=False) as requests, open(ANSWERS, "wb", closefd=False) as answers:
        confinement.enter()
        with contextlib.suppress(BrokenPipeError):
            write_frame(answers, b"")
            while (frame := read_frame(requests)) is not None:
                work = decoder.decode(frame)
                try:
                    write_frame(answers, outcome.encode(_result(work)))
                except (MemoryError, Unstoppable):
                    os._exit(EXHAUSTED)
