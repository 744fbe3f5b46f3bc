"""The reply channel: one list per API process. Workers push to it, and one blocking reader (api/replies.py) reads it.

A list belongs to a process, so a call needs no subscription, and replies to a process that has ended expire.

A long outcome waits in other lists, in parts that the API takes one after the other. In one piece it would delay every other
reply for milliseconds, in Redis and in the API.
"""

import uuid
from typing import NamedTuple

import msgspec

from shared.layouts import REPLIES

LIST_TTL_S = 60
"""A list without a push for this long expires. Its process has most likely ended."""
UNREADABLE = b""
"""In place of an outcome: the worker could not open the job, so it does not know for whom to seal an answer."""


PART_BYTES = 64 * 1024
"""A longer outcome is sent in parts of this length."""


class Parts(msgspec.Struct, frozen=True, array_like=True):
    """The place of a long outcome.

    Args:
        key: the common part of the names of its lists.
        count: number of parts, to be taken in order.
    """

    key: str
    count: int

    def list_of(self, number: int) -> str:
        """The list of one part. Each part has its own: a worker that lost its connection pushes all parts again, and the first
        item of a list is the same whether it was pushed once or twice."""
        return f"{self.key}:{number}"


class Cost(NamedTuple):
    """What a job took of its worker: of its child processes, divided by their number. Nothing where it ran in none.

    Attributes:
        taken_s: seconds.
        waited_s: of these, how many they waited for a processor that did something else.
        is_whole: the job has ended by itself, and not because nobody waited any more.
    """

    taken_s: float = 0.0
    waited_s: float = 0.0
    is_whole: bool = True


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """One answer.

    Attributes:
        outcome: a sealed Outcome (shared/sealing/answers.py), or its Parts, or UNREADABLE.
        taken_s, waited_s, is_whole: its Cost, of an endpoint whose calls are calculations.
        layout: of the reply. It keeps its place: what later versions add comes after it.
    """

    message_id: str
    outcome: bytes | Parts
    taken_s: float = 0.0
    waited_s: float = 0.0
    is_whole: bool = True
    layout: int = REPLIES.unnumbered


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Reply)


def read_reply(raw: bytes) -> Reply:
    """Decode a reply. Raises msgspec.DecodeError when `raw` is not a reply."""
    return _decoder.decode(raw)


def encode_reply(reply: Reply) -> bytes:
    """Encode a reply. workers/queue/consumer.py pushes it to the list, in one write with the acknowledgement."""
    return _encoder.encode(reply)


def in_parts(outcome: bytes) -> tuple[Parts, list[tuple[str, bytes]]]:
    """Split a long outcome: the Parts to send in its place, and the lists and values to push first."""
    pieces = [outcome[at : at + PART_BYTES] for at in range(0, len(outcome), PART_BYTES)]
    parts = Parts(f"coinslot:outcome:{uuid.uuid4().hex}", len(pieces))
    return parts, [(parts.list_of(number), piece) for number, piece in enumerate(pieces)]
