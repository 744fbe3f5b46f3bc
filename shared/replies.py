"""The reply channel: one list per API process, pushed to by workers and read by one blocking reader (api/replies.py).

A reply list belongs to a process, so no call costs a subscription, and a reply to a process that is gone expires.

A long outcome waits in lists of its own, in parts, which the API takes one after the other: in one piece it would hold up
every other reply, in Redis and in the API, for milliseconds (tests/bench/bench_hostile.py).
"""

from __future__ import annotations

import uuid

import msgspec

LIST_TTL_S = 60
"""A list that is not pushed to for that long is gone, as its process most likely is."""
UNREADABLE = b""
"""In the place of an outcome: the worker could not open the job, so it does not know for whom to seal what."""


PART_BYTES = 64 * 1024
"""A longer outcome goes in parts of this length."""


class Parts(msgspec.Struct, frozen=True, array_like=True):
    """Where a long outcome is.

    Args:
        key: what its parts' lists are named by.
        count: how many parts there are to take, in order.
    """

    key: str
    count: int

    def list_of(self, number: int) -> str:
        """The list of one part. Each has its own: a worker that lost its connection pushes all of them again, and the first
        of a list is the same whether it came once or twice."""
        return f"{self.key}:{number}"


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """One answer. `outcome` is a sealed Outcome (shared/answers.py), or where it is, or UNREADABLE."""

    message_id: str
    outcome: bytes | Parts


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Reply)


def read_reply(raw: bytes) -> Reply:
    """Raises msgspec.DecodeError when `raw` is not a reply."""
    return _decoder.decode(raw)


def encode_reply(reply: Reply) -> bytes:
    """What a worker pushes to the list (workers/queue/consumer.py does, in one write with the acknowledgement)."""
    return _encoder.encode(reply)


def in_parts(outcome: bytes) -> tuple[Parts, list[tuple[str, bytes]]]:
    """What to say in the place of a long outcome, and what to push before, as list keys and values."""
    pieces = [outcome[at : at + PART_BYTES] for at in range(0, len(outcome), PART_BYTES)]
    parts = Parts(f"coinslot:outcome:{uuid.uuid4().hex}", len(pieces))
    return parts, [(parts.list_of(number), piece) for number, piece in enumerate(pieces)]
