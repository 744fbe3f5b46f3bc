"""The reply channel: one list per API process, pushed to by workers and read by one blocking reader (api/replies.py).

A reply list belongs to a process, so no call costs a subscription, and a reply to a process that is gone expires.
"""

from __future__ import annotations

import msgspec

LIST_TTL_S = 60
"""A list that is not pushed to for that long is gone, as its process most likely is."""
UNREADABLE = b""
"""In the place of an outcome: the worker could not open the job, so it does not know for whom to seal what."""


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """One answer. `outcome` is a sealed Outcome (shared/answers.py), or UNREADABLE."""

    message_id: str
    outcome: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Reply)


def read_reply(raw: bytes) -> Reply:
    """Raises msgspec.DecodeError when `raw` is not a reply."""
    return _decoder.decode(raw)


def encode_reply(reply: Reply) -> bytes:
    """What a worker pushes to the list (shared/consumer.py does, in one write with the acknowledgement)."""
    return _encoder.encode(reply)
